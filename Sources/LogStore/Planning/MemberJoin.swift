import LogEngine
import ModelRuntime
import RowFormat

/// Finds rows by the members of their lists: the members first, then the rows that have them.
struct MemberJoin {
  private let member: QueryExpression.MemberTest
  private let resolver: StoreResolver
  /// One for each class of members.
  private let fetches: [TableFetch]
  /// Number of members.
  let memberCount: Int

  /// Plans the search for the members.
  ///
  /// - Parameters:
  ///   - member: The test of a member.
  ///   - store: The store.
  ///   - resolver: Answers about other rows, as of the fetch's view.
  /// - Throws: What reading throws: an index may be made.
  init(
    _ member: QueryExpression.MemberTest,
    _ store: TableStore,
    _ resolver: StoreResolver
  ) throws {
    self.member = member
    self.resolver = resolver
    let tables = member.property.destination.map(store.tables(for:)) ?? []
    memberCount = tables.reduce(0) { $0 + resolver.view.rowCount(of: $1.number) }
    let plan = CandidatePlan(member.test, store.textHash)
    fetches = try tables.filter { member.test.canMatch(rowsOf: $0.descriptor) }.map {
      try TableFetch(store, $0, member.test, plan, for: .rows, resolver)
    }
  }

  /// Number of rows that are read to find the members.
  var cost: Int { fetches.reduce(0) { $0 + $1.candidateCount } }

  /// The rows of a table that have a member which passes.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - count: The number of its rows: once all of them are found, no more members are read.
  /// - Returns: Their keys, ascending.
  /// - Throws: What reading throws.
  func owners(in table: EntityTable, atMost count: Int) throws -> [UInt64] {
    var owners = KeyCollection()
    let column = member.inverse.ordinal
    var columns = ColumnSet()
    columns.insert(column)
    for fetch in fetches {
      let layout = fetch.table.layout
      let control = try fetch.visit(reading: columns) { _, row in
        if layout.isNull(column, in: row) { return .proceed }
        if member.inverse.isToMany {
          for owner in layout.references(column, in: row) where owner.table == table.number {
            owners.append(owner.key)
          }
        } else {
          let owner = layout.reference(column, in: row)
          if owner.table == table.number { owners.append(owner.key) }
        }
        return owners.distinctCount < count ? .proceed : .stop
      }
      if let tally = fetch.tally { resolver.trace?.add(tally.access) }
      if control == .stop { break }
    }
    return owners.sorted()
  }
}

/// Keys in any order, with repetitions; each different key is wanted once.
private struct KeyCollection {
  private var keys: [UInt64] = []
  private var limit = 1 << 12
  /// Number of different keys when they were last sorted.
  private(set) var distinctCount = 0

  mutating func append(_ key: UInt64) {
    // The members of one list often lie together.
    if keys.last == key { return }
    keys.append(key)
    if keys.count == limit {
      sort()
      limit = max(limit, 2 * keys.count)
    }
  }

  private mutating func sort() {
    keys.sort()
    var count = 0
    for key in keys where count == 0 || keys[count - 1] != key {
      keys[count] = key
      count += 1
    }
    keys.removeSubrange(count...)
    distinctCount = count
  }

  consuming func sorted() -> [UInt64] {
    sort()
    return keys
  }
}
