import Foundation
import RowFormat

/// The unsaved models of one class in a context, which correct a store's answer to a fetch.
///
/// A model is *affected* if the store finds it by values, or in a place, that it no longer has: it is deleted, or has
/// changed a property that the fetch reads. Affected models are removed from the store's answer, and those that now match
/// are inserted, beside the new ones. The store's answer holds for all others.
struct PendingModels<T: PersistentModel> {
  private let context: ModelContext
  private let inserted: [UnsavedClass]
  private let changed: [UnsavedClass]
  private let deletedCount: Int
  /// Number of changed models of all classes.
  private let changedCount: Int
  /// The models that had left the context's lists.
  private let departures: UnsavedDepartures
  private let reading: FetchReading?
  private let descriptor: FetchDescriptor<T>
  let expression: QueryExpression?

  /// - Returns: `nil` if the store's answer needs no correction.
  init?(_ descriptor: FetchDescriptor<T>, in context: ModelContext) {
    let unsaved = context.unsaved
    let type = ModelDescriptor.of(T.self)
    unsaved.update(from: context, for: type)
    inserted = unsaved.inserted.classes(below: type)
    let candidates = unsaved.changed.classes(below: type)
    deletedCount = unsaved.deleted.classes(below: type).reduce(0) { $0 + $1.positions.count }
    changedCount = context.changed.count
    departures = unsaved.departures
    if inserted.isEmpty, candidates.isEmpty, deletedCount == 0 { return nil }
    let expression =
      try? descriptor.translation ?? descriptor.predicate.map { try QueryExpression($0) }
    if candidates.isEmpty {
      reading = nil
      changed = []
    } else {
      var reading = FetchReading(of: T.self)
      if descriptor.predicate != nil {
        if let expression { reading.add(expression) } else { reading.addAnything() }
      }
      reading.add(descriptor.sortBy)
      self.reading = reading
      changed = candidates.filter {
        reading.readsOthers || reading.isAffected(byAnyOf: $0.columns, of: $0.descriptor)
      }
    }
    if inserted.isEmpty, changed.isEmpty, deletedCount == 0 { return nil }
    self.context = context
    self.expression = expression
    self.descriptor = descriptor
  }

  /// Whether no model has left the context's lists since: rows that are read, or observers that are told, may end unsaved changes,
  /// such as that of a model which was nullified here and has another owner by now.
  ///
  /// Otherwise the fetch has to begin anew.
  var isCurrent: Bool { departures == context.unsaved.departures }

  private func makeFilter() -> ObjectFilter<T>? {
    descriptor.predicate.map { ObjectFilter($0, expression) }
  }

  /// Maximum number of affected models in the store's answer.
  var affectedCount: Int { deletedCount + changed.reduce(0) { $0 + $1.positions.count } }

  /// Whether only new models are unsaved.
  var areAllNew: Bool { deletedCount == 0 && changed.isEmpty }

  /// Whether a model that the store found is affected.
  func isAffected(_ model: T) -> Bool {
    // An object without a state was never changed.
    if unsafe model._$fetchedRow.stored != nil { return false }
    let state = model._$state
    return state.isDeleted || state.flags.contains(.listed) && isAffected(state)
  }

  private func isAffected(_ state: _ModelState) -> Bool {
    guard let reading else { return false }
    return reading.readsOthers || reading.isAffected(by: state)
  }

  /// Maximum number of unsaved models that may match.
  private var candidateCount: Int {
    [inserted, changed].joined().reduce(0) { $0 + $1.positions.count }
  }

  /// Whether it may pay to remember which models match.
  var areMany: Bool { candidateCount > UnsavedLookup.smallCount }

  /// The models that have rows and became affected since a time.
  ///
  /// - Parameter cursor: The unsaved models of that time; set to those of now.
  /// - Returns: The models; some of them may have been affected before.
  func affected(since cursor: inout UnsavedCursor) -> [_ModelState] {
    let type = ModelDescriptor.of(T.self)
    let deleted = context.deletedInMemory
    let affected = deleted.dropFirst(cursor.deleted).lazy.map { $0._$state }
      .filter { $0.descriptor.isKind(of: type) }
    cursor.deleted = deleted.count
    return affected + changedAndAffected(since: &cursor)
  }

  /// The same of the changed models alone.
  private func changedAndAffected(since cursor: inout UnsavedCursor) -> [_ModelState] {
    let further = context.unsaved.furtherChanges
    defer { (cursor.changed, cursor.further) = (changedCount, further.count) }
    if cursor.changed == 0 {
      return changed.flatMap(\.positions).map { context.changed[Int($0)]._$state }
        .filter(isAffected)
    }
    let type = ModelDescriptor.of(T.self)
    let listed = context.changed.prefix(changedCount).dropFirst(cursor.changed)
    // A model may have been listed since, and have further changes.
    var seen: Set<ObjectIdentifier> = []
    return (listed.map { $0._$state } + further.dropFirst(cursor.further)).filter { state in
      state.descriptor.isKind(of: type) && isAffected(state)
        && seen.insert(ObjectIdentifier(state)).inserted
    }
  }

  /// Reads again the rows of affected models that others have saved since: unsaved changes apply on top of stored values.
  ///
  /// - Parameters:
  ///   - connection: The store.
  ///   - changeCount: The store's number of changes before it answered; `nil` if it does not count.
  ///   - memory: The memory of the fetch's rows, if there is one: it knows the models whose rows are as new as the context's
  ///     epoch.
  func refresh(
    from connection: StoreConnection,
    readAfter changeCount: UInt64?,
    knowing memory: PassedRows?
  ) {
    if changed.isEmpty || !isCurrent { return }
    context.noticeCommits(to: connection, readAfter: changeCount)
    var cursor = UnsavedCursor()
    if let memory, memory.refreshedEpoch == context.listEpoch { cursor = memory.refreshed }
    let affected = changedAndAffected(since: &cursor)
    memory?.refreshedEpoch = context.listEpoch
    memory?.refreshed = cursor
    context.refreshOutdatedRows(of: affected, from: connection)
  }

  /// Corrects a list of models that the store found: the order stays, and added models are at its end.
  ///
  /// - Parameters:
  ///   - models: The models.
  ///   - isFiltered: Whether the store has already tested them.
  /// - Returns: The models that match now.
  /// - Throws: An error of evaluating the predicate.
  func correcting(_ models: [T], isFiltered: Bool) throws -> [T] {
    var present: Set<ObjectIdentifier> = []
    let filter = makeFilter()
    var corrected = try models.filter { model in
      let isAffected = isAffected(model)
      if isAffected, model._$state.isDeleted { return false }
      if isAffected || !isFiltered {
        guard try filter?.matches(model) ?? true else { return false }
      }
      if isAffected { present.insert(ObjectIdentifier(model)) }
      return true
    }
    let matching = try matching(knowing: nil)
    corrected += matching.changed.filter { !present.contains(ObjectIdentifier($0)) }
    corrected += matching.inserted
    return corrected
  }

  /// The models that match, in the order of the fetch.
  ///
  /// - Parameters:
  ///   - order: The order.
  ///   - last: The last row that can be wanted, if there is one: models behind it are left out.
  ///   - limit: Maximum number of models that can be wanted; `nil` for all.
  ///   - memory: The memory of the fetch, if there is one.
  /// - Returns: Changed and new models.
  /// - Throws: An error of evaluating the predicate.
  func matching(
    _ order: ModelOrder<T>,
    upTo last: T?,
    atMost limit: Int?,
    knowing memory: RepeatedFetch?
  ) throws -> [T] {
    guard let matches = try matches(knowing: memory) else {
      let matching = try matching(knowing: memory)
      var found = matching.changed + matching.inserted
      if let last { found.removeAll { order.compare($0, last) > 0 } }
      descriptor.sortByRow(&found)
      return found
    }
    let filter = matches.isWide ? makeFilter() : nil
    var found: [T] = []
    for model in matches.models(as: T.self) {
      if let limit, found.count >= limit { break }
      if let last, order.compare(model, last) > 0 { break }
      if let filter, try !filter.matches(model) {
        // It is behind the bound on the first key, and so are all that follow.
        if order.isNumber(firstKeyOf: model) { break }
        continue
      }
      found.append(model)
    }
    return found
  }

  /// Counts the models that match.
  ///
  /// - Parameter memory: The memory of the fetch, if there is one.
  /// - Returns: The number; it may be too large if the memory is that of first rows.
  /// - Throws: An error of evaluating the predicate.
  func matchCount(knowing memory: RepeatedFetch?) throws -> Int {
    if let matches = try matches(knowing: memory) { return matches.count }
    let matching = try matching(knowing: memory)
    return matching.changed.count + matching.inserted.count
  }

  /// The models that match, kept from one fetch to the next once testing all of them has cost as much as that does.
  private func matches(knowing memory: RepeatedFetch?) throws -> UnsavedMatches? {
    guard let memory else { return nil }
    if let known = memory.matches, !known.isCurrent(among: context.unsaved) {
      memory.matches = nil
      memory.testCount = 0
    }
    if memory.matches == nil {
      if !areMany || memory.testCount < 2 * candidateCount { return nil }
      memory.testCount = 0
      memory.matches = UnsavedMatches(
        descriptor,
        expression,
        ofFirstRows: memory.question.interest == .firstRows,
        among: context.unsaved
      )
    }
    guard let matches = memory.matches else { return nil }
    do {
      try matches.update(from: context)
    } catch {
      memory.matches = nil
      throw error
    }
    assert(areComplete(matches), "the unsaved models that are kept are not those that match")
    return matches
  }

  /// Whether the models that are kept are those that match; of many, this is not tested.
  private func areComplete(_ matches: UnsavedMatches) -> Bool {
    guard candidateCount <= 512, let matching = try? matching(knowing: nil) else { return true }
    let kept = matches.models(as: T.self).map { ObjectIdentifier($0) }
    let found = Set((matching.changed + matching.inserted).map { ObjectIdentifier($0) })
    return matches.isWide
      ? found.isSubset(of: kept) : found == Set(kept) && found.count == kept.count
  }

  /// The models that match.
  ///
  /// - Parameter memory: The memory of the fetch, if there is one.
  /// - Returns: Affected models, and new ones in the order of their insertion.
  /// - Throws: An error of evaluating the predicate.
  func matching(knowing memory: RepeatedFetch?) throws -> (changed: [T], inserted: [T]) {
    let type = ModelDescriptor.of(T.self)
    let lookup =
      expression?.valueLookup(of: type)
      ?? expression?.flagLookup(of: type)
    return (
      try matching(changed, in: context.changed, lookup, memory) { isAffected($0) },
      try matching(inserted, in: context.inserted, lookup, memory) { _ in true }
    )
  }

  private func matching(
    _ classes: [UnsavedClass],
    in models: [any PersistentModel],
    _ lookup: UnsavedLookup?,
    _ memory: RepeatedFetch?,
    _ isWanted: (_ModelState) -> Bool
  ) throws -> [T] {
    var positions: [Int32] = []
    for unsaved in classes {
      if let lookup, unsaved.positions.count > UnsavedLookup.smallCount {
        positions += unsaved.positions(having: lookup.values, in: lookup.column, of: models)
      } else {
        positions += unsaved.positions
      }
    }
    if positions.isEmpty || !isCurrent { return [] }
    memory?.testCount += positions.count
    if classes.count > 1 { positions.sort() }
    let filter = makeFilter()
    var found: [T] = []
    for position in positions {
      let model = models[Int(position)]
      let state = model._$state
      // A model whose row others have deleted waits for a save to report it.
      guard !state.isDeleted, !state.flags.contains(.vanished), isWanted(state) else { continue }
      guard let model = model as? T, try filter?.matches(model) ?? true else { continue }
      found.append(model)
    }
    return found
  }
}

/// Values of a column, one of which a model must have to match.
struct UnsavedLookup {
  let column: Int
  let values: [QueryValue]

  /// Maximum number of models that are tested one by one.
  static let smallCount = 16
}

extension QueryExpression {
  /// The values that a model of a class needs to match; `nil` if the expression names none.
  func valueLookup(of type: ModelDescriptor) -> UnsavedLookup? {
    switch self {
    case .and(let lhs, let rhs): lhs.valueLookup(of: type) ?? rhs.valueLookup(of: type)
    case .comparison(.equal, .column(let path, let reading), .constant(let constant), _),
      .comparison(.equal, .constant(let constant), .column(let path, let reading), _):
      UnsavedLookup(path, reading, [constant], of: type)
    case .membership(.column(let path, let reading), let constants):
      UnsavedLookup(path, reading, constants, of: type)
    // Null does not match, so the value has to be true.
    case .ifPresent(_, let test), .coalesce(let test, .constant(.bool(false))),
      .comparison(.equal, let test, .constant(.bool(true)), _):
      test.valueLookup(of: type)
    default: nil
    }
  }
}

extension QueryExpression {
  /// The value of a flag that a model of a class needs to match, where the flag itself is a part of the expression.
  ///
  /// Half of all models may have it, so any other value is looked up rather than this one.
  fileprivate func flagLookup(of type: ModelDescriptor) -> UnsavedLookup? {
    switch self {
    case .and(let lhs, let rhs): lhs.flagLookup(of: type) ?? rhs.flagLookup(of: type)
    case .column(let path, let reading) where reading.kind == .bool:
      UnsavedLookup(path, reading, [.bool(true)], of: type)
    case .not(.column(let path, let reading)) where reading.kind == .bool:
      UnsavedLookup(path, reading, [.bool(false)], of: type)
    default: nil
    }
  }
}

extension UnsavedLookup {
  fileprivate init?(
    _ path: RowPath,
    _ reading: ColumnReading,
    _ values: [QueryValue],
    of type: ModelDescriptor
  ) {
    // In a class other than the predicate's, columns have other meanings.
    guard path.level == 0, path.steps.isEmpty, type.isKind(of: path.descriptor) else { return nil }
    self.init(column: reading.column, values: values)
  }
}

extension ModelContext {
  /// Reads again the rows of changed models that others have saved since: unsaved changes apply on top of stored values.
  ///
  /// - Parameters:
  ///   - states: The models.
  ///   - connection: The store.
  ///   - changeCount: The store's number of changes before it answered; `nil` if it does not count.
  func refreshOutdated(
    _ states: some Sequence<_ModelState>,
    from connection: StoreConnection,
    readAfter changeCount: UInt64?
  ) {
    noticeCommits(to: connection, readAfter: changeCount)
    refreshOutdatedRows(of: states, from: connection)
  }

  /// The same, with all commits noticed.
  fileprivate func refreshOutdatedRows(
    of states: some Sequence<_ModelState>,
    from connection: StoreConnection
  ) {
    let outdated = states.filter {
      $0.connection === connection && !$0.isDeleted && hasOutdatedRow($0)
    }
    refreshRows(of: outdated, from: connection)
  }
}
