import Foundation
import RowFormat

extension ModelContext {
  /// Returns some properties of the models that match, in order, without making objects of them.
  ///
  ///     for (origin, distance) in try context.fetch(FetchDescriptor<Flight>(), \.origin, \.distance) { … }
  ///
  /// Unsaved changes count as in ``fetch(_:)``; while the context has unsaved models of the class, or if the
  /// predicate or the sort needs objects, the models are fetched.
  ///
  /// - Parameters:
  ///   - descriptor: The models, their order and their number.
  ///   - properties: Stored properties, or those of models that to-one relationships lead to.
  /// - Returns: A tuple for each model; for one property, its values.
  /// - Throws: As ``fetch(_:)``; ``SwiftDataError/unsupportedKeyPath`` if the type of a stored value is another.
  public func fetch<T, each Value>(
    _ descriptor: FetchDescriptor<T>,
    _ properties: repeat KeyPath<T, each Value>
  ) throws -> [(repeat each Value)] {
    var sources: [AggregateRequest.Source] = []
    var areColumns = true
    var areStored = true
    for property in repeat each properties {
      if let source = try? AggregateRequest.Source(property, of: .of(T.self)) {
        sources.append(source)
      } else {
        areColumns = false
        let named = ModelDescriptor.of(T.self).ownOrInheritedProperty(for: property)
        if named?.isRelationship ?? true { areStored = false }
      }
    }
    var result: [(repeat each Value)] = []
    let isAnswered =
      try areColumns
      && visitValues(of: descriptor, sources) { values in
        var next = 0
        func take<Result>(_ property: KeyPath<T, Result>) throws -> Result {
          defer { next += 1 }
          guard let value = values[next].typed(as: Result.self) else {
            throw SwiftDataError.unsupportedKeyPath.explained(
              "\(ModelDescriptor.of(T.self).words(for: property)) has a value that is not a \(Result.self): \(values[next])",
              entity: Schema.entityName(for: T.self)
            )
          }
          return value
        }
        result.append((repeat try take(each properties)))
      }
    if isAnswered { return result }
    func values(of models: [T]) -> [(repeat each Value)] {
      models.map { (repeat $0[keyPath: each properties]) }
    }
    // Models, and values computed from them, belong to this context.
    if !areStored { return try values(of: fetch(descriptor)) }
    return try reading(descriptor, with: areColumns ? sources : nil, values)
  }

  /// - Returns: `false`, with nothing visited, if objects must be fetched.
  private func visitValues<T: PersistentModel>(
    of descriptor: FetchDescriptor<T>,
    _ sources: [AggregateRequest.Source],
    _ body: ([QueryValue]) throws -> Void
  ) throws -> Bool {
    var count = 0
    return try explained(.columns, descriptor, counting: { $0 ? count : nil }) {
      try visitValuesNow(of: descriptor, sources) {
        count += 1
        try body($0)
      }
    }
  }

  private func visitValuesNow<T: PersistentModel>(
    of descriptor: FetchDescriptor<T>,
    _ sources: [AggregateRequest.Source],
    _ body: ([QueryValue]) throws -> Void
  ) throws -> Bool {
    try checked("fetching properties") {
      try throwDeferredError()
      mergeSavedChanges()
      guard let connection = try onlyConnection(for: descriptor) else { return false }
      if descriptor.includePendingChanges, hasUnsavedModels(of: .of(T.self)) { return false }
      return try connection.store.visitValues(descriptor, sources, for: editingState, body)
    }
  }
}
