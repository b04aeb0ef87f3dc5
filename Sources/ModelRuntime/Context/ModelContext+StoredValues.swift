import Foundation
import RowFormat

// Fetches of what is stored, while models of the context have unsaved values.

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

  /// Whether models of a fetch may have unsaved values, although it asks for those that are stored.
  func hidesStoredValues<T: PersistentModel>(from descriptor: FetchDescriptor<T>) -> Bool {
    !descriptor.includePendingChanges && hasChanges
  }

  /// Returns the models that match by what is stored, in the order of what is stored, where the context itself has to test or to
  /// sort them.
  ///
  /// - Complexity: That of two fetches.
  func fetchAsStored<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    let identifiers = try reading(descriptor) { $0.map(\.persistentModelID) }
    var references: [[RowReference]] = coordinator.connections.map { _ in [] }
    for case let (connection, reference)? in identifiers.map({ coordinator.row(for: $0) }) {
      references[connection.index].append(reference)
    }
    var models: [PersistentIdentifier: T] = [:]
    for connection in coordinator.connections where !references[connection.index].isEmpty {
      let changeCount = connection.changeCount
      let rows = try connection.store.rows(at: references[connection.index], for: editingState)
      let found = materialize(
        rows.compactMap { $0 },
        as: T.self,
        in: connection,
        readAfter: changeCount
      )
      for model in found { models[model.persistentModelID] = model }
    }
    return identifiers.compactMap { models[$0] }
  }
}
