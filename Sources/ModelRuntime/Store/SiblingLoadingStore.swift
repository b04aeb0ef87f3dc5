package import RowFormat

/// A remote store: each request costs a round trip, however small it is.
///
/// A context that reads a relationship of one fetched model also reads it for the other models of the fetch, with the target
/// rows.
package protocol SiblingLoadingStore: RowStore {
  /// Returns the rows of a table whose reference column names any of some rows.
  ///
  /// - Parameters:
  ///   - targets: The target rows, each once.
  ///   - table: The table of the referring rows.
  ///   - column: The column with the names.
  /// - Returns: The rows, in any order: arranging them here takes a tenth of the time that a server needs to sort them.
  /// - Throws: An error of reading.
  func rows(
    referringToAnyOf targets: [RowReference],
    inTable table: UInt16,
    column: Int
  ) throws -> FetchedMembers
}

/// Rows that refer to others, with their bytes.
///
/// Safe to use, because it keeps the blocks of its rows. (If each row kept its own, as a ``FetchedRow`` does, reference
/// counting would take longer than everything else.)
@safe package struct FetchedMembers {
  /// A row that refers to another one; valid as long as the answer.
  @safe struct Member {
    /// The target row.
    let target: RowReference
    /// The place in the target row's list; see ``ReferringRow/rank``.
    let rank: Int64
    /// The referring row.
    let row: StoredRow

    /// The member without its bytes.
    var place: ReferringRow { unsafe ReferringRow(reference: row.reference, rank: rank) }
  }

  private(set) var members: [Member] = []
  /// The blocks of the rows.
  private(set) var arenas: [RowArena] = []
  /// Collects the next rows.
  private var builder = FetchedRowBuilder()

  /// Makes an empty answer.
  package init() {}

  /// Reserves space for a number of rows.
  package mutating func reserveCapacity(_ count: Int) { members.reserveCapacity(count) }

  /// Copies a row.
  ///
  /// - Parameters:
  ///   - reference: The referring row.
  ///   - row: Its bytes, valid for the layout of its entity.
  ///   - target: The target row.
  ///   - rank: The place in the target row's list.
  package mutating func append(
    _ reference: RowReference,
    row: RawSpan,
    to target: RowReference,
    rank: Int64
  ) {
    let fetched = builder.take(reference, row: row)
    if let arena = fetched.arena, arena !== arenas.last { arenas.append(arena) }
    unsafe members.append(Member(target: target, rank: rank, row: fetched.row))
  }

  /// Returns a single row, which keeps its block.
  func row(_ index: Int) -> FetchedRow {
    let row = unsafe members[index].row
    return unsafe FetchedRow(arena: row.arena.takeUnretainedValue(), row: row)
  }

  /// Adds the rows of another table.
  mutating func append(contentsOf other: FetchedMembers) {
    members += other.members
    arenas += other.arenas
  }

  /// Groups the rows by their target row, in the order of its list: by rank, then by key.
  ///
  /// - Complexity: O(*n*), and O(*m* log *m*) for each list whose *m* members did not come in its order.
  mutating func arrange() {
    if members.count < 2 { return }
    var lists: [RowReference: Int] = [:]
    var ends: [Int] = []
    let places = members.map { member in
      let list = lists[member.target] ?? ends.count
      if list == ends.count {
        lists[member.target] = list
        ends.append(0)
      }
      ends[list] += 1
      return list
    }
    var next = ends
    var start = 0
    for list in ends.indices {
      next[list] = start
      start += ends[list]
      ends[list] = start
    }
    var arranged = members
    for (member, list) in zip(members, places) {
      arranged[next[list]] = member
      next[list] += 1
    }
    start = 0
    for end in ends {
      let isSorted = (start..<end).dropFirst().allSatisfy {
        arranged[$0 - 1].place < arranged[$0].place
      }
      if !isSorted { arranged[start..<end].sort { $0.place < $1.place } }
      start = end
    }
    members = arranged
  }
}
