import Foundation
import RowFormat

/// The unsaved models of one class in a context, which correct a store's answer to a fetch.
///
/// A model is *affected* if the store finds it by values, or in a place, that it no longer has: it is deleted, or has
/// changed a property that the fetch reads, or has changes while the fetch reads unsaved changes of other models. Affected models are removed from the store's answer, and those that now match
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
  /// What the fetch reads; `nil` if only few new models are unsaved.
  private let reading: FetchReading?
  /// The same without other models, unless these have unsaved changes that are read.
  private let affecting: FetchReading?
  /// Adds what else of its models the fetch reads.
  private let read: (inout FetchReading) -> Void
  private let descriptor: FetchDescriptor<T>
  let expression: QueryExpression?
  /// The sort, if it has a form over rows.
  let ordering: RowOrdering?
  /// The lists of unsaved models of which the fetch may want a part: in its order, and by an attribute it sets bounds on.
  private let spans: (inOrder: UnsavedSpan?, byKey: UnsavedSpan?)

  /// Finds the unsaved models that correct a store's answer.
  ///
  /// - Parameters:
  ///   - descriptor: The fetch.
  ///   - context: The context.
  ///   - read: Adds what else of its models the fetch reads, such as the values that it measures.
  ///
  /// The result is `nil` if the store's answer needs no correction.
  init?(
    _ descriptor: FetchDescriptor<T>,
    in context: ModelContext,
    alsoReading read: @escaping (inout FetchReading) -> Void = { _ in }
  ) {
    self.read = read
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
    ordering = try? RowOrdering(descriptor.sortBy)
    if candidates.isEmpty, ![inserted].areMany {
      reading = nil
      affecting = nil
      changed = []
    } else {
      var reading = FetchReading(descriptor, expression, ordering)
      read(&reading)
      self.reading = reading
      let readsUnsaved = context.hasRowsTakenAlong || unsaved.mayAffectOthers(readBy: reading)
      let affecting = readsUnsaved ? reading : reading.ofResults
      self.affecting = affecting
      changed = candidates.filter {
        affecting.readsOthers || affecting.isAffected(byAnyOf: $0.columns, of: $0.descriptor)
      }
    }
    if inserted.isEmpty, changed.isEmpty, deletedCount == 0 { return nil }
    self.context = context
    self.expression = expression
    self.descriptor = descriptor
    guard [inserted, changed].areMany, descriptor.predicate == nil || expression != nil,
      let affecting
    else {
      spans = (nil, nil)
      return
    }
    spans = (
      ordering.flatMap { .inOrder(of: type, $0, expression, affecting) },
      .byBoundedKey(of: type, expression, affecting)
    )
  }

  /// Whether no model has left the context's lists since: rows that are read, or observers that are told, may end unsaved changes,
  /// such as that of a model which was nullified here and has another owner by now.
  ///
  /// Otherwise the fetch has to begin anew.
  var isCurrent: Bool { departures == context.unsaved.departures }

  private func makeFilter() -> ObjectFilter<T>? {
    descriptor.predicate.map { ObjectFilter($0, expression, keepingEnds: true) }
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

  /// The model of a row that the store found, if it is affected.
  func affectedModel(of row: RowReference, in connection: StoreConnection) -> ObjectIdentifier? {
    // An object without a state was never changed.
    guard case .state(let found)? = unsafe context.maps[connection.index].occupant(at: row) else {
      return nil
    }
    let state = unsafe found.takeUnretainedValue()
    guard state.isDeleted || state.flags.contains(.listed) && isAffected(state) else { return nil }
    return state.model.map { ObjectIdentifier($0) }
  }

  private func isAffected(_ state: _ModelState) -> Bool {
    guard let affecting else { return false }
    return affecting.readsOthers || affecting.isAffected(by: state)
  }

  /// Whether all changed models are affected, since the fetch reads unsaved changes of others.
  var areAllAffected: Bool { affecting?.readsOthers ?? false }

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
  func refresh(from connection: StoreConnection, readAfter changeCount: UInt64?) {
    refreshChanged(from: connection, readAfter: changeCount)
    refreshOthers(from: connection, readAfter: changeCount)
  }

  /// Reads again the rows of the models to which unsaved ones lead, as far as the fetch reads these: the store's answer is about
  /// what they are by now.
  private func refreshOthers(from connection: StoreConnection, readAfter changeCount: UInt64?) {
    if !isCurrent { return }
    context.noticeCommits(to: connection, readAfter: changeCount)
    // Whatever the context has read is as new as the store.
    if context.epochs.isFirst { return }
    let reading = reading ?? makeReading()
    if !reading.readsOthers { return }
    context.refreshOthers(
      readBy: reading,
      from: inserted.flatMap(\.positions).map { context.inserted[Int($0)] }
        + changed.flatMap(\.positions).map { context.changed[Int($0)] },
      in: connection
    )
  }

  /// Reads again what models lead to that the store found, as far as the context itself compares them by it.
  ///
  /// - Parameters:
  ///   - models: The models.
  ///   - areTested: Whether the context tests them, too.
  ///   - connection: The store.
  func refreshEnds(of models: [T], areTested: Bool, from connection: StoreConnection) {
    if context.epochs.isFirst || !areTested && descriptor.sortBy.isEmpty { return }
    var reading = FetchReading(of: T.self)
    if areTested { reading = makeReading() } else { reading.add(descriptor.sortBy) }
    if reading.readsOthers {
      context.refreshOthers(readBy: reading, from: models, in: connection)
    }
  }

  private func makeReading() -> FetchReading {
    var reading = FetchReading(descriptor, expression)
    read(&reading)
    return reading
  }

  private func refreshChanged(from connection: StoreConnection, readAfter changeCount: UInt64?) {
    guard !changed.isEmpty, isCurrent, let affecting else { return }
    context.noticeCommits(to: connection, readAfter: changeCount)
    context.unsaved.keepFurtherChanges()
    let memory = context.repeatedFetches.affected(by: affecting, from: connection)
    let (epoch, departureCount) = (context.listEpoch, context.unsaved.departureCount)
    var cursor = memory.refreshed(in: epoch, after: departureCount)
    let affected = changedAndAffected(since: &cursor)
    memory.recordRefreshed(cursor, in: epoch, after: departureCount)
    context.refreshOutdatedRows(of: affected, from: connection)
  }

  /// The affected rows that a store need not answer with: none, if others may have saved rows of deleted models, whose objects take
  /// over what they meet.
  func rowsToExclude(in connection: StoreConnection) -> ExcludedRows {
    if deletedCount > 0 {
      context.noticeCommitsIfCounted(to: connection)
      if !context.epochs.isFirst { return ExcludedRows() }
    }
    return affectedRows(in: connection)
  }

  /// The rows of affected models.
  func affectedRows(in connection: StoreConnection) -> ExcludedRows {
    guard affectedCount > 0,
      let affecting = affecting ?? (changed.isEmpty ? .init(of: T.self) : nil)
    else { return ExcludedRows() }
    context.unsaved.keepFurtherChanges()
    let memory = context.repeatedFetches.affected(by: affecting, from: connection)
    memory.updateRows(after: context.unsaved.departureCount) { affected(since: &$0) }
    return memory.rows
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
    let matching = try matching()
    corrected += matching.changed.filter { !present.contains(ObjectIdentifier($0)) }
    corrected += matching.inserted
    return corrected
  }

  /// The models that match, in the order of the fetch.
  ///
  /// - Parameters:
  ///   - order: The order.
  ///   - first: The first row that can be wanted, if the models before it are only counted.
  ///   - last: The last row that can be wanted, if there is one: models behind it are left out.
  ///   - limit: Maximum number of models that can be wanted; `nil` for all.
  /// - Returns: Changed and new models, and the number of those before the first row.
  /// - Throws: An error of evaluating the predicate.
  func matching(
    _ order: ModelOrder<T>,
    from first: T?,
    upTo last: T?,
    atMost limit: Int?
  ) throws -> (countBefore: Int, models: [T]) {
    let kept = try kept()
    if let kept, kept.isInOrderOfFetch {
      let start = first.map { kept.count(before: $0) } ?? 0
      let end = last.map { kept.count(before: $0) } ?? kept.count
      let count = min(limit ?? .max, max(end - start, 0))
      return (start, kept.models(at: start..<(start + count), as: T.self))
    }
    var found = try matching(in: kept)
    if found.isEmpty { return (0, []) }
    if let last { try found.removeAll { try order.compare($0, last) > 0 } }
    descriptor.sortByRow(&found)
    let countBefore = try first.map { first in
      try found.prefix { try order.compare($0, first) < 0 }.count
    }
    return (countBefore ?? 0, Array(found.dropFirst(countBefore ?? 0)))
  }

  /// The models that match, in no certain order.
  ///
  /// - Throws: An error of evaluating the predicate.
  func matchingInAnyOrder() throws -> [T] { try matching(in: try kept()) }

  /// The models that match: in the order of their rows, if a list of them is kept.
  private func matching(in kept: UnsavedMatches.Part?) throws -> [T] {
    if let kept { return kept.modelsByRow() }
    let matching = try matching()
    return matching.changed + matching.inserted
  }

  /// Counts the models that match.
  ///
  /// - Throws: An error of evaluating the predicate.
  func matchCount() throws -> Int {
    if let kept = try kept() { return kept.count }
    let matching = try matching()
    return matching.changed.count + matching.inserted.count
  }

  // MARK: Lists of models that are kept

  /// The list of unsaved models that has those that match, and their positions: kept once testing all of them has cost as much.
  ///
  /// A list in the order of the fetch need not be read to its end, but belongs to few fetches. One that is ordered by an attribute
  /// serves all that set other bounds on it.
  private func kept() throws -> UnsavedMatches.Part? {
    let inOrder = spans.inOrder.map { context.repeatedFetches.tests(of: $0.question) }
    if let span = spans.inOrder, let inOrder, let kept = try kept(span, inOrder) { return kept }
    guard let span = spans.byKey,
      let kept = try kept(span, context.repeatedFetches.tests(of: span.question))
    else { return nil }
    // They are sorted each time.
    inOrder?.testCount += kept.count
    return kept
  }

  private func kept(
    _ span: UnsavedSpan,
    _ tests: UnsavedTests
  ) throws -> UnsavedMatches.Part? {
    if let known = tests.matches, !known.isCurrent(among: context.unsaved) {
      tests.matches = nil
      tests.testCount = 0
    }
    if tests.matches == nil {
      if tests.testCount < 2 * [inserted, changed].modelCount { return nil }
      tests.testCount = 0
      tests.matches = UnsavedMatches(span.question, descriptor, among: context.unsaved)
    }
    guard let matches = tests.matches else { return nil }
    do {
      try matches.update(from: context)
    } catch {
      tests.matches = nil
      throw error
    }
    let part = matches.part(having: span.values, within: span.bounds)
    assert(areComplete(part), "the unsaved models that are kept are not those that match")
    return part
  }

  /// The number of affected rows in the store's last answer to such a fetch: so many may be in the next one.
  var lastAffectedCount: Int {
    get { spans.inOrder.map { context.repeatedFetches.tests(of: $0.question).affectedCount } ?? 0 }
    nonmutating set {
      guard let span = spans.inOrder else { return }
      context.repeatedFetches.tests(of: span.question).affectedCount = newValue
    }
  }

  /// Records that unsaved models were tested.
  private func recordTests(of count: Int) {
    for span in [spans.inOrder, spans.byKey] {
      if let span { context.repeatedFetches.tests(of: span.question).testCount += count }
    }
  }

  /// Whether the models that are kept are those that match; of many, this is not tested.
  private func areComplete(_ part: UnsavedMatches.Part) -> Bool {
    guard [inserted, changed].modelCount <= 512, let matching = try? matching(isRecorded: false)
    else { return true }
    let kept = part.models(at: 0..<part.count, as: T.self).map { ObjectIdentifier($0) }
    let found = Set((matching.changed + matching.inserted).map { ObjectIdentifier($0) })
    return found == Set(kept) && found.count == kept.count
  }

  // MARK: Tests one by one

  /// The models that match.
  ///
  /// - Parameter isRecorded: Whether the tests count when it is decided whether to keep a list.
  /// - Returns: Affected models, and new ones in the order of their insertion.
  /// - Throws: An error of evaluating the predicate.
  private func matching(isRecorded: Bool = true) throws -> (changed: [T], inserted: [T]) {
    let type = ModelDescriptor.of(T.self)
    let lookups = expression?.valueLookups(of: type)
    var testCount = 0
    defer { if isRecorded { recordTests(of: testCount) } }
    return (
      try matching(changed, in: context.changed, lookups, &testCount) { isAffected($0) },
      try matching(inserted, in: context.inserted, lookups, &testCount) { _ in true }
    )
  }

  private func matching(
    _ classes: [UnsavedClass],
    in models: [any PersistentModel],
    _ lookups: [UnsavedLookup]?,
    _ testCount: inout Int,
    _ isWanted: (_ModelState) -> Bool
  ) throws -> [T] {
    var positions: [Int32] = []
    for unsaved in classes {
      if let lookups, unsaved.positions.count > UnsavedLookup.smallCount {
        positions += unsaved.positions(havingAnyOf: lookups, of: models)
      } else {
        positions += unsaved.positions
      }
    }
    if positions.isEmpty || !isCurrent { return [] }
    testCount += positions.count
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

extension [[UnsavedClass]] {
  fileprivate var modelCount: Int { joined().reduce(0) { $0 + $1.positions.count } }

  /// Whether it may pay to remember which models match.
  fileprivate var areMany: Bool { modelCount > UnsavedLookup.smallCount }
}
