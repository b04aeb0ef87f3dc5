import Foundation

// A fetch while something of the class is unsaved: the store is asked for as many rows as can be wanted, and unsaved
// models are put into its answer or taken out of it.

extension ModelContext {
  /// The models that a fetch asks for, as they are with the unsaved ones.
  func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    correctedBy pending: PendingModels<T>,
    from connection: StoreConnection
  ) throws -> [T] {
    var descriptor = descriptor
    descriptor.translation = pending.expression
    guard connection.store.ordersRowsByReference, let order = ModelOrder(descriptor.sortBy) else {
      return try fetchAll(descriptor, correctedBy: pending, from: connection)
    }
    var window = FetchSlice(descriptor)
    // New models are behind all rows, so that the rows of a page that is full are the page.
    var areRowsEnough = pending.areAllNew && descriptor.sortBy.isEmpty && window.hasLimit
    if areRowsEnough { window.skip(allBut: 0) }
    while true {
      if pending.areAllNew, !areRowsEnough, window.hasOffset {
        window.skip(allBut: try pending.matching().inserted.count)
      }
      let changeCount = connection.changeCount
      var answer = try connection.store.fetch(window.request(for: descriptor), for: editingState)
      answer.tell(editingState.trace)
      if answer.needsFilter || answer.needsSort {
        return try fetchAll(descriptor, correctedBy: pending, from: connection)
      }
      var models = materialize(
        answer.takeRows(),
        as: T.self,
        in: connection,
        readAfter: changeCount
      )
      let fetchedCount = models.count
      if !pending.areAllNew { models.removeAll(where: pending.isAffected) }
      if window.isTooNarrow(for: models.count, of: fetchedCount) {
        window.widen(by: pending.affectedCount)
        continue
      }
      let isFull = window.isFilled(by: models.count)
      if areRowsEnough, isFull { return window.slice(models) { 0 } }
      if areRowsEnough, window.hasOffset {
        // How many rows there are is not known: begin before them.
        areRowsEnough = false
        continue
      }
      pending.refresh(from: connection, readAfter: changeCount)
      let matching = try pending.matching()
      var additions = matching.changed + matching.inserted
      if isFull, let last = window.last(of: models) {
        additions.removeAll { order.compare($0, last) > 0 }
      }
      descriptor.sortByRow(&additions)
      return window.slice(order.merging(additions, into: models)) {
        // What comes before the first row of the answer is not part of it.
        guard let first = models.first else { return 0 }
        return additions.prefix { order.compare($0, first) < 0 }.count
      }
    }
  }

  /// The same from a store that leaves something to the context, or has an order of its own.
  private func fetchAll<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    correctedBy pending: PendingModels<T>,
    from connection: StoreConnection
  ) throws -> [T] {
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
    models = try pending.correcting(models, isFiltered: !answer.needsFilter)
    if connection.store.ordersRowsByReference {
      descriptor.sortByRow(&models)
    } else {
      descriptor.sort(&models)
    }
    return descriptor.slice(of: models)
  }

  /// Counts the models that a fetch asks for, as they are with the unsaved ones.
  ///
  /// - Returns: `nil` if they have to be fetched.
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
    guard var count = try connection.store.fetchCount(request, for: editingState) else {
      return nil
    }
    if !pending.areAllNew {
      request.predicate = descriptor.predicate(matching: pending.affectedIdentifiers())
      guard let affected = try connection.store.fetchCount(request, for: editingState) else {
        return nil
      }
      // Rows that others changed between the two answers may be in one of them only.
      if connection.changeCount != changeCount { return nil }
      count -= affected
    }
    pending.refresh(from: connection, readAfter: changeCount)
    let matching = try pending.matching()
    return FetchSlice(descriptor).count(
      of: count + matching.changed.count + matching.inserted.count
    )
  }

  /// The names of the models that a fetch asks for, as they are with the unsaved ones.
  ///
  /// - Returns: `nil` if they have to be fetched.
  func identifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    correctedBy pending: PendingModels<T>,
    from connection: StoreConnection
  ) throws -> [PersistentIdentifier]? {
    guard connection.store.ordersRowsByReference, pending.areAllNew, descriptor.sortBy.isEmpty
    else {
      return nil
    }
    let added = try pending.matching().inserted
    var window = FetchSlice(descriptor)
    window.skip(allBut: added.count)
    guard
      let found = try connection.store.fetchIdentifiers(
        window.request(for: descriptor),
        for: editingState
      )
    else { return nil }
    // New models are behind all rows.
    return window.slice(found + added.map(\.persistentModelID)) { 0 }
  }
}

/// Which part of a fetch's models is wanted, and which part of the store's rows that takes.
struct FetchSlice {
  private let offset: Int
  private let limit: Int?
  /// The first of the store's rows that is asked for.
  private var start = 0
  /// How many more rows than models are asked for: some may turn out to be affected.
  private var slack = 0

  init<T>(_ descriptor: FetchDescriptor<T>) {
    offset = max(descriptor.fetchOffset ?? 0, 0)
    limit = descriptor.fetchLimit.flatMap { $0 > 0 ? $0 : nil }
  }

  var hasOffset: Bool { offset > 0 }
  var hasLimit: Bool { limit != nil }

  /// Leaves out the rows that are before the first model, wherever some added models stand.
  mutating func skip(allBut additionCount: Int) { start = max(offset - additionCount, 0) }

  /// How many rows are asked for; `nil` for all.
  private var rowLimit: Int? {
    guard let wantedCount else { return nil }
    let (count, overflow) = wantedCount.addingReportingOverflow(slack)
    return overflow ? nil : count
  }

  func request<T>(for descriptor: FetchDescriptor<T>) -> FetchDescriptor<T> {
    var request = descriptor
    request.fetchOffset = start == 0 ? nil : start
    request.fetchLimit = rowLimit
    return request
  }

  /// How many models are wanted, from the first row that is asked for.
  private var wantedCount: Int? {
    guard let limit else { return nil }
    let (count, overflow) = limit.addingReportingOverflow(offset - start)
    return overflow ? nil : count
  }

  /// Whether so many models are all that is wanted.
  func isFilled(by count: Int) -> Bool { wantedCount.map { $0 <= count } ?? false }

  /// The last model that can be wanted, of those in order.
  func last<Model>(of models: [Model]) -> Model? { wantedCount.flatMap { models[safe: $0 - 1] } }

  /// Whether there may be rows behind those of an answer that are wanted.
  func isTooNarrow(for count: Int, of fetchedCount: Int) -> Bool {
    guard let rowLimit else { return false }
    return fetchedCount == rowLimit && !isFilled(by: count)
  }

  /// Asks for more rows.
  ///
  /// - Parameter affectedCount: How many can be affected at most.
  mutating func widen(by affectedCount: Int) {
    if slack >= affectedCount { assertionFailure("more than \(affectedCount) rows were affected") }
    slack = slack >= affectedCount ? .max : min(max(4 * slack, rowLimit ?? 0, 64), affectedCount)
  }

  /// Cuts the models to those that are wanted.
  ///
  /// - Parameters:
  ///   - models: The models, from the first row that was asked for.
  ///   - countBefore: How many of the added ones come before that row.
  /// - Returns: The models that are wanted.
  func slice<Model>(_ models: [Model], before countBefore: () -> Int) -> [Model] {
    guard start > 0 else { return cut(models[...], offset) }
    let before = countBefore()
    return cut(models.dropFirst(before), offset - start - before)
  }

  private func cut<Model>(_ models: ArraySlice<Model>, _ offset: Int) -> [Model] {
    if offset == 0, limit.map({ models.count <= $0 }) ?? true, models.startIndex == 0 {
      return Array(models)
    }
    let rest = models.dropFirst(offset)
    return Array(limit.map { rest.prefix($0) } ?? rest)
  }

  /// How many of so many models are wanted.
  func count(of all: Int) -> Int { min(max(all - offset, 0), limit ?? .max) }
}

extension FetchDescriptor {
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

/// A predicate that is asked of some models only.
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
