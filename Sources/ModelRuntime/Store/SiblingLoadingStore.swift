package import RowFormat

/// A store that is far away: each question costs a round trip, however little it asks for.
///
/// A context that reads a relationship of one fetched model reads it for the models of the same fetch, too, with the rows
/// that it leads to.
package protocol SiblingLoadingStore: RowStore {
  /// Returns the rows of a table whose reference column names any of some rows.
  ///
  /// - Parameters:
  ///   - targets: The rows that are named, each once.
  ///   - table: The table of the rows that name them.
  ///   - column: The column with the names.
  /// - Returns: The rows, in any order: to arrange them here takes a tenth of the time that a server needs to sort them.
  /// - Throws: What reading throws.
  func rows(
    referringToAnyOf targets: [RowReference],
    inTable table: UInt16,
    column: Int
  ) throws -> FetchedMembers
}

/// Rows that refer to others, with their bytes.
///
/// Safe to use, because it keeps the blocks of its rows. (Were each row to keep its own, as a ``FetchedRow`` does, counting
/// would take longer than all else.)
@safe package struct FetchedMembers {
  /// A row that refers to another one; valid as long as the answer.
  @safe struct Member {
    /// The row that is referred to.
    let target: RowReference
    /// The place in the list of that row; see ``ReferringRow/rank``.
    let rank: Int64
    /// The row that refers.
    let row: StoredRow

    /// The member without its bytes.
    var place: ReferringRow { unsafe ReferringRow(reference: row.reference, rank: rank) }
  }

  private(set) var members: [Member] = []
  /// The blocks of the rows.
  private(set) var arenas: [RowArena] = []
  /// Where the next row goes.
  private var builder = FetchedRowBuilder()

  /// Makes an empty answer.
  package init() {}

  /// Makes room for a number of rows.
  package mutating func reserveCapacity(_ count: Int) { members.reserveCapacity(count) }

  /// Copies a row.
  ///
  /// - Parameters:
  ///   - reference: The row that refers.
  ///   - row: Its bytes, valid for the layout of its entity.
  ///   - target: The row that is referred to.
  ///   - rank: The place in the list of that row.
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

  /// A row by itself, which keeps its block.
  func row(_ index: Int) -> FetchedRow {
    let row = unsafe members[index].row
    return unsafe FetchedRow(arena: row.arena.takeUnretainedValue(), row: row)
  }

  /// Adds the rows of another table.
  mutating func append(contentsOf other: FetchedMembers) {
    members += other.members
    arenas += other.arenas
  }

  /// Puts the rows that refer to one row side by side, in the order of its list: by rank, then by key.
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
