import ModelRuntime
import RowFormat
import Synchronization

/// Finds the rows that refer to a row: the other end of a to-one relationship.
///
/// An index is made the first time a list is asked for, by one scan of the table, and kept in step by
/// every save from then on. A table nobody asks about costs nothing.
final class ReferenceIndexes: Sendable {
  struct Name: Hashable {
    let table: UInt16
    let column: Int
  }

  private let indexes = Mutex<[Name: ReferenceIndex]>([:])

  /// The members of one list, in the order of their ranks.
  ///
  /// - Parameters:
  ///   - target: The row that is referred to.
  ///   - name: The table and the to-one column of the rows that refer to it.
  ///   - build: Fills a new index; called while saves of the table wait to be entered.
  /// - Returns: The rows that refer to the target.
  /// - Throws: What building a new index throws.
  func members(
    of target: RowReference,
    in name: Name,
    build: (inout ReferenceIndex) throws -> Void
  ) throws -> [ReferringRow] {
    try indexes.withLock { indexes in
      if indexes[name] == nil {
        var index = ReferenceIndex()
        try build(&index)
        indexes[name] = index
      }
      return indexes[name]?.members(of: target).map {
        ReferringRow(reference: RowReference(table: name.table, key: $0.key), rank: $0.rank)
      } ?? []
    }
  }

  /// The columns of a table that are indexed.
  func columns(of table: UInt16) -> [Int] {
    indexes.withLock { $0.keys.filter { $0.table == table }.map(\.column) }
  }

  func update(_ name: Name, _ body: (inout ReferenceIndex) -> Void) {
    indexes.withLock { indexes in
      guard indexes[name] != nil else { return }
      // In place: the subscript with a default hands the value over instead of copying it.
      body(&indexes[name, default: ReferenceIndex()])
    }
  }

  /// Forgets the indexes of a table but for those of some columns.
  func forgetIndexes(of table: UInt16, otherThan columns: [Int]) {
    indexes.withLock { indexes in
      for name in indexes.keys where name.table == table && !columns.contains(name.column) {
        indexes[name] = nil
      }
    }
  }

  func removeAll() { indexes.withLock { $0 = [:] } }
}

/// For each target, the keys of the rows that refer to it, with their ranks.
struct ReferenceIndex: Sendable {
  struct Member {
    let rank: Int64
    let key: UInt64
  }

  private struct List {
    var members: [Member] = []
    var isSorted = true
  }

  private var lists: [UInt64: List] = [:]

  /// Enters a row; one that is there already moves to its new rank.
  mutating func insert(_ key: UInt64, rank: Int64, target: RowReference) {
    var list = lists.removeValue(forKey: target.rawValue) ?? List()
    // Keys grow, so a key above the last is new: only moves have to look for themselves.
    if let last = list.members.last, last.key >= key {
      list.members.removeAll { $0.key == key }
    }
    if let last = list.members.last, (last.rank, last.key) > (rank, key) { list.isSorted = false }
    list.members.append(Member(rank: rank, key: key))
    lists[target.rawValue] = list
  }

  mutating func remove(_ key: UInt64, target: RowReference) {
    guard var list = lists.removeValue(forKey: target.rawValue) else { return }
    list.members.removeAll { $0.key == key }
    if !list.members.isEmpty { lists[target.rawValue] = list }
  }

  mutating func members(of target: RowReference) -> [Member] {
    guard var list = lists[target.rawValue] else { return [] }
    if !list.isSorted {
      list.members.sort { ($0.rank, $0.key) < ($1.rank, $1.key) }
      list.isSorted = true
      lists[target.rawValue] = list
    }
    return list.members
  }
}
