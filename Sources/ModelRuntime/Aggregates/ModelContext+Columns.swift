import Foundation
import RowFormat

extension ModelContext {
  /// Returns some properties of the models that match, in order, without making objects of them.
  ///
  ///     for (origin, distance) in try context.fetch(FetchDescriptor<Flight>(), \.origin, \.distance) { … }
  ///
  /// Unsaved changes count as in ``fetch(_:)``. The models are fetched if the predicate or the sort needs objects, and while some
  /// models have unsaved changes of what is read, or, for a sorted fetch, are new.
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
        if readsUnsavedValues(of: descriptor, sources) { return nil }
        let pending = pendingModels(descriptor) { $0.add(sources) }
        guard let pending else {
          return try connection.store.readValues(
            descriptor,
            sources,
            into: columns,
            for: editingState
          )
        }
        return try holdingState(of: connection) {
          try readValues(of: descriptor, sources, into: columns, pending, connection)
        }
      }
    }
  }

  /// Whether other models, to which those of a fetch lead, have unsaved changes of what is read of them.
  private func readsUnsavedValues<T: PersistentModel>(
    of descriptor: FetchDescriptor<T>,
    _ sources: [AggregateRequest.Source]
  ) -> Bool {
    var reading = FetchReading(of: T.self)
    reading.add(sources)
    guard reading.readsOthers, descriptor.includePendingChanges, hasChanges else { return false }
    unsaved.update(from: self, for: .of(T.self))
    return hasRowsTakenAlong || unsaved.mayAffectOthers(readBy: reading)
  }

  /// Reads the values of rows, and of new models behind them.
  ///
  /// - Returns: `nil` if objects must be fetched.
  private func readValues<T: PersistentModel>(
    of descriptor: FetchDescriptor<T>,
    _ sources: [AggregateRequest.Source],
    into columns: [ValueColumn],
    _ pending: PendingModels<T>,
    _ connection: StoreConnection
  ) throws -> ValueOrder? {
    let window = FetchSlice(descriptor)
    let expressions = sources.compactMap(\.expression)
    guard pending.areAllNew, descriptor.sortBy.isEmpty, !window.hasOffset,
      connection.store.ordersRowsByReference, expressions.count == sources.count
    else { return nil }
    let changeCount = connection.changeCount
    guard
      let rows = try connection.store.readValues(
        descriptor,
        sources,
        into: columns,
        for: editingState
      )
    else { return nil }
    if window.isFilled(by: rows.count) { return rows }
    pending.refresh(from: connection, readAfter: changeCount)
    let new = try pending.matchingInAnyOrder()
    if !pending.isCurrent { return nil }
    let compiler = ObjectExpressionCompiler(levels: [.of(T.self)])
    let readers = expressions.map(compiler.value)
    let scope = ObjectScope()
    let added = new.prefix(window.count(of: .max) - rows.count)
    for model in added {
      try SwiftDataError.explainingFailures {
        try scope.nesting(model) {
          for (reader, column) in zip(readers, columns) { try column.append(reader(scope)) }
        }
      }
    }
    return rows.followed(by: added.count)
  }
}

extension FetchReading {
  fileprivate mutating func add(_ sources: [AggregateRequest.Source]) {
    for source in sources {
      if let expression = source.expression { add(expression) }
    }
  }
}
