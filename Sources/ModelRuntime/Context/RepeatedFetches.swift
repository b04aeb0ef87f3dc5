import Foundation
import RowFormat

/// A context's memory of fetches that it may make again while models are unsaved.
///
/// A store answers by what is stored, so an answer begins with the rows of models that are deleted or changed here, as long as
/// these are not saved. A loop that fetches the first model and deletes it would pass over all the earlier ones again, each time. So
/// the context remembers the place up to which it has passed over the rows, and asks the store for those behind it. It also keeps
/// the unsaved models that match, once it has tested all of them several times; those that the fetch of the next page, or of the next
/// day, wants are found in the same list (see ``UnsavedQuestion``).
struct RepeatedFetches {
  private var fetches = RecentMemories<RepeatedFetch>(limit: 4)
  private var lists = RecentMemories<UnsavedTests>(limit: 8)
  private var readings = RecentMemories<AffectedModels>(limit: 4)

  /// The memory of a fetch.
  mutating func memory(of question: FetchQuestion) -> RepeatedFetch {
    fetches.memory(where: { $0.question.isSame(as: question) }, or: RepeatedFetch(question))
  }

  /// The memory of the unsaved models that fetches want a part of.
  mutating func tests(of question: UnsavedQuestion) -> UnsavedTests {
    lists.memory(where: { $0.question.isSame(as: question) }, or: UnsavedTests(question))
  }

  /// The memory of the models that affect fetches which read certain properties.
  mutating func affected(
    by reading: FetchReading,
    from connection: StoreConnection
  ) -> AffectedModels {
    readings.memory(
      where: { $0.connection === connection && $0.reading.isSame(as: reading) },
      or: AffectedModels(reading, connection)
    )
  }

  mutating func forget() { self = RepeatedFetches() }
}

/// The memories that were used last, in the order of their last use: a loop makes few different fetches.
private struct RecentMemories<Memory> {
  private var memories: [Memory] = []
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  mutating func memory(
    where isWanted: (Memory) -> Bool,
    or made: @autoclosure () -> Memory
  ) -> Memory {
    if let last = memories.last, isWanted(last) { return last }
    let known = memories.lastIndex(where: isWanted)
    let memory = known.map { memories.remove(at: $0) } ?? made()
    if memories.count == limit { memories.removeFirst() }
    memories.append(memory)
    return memory
  }
}

extension ModelContext {
  /// The memory of a fetch's rows.
  ///
  /// - Parameters:
  ///   - memory: The memory of the fetch.
  ///   - changeCount: The store's number of changes before it is asked.
  /// - Returns: `nil` also for a store that does not count its changes.
  func passedRows(of memory: RepeatedFetch?, at changeCount: UInt64?) -> PassedRows? {
    guard let memory, let changeCount else { return nil }
    unsaved.keepFurtherChanges()
    return memory.rows(
      at: UnsavedMoment(changeCount: changeCount, departureCount: unsaved.departureCount)
    )
  }

  /// Forgets all fetches: models may stop being affected.
  func forgetRepeatedFetches() {
    repeatedFetches.forget()
    unsaved.forgetChanges()
  }
}

/// The state of a store, and of a context's unsaved models; between two equal ones more models may have become affected, and
/// none the less.
struct UnsavedMoment: Equatable {
  let changeCount: UInt64
  let departureCount: Int
}

/// The number of unsaved models that were looked at, of each list.
struct UnsavedCursor {
  var changed = 0
  var further = 0
  var deleted = 0

  var isStart: Bool { changed == 0 && further == 0 && deleted == 0 }
}

/// The memory of one fetch.
final class RepeatedFetch {
  let question: FetchQuestion
  private var rows: PassedRows?

  fileprivate init(_ question: FetchQuestion) { self.question = question }

  /// The memory of the rows at a moment: an empty one, if none holds.
  fileprivate func rows(at moment: UnsavedMoment) -> PassedRows {
    if let rows, rows.moment == moment { return rows }
    let made = PassedRows(question, at: moment)
    rows = made
    return made
  }
}

/// The memory of the rows that a fetch passes over, or has counted.
///
/// Invariant: it holds as long as nothing is saved to the store, and no model stops being affected: then the rows up to the place
/// are the same, and all of them are still affected.
final class PassedRows {
  private let question: FetchQuestion
  fileprivate let moment: UnsavedMoment
  /// The place up to which all rows of the store's answer are affected.
  private(set) var passed: PagePosition?
  /// The number of affected models at the last answer, and when that place was found.
  private var affectedCount = 0
  private var placedCount = 0
  /// The affected models among whose rows the store has counted those that match, and the number of these.
  private(set) var counted: Set<ObjectIdentifier> = []
  private(set) var countedRows = 0
  private(set) var countedTo = UnsavedCursor()

  fileprivate init(_ question: FetchQuestion, at moment: UnsavedMoment) {
    self.question = question
    self.moment = moment
  }

  /// Number of models that have become affected since the rows were passed over.
  func newCount(of affectedCount: Int) -> Int { max(affectedCount - self.affectedCount, 0) }

  /// Passes over the first rows of an answer.
  ///
  /// - Parameters:
  ///   - last: The last of the affected rows with which the answer begins, if there are any.
  ///   - type: Its class.
  ///   - affectedCount: The number of affected models.
  func pass(through last: FetchedRow?, of type: ModelDescriptor?, affectedCount: Int) {
    if let last, let type, let place = question.place(of: last, type) { passed = place }
    self.affectedCount = affectedCount
  }

  /// The number of further affected models from which on it pays to remember a new place.
  private static let step = 64

  /// Passes over the rows before the first one of an answer without affected rows.
  ///
  /// - Parameters: As of ``pass(through:of:affectedCount:)``.
  func pass(before first: FetchedRow?, of type: ModelDescriptor?, affectedCount: Int) {
    self.affectedCount = affectedCount
    guard affectedCount >= placedCount + Self.step, let first, let type,
      let place = question.place(before: first, type)
    else { return }
    passed = place
    placedCount = affectedCount
  }

  /// Records that the store has counted the rows of affected models.
  func count(_ rowCount: Int, of models: some Sequence<ObjectIdentifier>, to cursor: UnsavedCursor)
  {
    counted.formUnion(models)
    countedRows += rowCount
    countedTo = cursor
  }
}

/// The models that a fetch is for, and their order: by what a store's answers are told apart, whatever part of them is wanted.
struct FetchQuestion {
  /// The part of the answer that is of interest.
  enum Interest { case firstRows, count }

  let interest: Interest
  private let type: ModelDescriptor
  private let test: QueryExpression?
  private let ordering: RowOrdering
  /// Whether all changed models are affected.
  private let areAllAffected: Bool

  /// - Parameters:
  ///   - descriptor: The fetch.
  ///   - expression: Its translated predicate.
  ///   - ordering: Its sort, if that has a form over rows.
  ///   - areAllAffected: Whether all changed models are affected.
  ///   - interest: The part of the answer that is of interest.
  ///
  /// The result is `nil` for a fetch that is never found to be the same as another.
  init?<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ expression: QueryExpression?,
    _ ordering: RowOrdering?,
    areAllAffected: Bool,
    for interest: Interest
  ) {
    guard descriptor.predicate == nil || expression.map({ $0.asksTheSame(as: $0) }) ?? false,
      let ordering, ordering.keys.allSatisfy({ $0.ownColumn != nil })
    else { return nil }
    self.interest = interest
    type = .of(T.self)
    test = expression
    self.ordering = ordering
    self.areAllAffected = areAllAffected
  }

  /// Whether what is remembered of another question is the answer to this one.
  func isSame(as other: FetchQuestion) -> Bool {
    guard interest == other.interest, type === other.type,
      areAllAffected == other.areAllAffected, ordering.isSame(as: other.ordering)
    else { return false }
    guard let test, let otherTest = other.test else { return test == nil && other.test == nil }
    return test.asksTheSame(
      as: otherTest,
      upToRowBy: interest == .firstRows ? ordering.keys.first : nil
    )
  }

  /// The place before a stored row in the order.
  func place(before row: FetchedRow, _ type: ModelDescriptor) -> PagePosition? {
    // Rows with the same values are in the order of their references.
    let previous = row.reference.rawValue - 1
    return place(at: RowReference(rawValue: previous), valuesOf: row, type)
  }

  /// The place of a stored row in the order.
  func place(of row: FetchedRow, _ type: ModelDescriptor) -> PagePosition? {
    place(at: row.reference, valuesOf: row, type)
  }

  private func place(
    at reference: RowReference,
    valuesOf row: FetchedRow,
    _ type: ModelDescriptor
  ) -> PagePosition? {
    var values: [QueryValue] = []
    for key in ordering.keys {
      guard let reading = key.ownColumn, let slot = ColumnSlot(reading, type) else { return nil }
      values.append(
        row.withBytes { slot.isNull(in: $0) ? reading.absent : slot.value(reading.kind, in: $0) }
      )
    }
    return PagePosition(
      ordering: ordering,
      values: values,
      tie: .row(reference),
      tieOrder: .forward
    )
  }
}

extension RowOrdering.Key {
  /// The attribute of the row itself that is the key.
  fileprivate var ownColumn: ColumnReading? {
    guard case .column(let path, let reading) = source, path.isOfTestedRow else { return nil }
    return reading
  }
}
