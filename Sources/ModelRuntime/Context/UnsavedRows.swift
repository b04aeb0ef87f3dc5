import Foundation
import RowFormat

/// The unsaved models of a class, for a store that answers about rows without returning them: by figures, or by scores.
///
/// The store leaves ``excluded`` rows out, and the context adds the models that match.
struct UnsavedRows<T: PersistentModel> {
  /// The rows that the models, or deleted ones, replace.
  let excluded: Set<RowReference>
  private let models: [T]
  private let predicate: Predicate<T>?
  private let context: ModelContext

  init(_ descriptor: FetchDescriptor<T>, in context: ModelContext) {
    var excluded: Set<RowReference> = []
    var models: [T] = []
    if descriptor.includePendingChanges {
      models = context.insertedModelsArray.compactMap { $0 as? T }
      for model in context.changed {
        guard let model = model as? T else { continue }
        excluded.insert(model._$state.reference)
        models.append(model)
      }
      for model in context.deleted where model is T { excluded.insert(model._$state.reference) }
    }
    self.excluded = excluded
    self.models = models
    self.context = context
    predicate = descriptor.predicate
  }

  /// Whether there is nothing to add.
  var isEmpty: Bool { models.isEmpty }

  /// The models that match now: unsaved changes apply on top of stored values.
  ///
  /// - Parameters:
  ///   - connection: The store.
  ///   - changeCount: The store's number of changes before it answered; `nil` if it does not count.
  /// - Returns: New models, followed by changed ones.
  /// - Throws: An error of evaluating the predicate.
  func matching(in connection: StoreConnection, readAfter changeCount: UInt64?) throws -> [T] {
    if models.isEmpty { return [] }
    let stored = models.lazy.map { $0._$state }.filter { $0.flags.contains(.stored) }
    context.refreshOutdated(stored, from: connection, readAfter: changeCount)
    let filter = predicate.map { ObjectFilter($0) }
    return try models.filter { model in
      // A model whose row others have deleted waits for a save to report it.
      try !model._$state.isKnownGone && filter?.matches(model) ?? true
    }
  }
}

extension ModelContext {
  /// Reads the models of a fetch: with unsaved changes, or, if the fetch excludes these, as stored.
  ///
  /// An object has its unsaved values, whichever fetch returns it. So the stored ones are read from other objects.
  ///
  /// - Parameters:
  ///   - descriptor: The fetch.
  ///   - body: Receives the models, which may belong to another context and be invalid afterwards.
  /// - Returns: The result of `body`.
  /// - Throws: As ``fetch(_:)``, or the error of `body`.
  func reading<T: PersistentModel, R>(
    _ descriptor: FetchDescriptor<T>,
    _ body: ([T]) throws -> R
  ) throws -> R {
    if descriptor.includePendingChanges || !hasChanges { return try body(fetch(descriptor)) }
    let reader = makeSibling()
    reader.editingState.trace = editingState.trace
    return try withExtendedLifetime(reader) { try body(reader.fetch(descriptor)) }
  }
}
