import RowFormat

/// Rows and lists that a context has read from a store for siblings, and not used yet.
///
/// It is as old as the rows of a fetch, and invalid as soon as the context's epoch of the store changes.
final class SiblingCache {
  private struct ListName: Hashable {
    let owner: RowReference
    let ordinal: Int
  }

  /// The row and the relationship that lead to a row.
  struct Origin {
    let owner: RowReference
    let property: ModelProperty
    let companions: RowCompanions
  }

  private var epoch: UInt32 = 0
  /// The rows of the members of several lists, from one answer.
  final class Answer {
    let fetched: FetchedMembers
    fileprivate let batch: SiblingBatch
    /// Number of the lists that were not used yet.
    fileprivate var listCount = 0

    init(_ fetched: FetchedMembers, _ batch: SiblingBatch) {
      self.fetched = fetched
      self.batch = batch
    }
  }

  /// The members of one list: a part of an answer.
  typealias List = (answer: Answer, members: Range<Int>)

  private var lists: [ListName: List] = [:]
  /// The answers with unused lists whose rows are not among ``rows``: a member is mostly reached
  /// through its list, and then its row is found with the list.
  private var answers: [Answer] = []
  private var rows: [RowReference: (row: FetchedRow, batch: SiblingBatch)] = [:]
  private var origins: [RowReference: Origin] = [:]

  /// Removes all entries if they are of another epoch.
  func keep(only epoch: UInt32) {
    if self.epoch == epoch { return }
    self.epoch = epoch
    removeAll()
  }

  func removeAll() {
    lists = [:]
    answers = []
    rows = [:]
    origins = [:]
  }

  // MARK: Lists

  func hasList(of owner: RowReference, _ property: ModelProperty) -> Bool {
    lists[ListName(owner: owner, ordinal: property.ordinal)] != nil
  }

  /// Adds the lists of some rows.
  ///
  /// - Parameters:
  ///   - fetched: The members of all of them, those of each list contiguous and in its order.
  ///   - owners: The rows; a list without members is recorded as empty.
  ///   - property: The relationship.
  ///   - batch: Records the numbers of lists read and used.
  func add(
    _ fetched: FetchedMembers,
    of owners: [RowReference],
    _ property: ModelProperty,
    _ batch: SiblingBatch
  ) {
    let answer = Answer(fetched, batch)
    let members = fetched.members
    lists.reserveCapacity(lists.count + owners.count)
    func add(_ range: Range<Int>, _ owner: RowReference) {
      batch.add(1 + range.count)
      answer.listCount += 1
      lists[ListName(owner: owner, ordinal: property.ordinal)] = (answer, range)
    }
    var empty = Set(owners)
    var start = 0
    while start < members.count {
      let owner = members[start].target
      var end = start + 1
      while end < members.count, members[end].target == owner { end += 1 }
      // The list of an unrequested owner may lack members.
      if empty.remove(owner) != nil { add(start..<end, owner) }
      start = end
    }
    for owner in empty { add(0..<0, owner) }
    if !members.isEmpty { answers.append(answer) }
  }

  /// Returns a list, once.
  func takeList(of owner: RowReference, _ property: ModelProperty) -> List? {
    let name = ListName(owner: owner, ordinal: property.ordinal)
    guard let list = lists.removeValue(forKey: name) else { return nil }
    list.answer.batch.use(1 + list.members.count)
    list.answer.listCount -= 1
    if list.answer.listCount == 0 { answers.removeAll { $0 === list.answer } }
    return list
  }

  // MARK: Rows

  func hasRow(_ reference: RowReference) -> Bool {
    indexMembers()
    return rows[reference] != nil
  }

  /// Indexes the rows of members by their names.
  private func indexMembers() {
    for answer in answers {
      for index in answer.fetched.members.indices {
        let row = answer.fetched.row(index)
        rows[row.reference] = (row, answer.batch)
      }
    }
    answers = []
  }

  func add(_ row: FetchedRow, _ batch: SiblingBatch) {
    batch.add(1)
    rows[row.reference] = (row, batch)
  }

  func takeRow(_ reference: RowReference) -> FetchedRow? {
    indexMembers()
    if rows.isEmpty { return nil }
    let found = rows.removeValue(forKey: reference)
    found?.batch.use(1)
    return found?.row
  }

  func note(_ origin: Origin, of reference: RowReference) { origins[reference] = origin }
  func takeOrigin(of reference: RowReference) -> Origin? {
    origins.removeValue(forKey: reference)
  }
}
