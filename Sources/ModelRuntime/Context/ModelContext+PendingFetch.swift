import Foundation
import RowFormat

// A fetch while models of the class are unsaved: the store is asked for as many rows as can be wanted, and unsaved
// models are inserted into its answer or removed from it.

extension ModelContext {
  /// The models that match a fetch, unsaved changes included.
  ///
  /// - Returns: `nil` if the unsaved models are no longer those given.
  func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    correctedBy pending: PendingModels<T>,
    from connection: StoreConnection
  ) throws -> [T]? {
    var descriptor = descriptor
    descriptor.translation = pending.expression
    guard connection.store.ordersRowsByReference,
      let order = ModelOrder(
        descriptor.sortBy,
        pending.ordering,
        storedKeys(of: descriptor, pending.ordering, in: connection)
      )
    else {
      return try fetchAll(descriptor, correctedBy: pending, from: connection)
    }
    var window = FetchSlice(descriptor)
    // New models follow all rows, so the rows of a full page are the page.
    var areRowsEnough = pending.areAllNew && descriptor.sortBy.isEmpty && window.hasLimit
    if areRowsEnough { window.skip(allBut: 0) }
    let memory = memory(of: descriptor, pending, for: .firstRows)
    if let memory, window.hasOffset,
      let found = try fetchFar(descriptor, order, correctedBy: pending, from: connection, memory)
    {
      return found
    }
    while true {
      if pending.areAllNew, !areRowsEnough, window.hasOffset {
        window.skip(allBut: try pending.matchCount())
      }
      let changeCount = connection.changeCount
      let passing = pending.areAllNew ? nil : passedRows(of: memory, at: changeCount)
      let start = passing?.passed
      if let passing, start != nil {
        window.allow(for: passing.newCount(of: pending.affectedCount))
      } else if !pending.areAllNew {
        window.allow(for: min(2 * pending.lastAffectedCount, pending.affectedCount))
      }
      var answer = try connection.store.fetch(
        window.request(for: descriptor),
        excluding: pending.rowsToExclude(in: connection),
        behind: start,
        for: editingState
      )
      answer.tell(editingState.trace)
      if answer.needsFilter || answer.needsSort {
        return try fetchAll(descriptor, correctedBy: pending, from: connection)
      }
      let isOfOneState = connection.changeCount == changeCount
      // A row before that place may have been saved meanwhile.
      if start != nil, !isOfOneState { continue }
      let rows = passing == nil ? [] : answer.rows
      var models = materialize(
        answer.takeRows(),
        as: T.self,
        in: connection,
        readAfter: changeCount
      )
      if !pending.isCurrent { return nil }
      let fetchedCount = models.count
      if let passing, isOfOneState, rows.count == fetchedCount {
        let affectedCount = pending.affectedCount
        if answer.areExcluded {
          let type = rows.first.flatMap { connection.descriptor(of: $0.reference) }
          passing.pass(before: rows.first, of: type, affectedCount: affectedCount)
        } else {
          let last = rows[..<models.prefix(while: pending.isAffected).count].last
          let type = last.flatMap { connection.descriptor(of: $0.reference) }
          passing.pass(through: last, of: type, affectedCount: affectedCount)
        }
      }
      if answer.areExcluded {
        assert(!models.contains(where: pending.isAffected), "a row is there that was left out")
      } else if !pending.areAllNew {
        models = models.filter { !pending.isAffected($0) }
        pending.lastAffectedCount = fetchedCount - models.count
      }
      if window.isTooNarrow(for: models.count, of: fetchedCount) {
        window.widen(by: pending.affectedCount)
        continue
      }
      let isFull = window.isFilled(by: models.count)
      if areRowsEnough, isFull { return window.slice(models) }
      if areRowsEnough, window.hasOffset {
        // The number of rows is unknown: begin before them.
        areRowsEnough = false
        continue
      }
      pending.refresh(from: connection, readAfter: changeCount)
      pending.refreshEnds(of: models, areTested: false, from: connection)
      let additions = try pending.matching(
        order,
        // Models before the first row of the answer are not part of it.
        from: window.skipsRows ? models.first : nil,
        upTo: isFull ? window.last(of: models) : nil,
        atMost: window.additionLimit
      )
      if !pending.isCurrent { return nil }
      return window.slice(
        try order.merging(additions.models, into: models),
        behind: additions.countBefore
      )
    }
  }

  /// The same far behind the first row, where models that have rows are affected: the store skips the rows before, and counts the
  /// affected ones among them.
  ///
  /// - Returns: `nil` if the rows have to be read from the first one on.
  private func fetchFar<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ order: ModelOrder<T>,
    correctedBy pending: PendingModels<T>,
    from connection: StoreConnection,
    _ memory: RepeatedFetch
  ) throws -> [T]? {
    var window = FetchSlice(descriptor)
    guard let changeCount = connection.changeCount, window.isFar(behind: pending.affectedCount)
    else { return nil }
    pending.refresh(from: connection, readAfter: changeCount)
    guard pending.isCurrent,
      window.skip(allBut: try pending.matchCount(), andAffected: pending.affectedCount)
    else { return nil }
    var answer = try connection.store.fetch(window.request(for: descriptor), for: editingState)
    if answer.needsFilter || answer.needsSort { return nil }
    answer.tell(editingState.trace)
    guard let first = answer.rows.first,
      let type = connection.descriptor(of: first.reference),
      let place = memory.question.place(of: first, type),
      let affectedCount = try countAffected(
        before: first.reference,
        at: place,
        descriptor,
        correctedBy: pending,
        from: connection
      ),
      connection.changeCount == changeCount
    else { return nil }
    window.discount(affectedCount)
    var models = materialize(
      answer.takeRows(),
      as: T.self,
      in: connection,
      readAfter: changeCount
    )
    models = models.filter { !pending.isAffected($0) }
    if models.isEmpty { return nil }
    pending.refreshEnds(of: models, areTested: false, from: connection)
    let additions = try pending.matching(
      order,
      from: models.first,
      upTo: window.isFilled(by: models.count) ? window.last(of: models) : nil,
      atMost: window.additionLimit
    )
    guard pending.isCurrent, window.begins(behind: additions.countBefore) else { return nil }
    return window.slice(
      try order.merging(additions.models, into: models),
      behind: additions.countBefore
    )
  }

  /// Counts the affected rows before a row of a store's answer.
  ///
  /// - Returns: `nil` if the store cannot tell.
  private func countAffected<T: PersistentModel>(
    before row: RowReference,
    at place: PagePosition,
    _ descriptor: FetchDescriptor<T>,
    correctedBy pending: PendingModels<T>,
    from connection: StoreConnection
  ) throws -> Int? {
    var cursor = UnsavedCursor()
    let affected = pending.affected(since: &cursor)
      .filter { $0.connection === connection }.compactMap { $0.model?.persistentModelID }
    var request = descriptor
    request.predicate = descriptor.predicate(matching: Set(affected))
    request.translation = nil
    request.sortBy = []
    request.fetchLimit = nil
    request.fetchOffset = nil
    guard let all = try connection.store.fetchCount(request, for: editingState) else { return nil }
    if all == 0 { return 0 }
    guard let behind = try connection.store.fetchCount(request.behind(place), for: editingState)
    else { return nil }
    return all - behind - (pending.affectedModel(of: row, in: connection) == nil ? 0 : 1)
  }

  /// The same from a store that leaves part of the query to the context, or has its own order.
  private func fetchAll<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    correctedBy pending: PendingModels<T>,
    from connection: StoreConnection
  ) throws -> [T]? {
    var request = descriptor
    request.fetchLimit = nil
    request.fetchOffset = nil
    let changeCount = connection.changeCount
    var answer = try connection.store.fetch(request, for: editingState)
    answer.tell(editingState.trace)
    var models = materialize(
      answer.takeRows(),
      as: T.self,
      in: connection,
      readAfter: changeCount
    )
    pending.refresh(from: connection, readAfter: changeCount)
    pending.refreshEnds(of: models, areTested: answer.needsFilter, from: connection)
    models = try pending.correcting(models, isFiltered: !answer.needsFilter)
    if !pending.isCurrent { return nil }
    if connection.store.ordersRowsByReference {
      descriptor.sortByRow(&models)
    } else {
      descriptor.sort(&models)
    }
    return descriptor.slice(of: models)
  }

  /// Counts the models that match a fetch, unsaved changes included.
  ///
  /// - Returns: `nil` if they must be fetched.
  func count<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    correctedBy pending: PendingModels<T>,
    from connection: StoreConnection
  ) throws -> Int? {
    guard connection.store.ordersRowsByReference,
      descriptor.predicate == nil || pending.expression != nil
    else { return nil }
    var request = descriptor
    request.translation = pending.expression
    request.sortBy = []
    request.fetchLimit = nil
    request.fetchOffset = nil
    let changeCount = connection.changeCount
    if !pending.areAllNew,
      let count = try connection.store.fetchCount(
        request,
        excluding: pending.affectedRows(in: connection),
        for: editingState
      )
    {
      pending.refresh(from: connection, readAfter: changeCount)
      let all = count + (try pending.matchCount())
      return pending.isCurrent ? FetchSlice(descriptor).count(of: all) : nil
    }
    guard var count = try connection.store.fetchCount(request, for: editingState) else {
      return nil
    }
    // The order does not matter for the number, but a change of what is sorted by makes a model count as affected.
    let memory = memory(of: descriptor, pending, for: .count)
    var counting: PassedRows?
    if !pending.areAllNew {
      counting = passedRows(of: memory, at: changeCount)
      guard
        let affected = try countAffected(
          among: count,
          descriptor,
          correctedBy: pending,
          from: connection,
          readAfter: changeCount,
          knowing: counting
        )
      else { return nil }
      count -= affected
    }
    pending.refresh(from: connection, readAfter: changeCount)
    count += try pending.matchCount()
    return pending.isCurrent ? FetchSlice(descriptor).count(of: count) : nil
  }

  /// The memory of a fetch; `nil` if all unsaved models are new, or if the fetch cannot be told from others.
  private func memory<T: PersistentModel>(
    of descriptor: FetchDescriptor<T>,
    _ pending: PendingModels<T>,
    for interest: FetchQuestion.Interest
  ) -> RepeatedFetch? {
    if pending.areAllNew { return nil }
    let question = FetchQuestion(
      descriptor,
      pending.expression,
      pending.ordering,
      areAllAffected: pending.areAllAffected,
      for: interest
    )
    return question.map { repeatedFetches.memory(of: $0) }
  }

  /// Counts the rows of affected models that the store finds.
  ///
  /// - Parameters:
  ///   - rowCount: Number of all rows that it finds.
  ///   - descriptor: The fetch.
  ///   - pending: The unsaved models.
  ///   - connection: The store.
  ///   - changeCount: The store's number of changes before it counted all rows.
  ///   - memory: The memory of the fetch's rows, if there is one: the store is asked about further models only.
  /// - Returns: `nil` if the models must be fetched.
  /// - Throws: An error of the store.
  private func countAffected<T: PersistentModel>(
    among rowCount: Int,
    _ descriptor: FetchDescriptor<T>,
    correctedBy pending: PendingModels<T>,
    from connection: StoreConnection,
    readAfter changeCount: UInt64?,
    knowing memory: PassedRows?
  ) throws -> Int? {
    var request = descriptor
    request.sortBy = []
    request.fetchLimit = nil
    request.fetchOffset = nil
    request.translation = pending.expression
    if memory?.countedTo.isStart ?? true, 8 * rowCount <= pending.affectedCount,
      let rows = try connection.store.fetchReferences(request, for: editingState)
    {
      // Few rows are looked at each time: their number is not worth remembering.
      let found = rows.count { pending.affectedModel(of: $0, in: connection) != nil }
      return connection.changeCount == changeCount ? found : nil
    }
    var cursor = memory?.countedTo ?? UnsavedCursor()
    let affected = pending.affected(since: &cursor).compactMap(\.model)
      .filter { memory?.counted.contains(ObjectIdentifier($0)) != true }
    var found = 0
    if affected.isEmpty {
      found = 0
    } else if rowCount <= affected.count,
      let rows = try connection.store.fetchReferences(request, for: editingState)
    {
      let further = rows.lazy.compactMap { pending.affectedModel(of: $0, in: connection) }
      found = further.count { memory?.counted.contains($0) != true }
    } else {
      request.predicate = descriptor.predicate(matching: Set(affected.map { $0.persistentModelID }))
      request.translation = nil
      guard let count = try connection.store.fetchCount(request, for: editingState) else {
        return nil
      }
      found = count
    }
    // Rows that others changed between the two answers may be in one of them only.
    if connection.changeCount != changeCount { return nil }
    guard let memory else { return found }
    memory.count(found, of: affected.lazy.map { ObjectIdentifier($0) }, to: cursor)
    return memory.countedRows
  }

  /// The identifiers of the models that match a fetch, unsaved changes included.
  ///
  /// - Returns: `nil` if they must be fetched.
  func identifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    correctedBy pending: PendingModels<T>,
    from connection: StoreConnection
  ) throws -> [PersistentIdentifier]? {
    guard connection.store.ordersRowsByReference, pending.areAllNew, descriptor.sortBy.isEmpty,
      let order = ModelOrder(descriptor.sortBy, pending.ordering)
    else { return nil }
    let added = try pending.matching(order, from: nil, upTo: nil, atMost: nil).models
    if !pending.isCurrent { return nil }
    var window = FetchSlice(descriptor)
    window.skip(allBut: added.count)
    guard
      let found = try connection.store.fetchIdentifiers(
        window.request(for: descriptor),
        for: editingState
      )
    else { return nil }
    // New models follow all rows.
    return window.slice(found + added.map(\.persistentModelID))
  }
}

extension FetchDescriptor {
  /// The same fetch of the rows behind a place in the order only.
  func behind(_ place: PagePosition) -> FetchDescriptor<T> {
    var rest = self
    let behind = Predicate<T> { PositionTest(place, of: $0) }
    if let predicate {
      rest.predicate = predicate && behind
      rest.translation = translation.map { .and($0, .behind(place)) }
    } else {
      rest.predicate = behind
      rest.translation = .behind(place)
    }
    return rest
  }

  /// The predicate, on some models only.
  fileprivate func predicate(matching identifiers: Set<PersistentIdentifier>) -> Predicate<T> {
    guard let predicate else {
      return #Predicate<T> { identifiers.contains($0.persistentModelID) }
    }
    return Predicate<T> {
      Restriction(predicate: predicate, identifiers: identifiers, variable: $0)
    }
  }
}

/// A predicate evaluated for some models only.
private struct Restriction<T: PersistentModel>: StandardPredicateExpression, QueryTranslatable {
  let predicate: Predicate<T>
  let identifiers: Set<PersistentIdentifier>
  let variable: PredicateExpressions.Variable<T>

  init(
    predicate: Predicate<T>,
    identifiers: Set<PersistentIdentifier>,
    variable: PredicateExpressions.Variable<T>
  ) {
    self.predicate = predicate
    self.identifiers = identifiers
    self.variable = variable
  }

  init(from decoder: any Decoder) throws {
    throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: Self.isNotArchived))
  }

  func encode(to encoder: any Encoder) throws {
    throw EncodingError.invalidValue(
      self,
      .init(codingPath: [], debugDescription: Self.isNotArchived)
    )
  }

  private static var isNotArchived: String {
    "a question that a context asks itself is not archived"
  }

  func evaluate(_ bindings: PredicateBindings) throws -> Bool {
    let model = try variable.evaluate(bindings)
    return try identifiers.contains(model.persistentModelID) && predicate.evaluate(model)
  }

  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    let model = try translation.value(of: variable.key)
    guard case .row(let path) = model, let test = predicate.expression as? any QueryTranslatable
    else { throw .node("\(Self.self)") }
    var inner = translation
    inner.bind(predicate.variable.key, to: model)
    return .and(
      .membership(.identifier(path), identifiers.map { .identifier($0) }),
      try test.translate(inner)
    )
  }
}
