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
    if areColumns {
      var columns: [ValueColumn] = []
      for property in repeat each properties { columns.append(ValueColumn(property)) }
      if let order = try readValues(of: descriptor, sources, into: columns) {
        return order.tuples(of: columns, repeat (each Value).self)
      }
    }
    func values(of models: [T]) -> [(repeat each Value)] {
      models.map { (repeat $0[keyPath: each properties]) }
    }
    // Models, and values computed from them, belong to this context.
    if !areStored { return try readingOwn(descriptor, with: sources, values) }
    return try reading(descriptor, with: areColumns ? sources : nil, values)
  }

  /// - Returns: `nil` if objects must be fetched.
  private func readValues<T: PersistentModel>(
    of descriptor: FetchDescriptor<T>,
    _ sources: [AggregateRequest.Source],
    into columns: [ValueColumn]
  ) throws -> ValueOrder? {
    try explained(.columns, descriptor, counting: { $0?.count }) {
      try checked("fetching properties") {
        try throwDeferredError()
        mergeSavedChanges()
        guard let connection = try onlyConnection(for: descriptor) else { return nil }
        if descriptor.includePendingChanges, hasUnsavedModels(of: .of(T.self)) { return nil }
        return try connection.store.readValues(
          descriptor,
          sources,
          into: columns,
          for: editingState
        )
      }
    }
  }
}
