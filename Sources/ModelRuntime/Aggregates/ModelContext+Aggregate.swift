import Foundation
import RowFormat

extension ModelContext {
  /// Measures the models that match, in one pass over the properties that are named.
  ///
  ///     let (count, delay, longest) = try context.aggregate(
  ///       FetchDescriptor<Flight>(predicate: #Predicate { $0.month == 1 }),
  ///       .count, .average(\.departureDelay), .maximum(\.distance))
  ///
  /// Unsaved changes count as in ``fetch(_:)``. All figures are of one state of the store. With a limit or an
  /// offset, only the models that ``fetch(_:)`` would return are measured, and these are fetched.
  ///
  /// - Parameters:
  ///   - descriptor: The models to measure.
  ///   - aggregates: The measures.
  /// - Returns: One value for each, in their order.
  /// - Throws: ``SwiftDataError/aggregateOverflow`` for a sum that its type cannot hold,
  ///   ``SwiftDataError/unsupportedKeyPath`` for a property that is not stored as a plain value; else as ``fetch(_:)``.
  /// - Complexity: O(rows); nanoseconds a row where the columns of the predicate and of the figures are read without
  ///   the rows, otherwise about ten times that. Models are created for values that only objects have. If all
  ///   measures are `.minimum` and `.maximum` of properties with indexes that also answer the predicate, a few rows for each.
  public func aggregate<T, each Value>(
    _ descriptor: FetchDescriptor<T>,
    _ aggregates: repeat Aggregate<T, each Value>
  ) throws -> (repeat each Value) {
    var measures: [Measure<T>] = []
    for aggregate in repeat each aggregates { measures.append(aggregate.measure) }
    let table = try measure(descriptor, by: [], measures)
    var next = 0
    func take<Result>(_ aggregate: Aggregate<T, Result>) throws -> Result {
      defer { next += 1 }
      return try aggregate.finish(
        MeasuredGroup(accumulator: table.accumulator(answering: next), group: 0)
      )
    }
    return (repeat try take(each aggregates))
  }

  /// Measures the models that match in groups that share a value of a property.
  ///
  ///     for (carrier, (count, delay)) in try context.aggregate(
  ///       FetchDescriptor<Flight>(), by: \.carrier, .count, .average(\.departureDelay))
  ///     { … }
  ///
  /// - Parameters:
  ///   - descriptor: The models to measure; its sort order is ignored.
  ///   - property: The property whose values form the groups; nil is a group of its own.
  ///   - aggregates: The measures of each group.
  /// - Returns: The groups that have a model, in the order of their keys.
  /// - Throws: As ``aggregate(_:_:)``.
  ///   A LogStore throws ``SwiftDataError/aggregateTooLarge`` where the groups take more memory than they may.
  /// - Complexity: As ``aggregate(_:_:)``; memory in proportion to the number of groups.
  public func aggregate<T, Key, each Value>(
    _ descriptor: FetchDescriptor<T>,
    by property: KeyPath<T, Key>,
    _ aggregates: repeat Aggregate<T, each Value>
  ) throws -> [(key: Key, values: (repeat each Value))] {
    try aggregate(descriptor, by: .value(property), repeat each aggregates)
  }

  /// Measures the models that match in groups: by values, parts of dates, or ranges.
  ///
  /// - Parameters:
  ///   - descriptor: The models to measure; its sort order is ignored.
  ///   - grouping: The values that form the groups.
  ///   - aggregates: The measures of each group.
  /// - Returns: The groups that have a model, in the order of their keys.
  /// - Throws: As ``aggregate(_:_:)``.
  public func aggregate<T, Key, each Value>(
    _ descriptor: FetchDescriptor<T>,
    by grouping: Grouping<T, Key>,
    _ aggregates: repeat Aggregate<T, each Value>
  ) throws -> [(key: Key, values: (repeat each Value))] {
    try groups(descriptor, grouping, measuring: repeat each aggregates)
  }

  /// Measures the models that match, grouped by several keys.
  ///
  ///     let routes = try context.aggregate(
  ///       FetchDescriptor<Flight>(), by: (.value(\.origin), .value(\.destination)), .count)
  ///     for route in routes { print(route.key.0, route.key.1, route.values) }
  ///
  /// - Parameters:
  ///   - descriptor: The models to measure; its sort order is ignored.
  ///   - groupings: The values that the models of a group share, the most significant first.
  ///   - aggregates: The measures of each group.
  /// - Returns: The groups that have a model, in the order of their keys.
  /// - Throws: As ``aggregate(_:_:)``.
  public func aggregate<T, each Key, each Value>(
    _ descriptor: FetchDescriptor<T>,
    by groupings: (repeat Grouping<T, each Key>),
    _ aggregates: repeat Aggregate<T, each Value>
  ) throws -> [(key: (repeat each Key), values: (repeat each Value))] {
    try groups(descriptor, repeat each groupings, measuring: repeat each aggregates)
  }

  private func groups<T, each Key, each Value>(
    _ descriptor: FetchDescriptor<T>,
    _ groupings: repeat Grouping<T, each Key>,
    measuring aggregates: repeat Aggregate<T, each Value>
  ) throws -> [(key: (repeat each Key), values: (repeat each Value))] {
    var measures: [Measure<T>] = []
    for aggregate in repeat each aggregates { measures.append(aggregate.measure) }
    var keys: [(value: MeasuredValue<T>, bucket: KeyBucket?)] = []
    for grouping in repeat each groupings { keys.append((grouping.value, grouping.bucket)) }
    let table = try measure(descriptor, by: keys, measures)
    return try table.sortedGroups().map { group in
      var nextKey = 0
      func key<Result>(_ grouping: Grouping<T, Result>) throws -> Result {
        defer { nextKey += 1 }
        let value = table.key(nextKey, of: group).value
        guard let key = grouping.finish(value) else {
          throw SwiftDataError.noKey(
            of: T.self,
            grouping.value,
            Result.self,
            isCut: grouping.bucket != nil,
            value
          )
        }
        return key
      }
      var nextValue = 0
      func value<Result>(_ aggregate: Aggregate<T, Result>) throws -> Result {
        defer { nextValue += 1 }
        return try aggregate.finish(
          MeasuredGroup(accumulator: table.accumulator(answering: nextValue), group: group)
        )
      }
      return (
        key: (repeat try key(each groupings)),
        values: (repeat try value(each aggregates))
      )
    }
  }

  /// Returns the distinct values of a property in the models that match, in order, nil first.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - descriptor: The models to measure; by default, all of a class.
  /// - Returns: The values.
  /// - Throws: As ``aggregate(_:_:)``.
  public func distinct<T, Value>(
    _ property: KeyPath<T, Value>,
    in descriptor: FetchDescriptor<T> = FetchDescriptor()
  ) throws -> [Value] {
    try aggregate(descriptor, by: property, .count).map(\.key)
  }
}

extension SwiftDataError {
  /// A value that falls into no group.
  fileprivate static func noKey<T: PersistentModel, Result>(
    of model: T.Type,
    _ value: MeasuredValue<T>,
    _ result: Result.Type,
    isCut: Bool,
    _ found: QueryValue
  ) -> SwiftDataError {
    let property = value.keyPath.flatMap { ModelDescriptor.of(model).property(for: $0) }
    let name = property.map { "\(model).\($0.name)" } ?? value.name
    let reason =
      isCut
      ? "\(name) has a value that is in no group: it is not finite, or so far from today that calendars do not reckon "
        + "with it; leave it out by a predicate"
      : "\(name) has a value that is not a \(result): \(found)"
    return unsupportedKeyPath.explained(reason, entity: Schema.entityName(for: model))
  }
}

// MARK: Measuring

extension ModelContext {
  /// Measures stored rows and unsaved models.
  private func measure<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    by keys: [(value: MeasuredValue<T>, bucket: KeyBucket?)],
    _ measures: [Measure<T>]
  ) throws -> GroupTable {
    try explained(.aggregate, descriptor, counting: \.count) {
      try measureNow(descriptor, by: keys, measures)
    }
  }

  private func measureNow<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    by keys: [(value: MeasuredValue<T>, bucket: KeyBucket?)],
    _ measures: [Measure<T>]
  ) throws -> GroupTable {
    for measure in measures { try measure.checkShare() }
    let request: AggregateRequest
    var values: [MeasuredValue<T>] = []
    do {
      request = try AggregateRequest(keys: keys, measures: measures, &values)
    } catch {
      let subject = KeyPathNames(from: .of(T.self)).replacingSteps(in: error.subject)
      throw SwiftDataError.unsupportedKeyPath.explained(
        "\(subject): a figure needs a stored property of \(T.self), or of a model that to-one relationships lead to, "
          + "or an expression, whose values are numbers, dates, texts or other plain values",
        entity: Schema.entityName(for: T.self)
      )
    }
    let isCut = descriptor.fetchLimit.map { $0 > 0 } ?? false || descriptor.fetchOffset ?? 0 > 0
    if !isCut, request.isAboutRows, let table = try measureRows(descriptor, request, values) {
      return table
    }
    let table = GroupTable(request)
    let readers = request.readers(of: values)
    let hasRows = try onlyConnection(for: descriptor)?.store.ordersRowsByReference ?? false
    var models = descriptor
    // The order decides which models are measured, and nothing else.
    if !isCut { models.sortBy = [] }
    try reading(models, with: request.sources) { models in
      for model in models { try table.add(model, readers, hasRow: hasRows) }
    }
    return table
  }

  /// Measures the rows in the store, and adds unsaved models; `nil` if the store cannot.
  private func measureRows<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ request: AggregateRequest,
    _ values: [MeasuredValue<T>]
  ) throws -> GroupTable? {
    try checked("measuring models") { () throws -> GroupTable? in
      try throwDeferredError()
      mergeSavedChanges()
      guard let connection = try onlyConnection(for: descriptor) else { return nil }
      return try holdingState(of: connection) {
        try measureRows(descriptor, request, values, in: connection)
      }
    }
  }

  private func measureRows<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ request: AggregateRequest,
    _ values: [MeasuredValue<T>],
    in connection: StoreConnection
  ) throws -> GroupTable? {
    while true {
      let pending = UnsavedRows(descriptor, in: self, connection) { reading in
        for source in request.sources {
          if let expression = source.expression { reading.add(expression) }
        }
      }
      let changeCount = connection.changeCount
      guard
        let table = try connection.store.aggregate(
          descriptor,
          request,
          excluding: pending.excluded,
          for: editingState
        )
      else { return nil }
      if pending.isEmpty { return table }
      let readers = request.readers(of: values)
      guard let unsaved = try pending.matching(readAfter: changeCount) else { continue }
      for model in unsaved { try table.add(model, readers, hasRow: true) }
      try throwDeferredError()
      return table
    }
  }
}

extension AggregateRequest {
  /// Closures that read the values of the sources from objects.
  fileprivate func readers<T>(of values: [MeasuredValue<T>]) -> [(T) throws -> QueryValue] {
    zip(values, sources).map { $0.makeReader($1) }
  }
}

extension GroupTable {
  /// Adds a model by closures that read its values; a stored model has the place of its row.
  fileprivate func add<T: PersistentModel>(
    _ model: T,
    _ readers: [(T) throws -> QueryValue],
    hasRow: Bool
  ) throws {
    let state = model._$state
    let row = hasRow && state.flags.contains(.stored) ? state.reference : nil
    try add(try readers.map { try $0(model) }, of: row)
  }
}
