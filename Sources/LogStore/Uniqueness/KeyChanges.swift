import ModelRuntime
import RowFormat

/// The unique keys that one save gives to rows, and takes from them.
struct KeyChanges {
  /// A row that gets a key.
  struct Addition {
    let constraint: Int
    let hash: UInt32
    let row: RowReference
    /// Where the key stands among the keys.
    let key: Range<Int>
  }

  /// A row that loses a key.
  struct Removal {
    let constraint: Int
    let hash: UInt32
    let row: RowReference
  }

  private(set) var additions: [Addition] = []
  private(set) var removals: [Removal] = []
  /// The keys of the additions, end to end: none of them is an allocation of its own.
  private(set) var keys: [UInt8] = []
  private var scratch: [UInt8] = []

  var isEmpty: Bool { additions.isEmpty && removals.isEmpty }

  mutating func insert(
    _ row: RawSpan,
    _ reference: RowReference,
    _ constraint: Int,
    _ columns: [Int],
    _ layout: RowLayout
  ) {
    let start = keys.count
    guard ColumnKey.append(columns, of: row, layout, to: &keys) else { return }
    additions.append(
      Addition(
        constraint: constraint,
        hash: ColumnKey.hash(keys[start...]),
        row: reference,
        key: start..<keys.count
      )
    )
  }

  mutating func remove(
    _ row: RawSpan,
    _ reference: RowReference,
    _ constraint: Int,
    _ columns: [Int],
    _ layout: RowLayout
  ) {
    scratch.removeAll(keepingCapacity: true)
    guard ColumnKey.append(columns, of: row, layout, to: &scratch) else { return }
    removals.append(
      Removal(constraint: constraint, hash: ColumnKey.hash(scratch[...]), row: reference)
    )
  }

  /// Forgets the key a row lost and the one it got, both noted last, if they are the same.
  mutating func dropLastIfUnchanged() {
    guard let addition = additions.last, let removal = removals.last,
      addition.row == removal.row, addition.constraint == removal.constraint,
      addition.hash == removal.hash
    else { return }
    // Two keys of one hash share their row's entry: it stays.
    removals.removeLast()
    guard keys[addition.key] == scratch[...] else { return }
    keys.removeSubrange(addition.key)
    additions.removeLast()
  }
}
