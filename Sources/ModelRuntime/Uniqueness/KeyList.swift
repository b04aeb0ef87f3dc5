package import RowFormat

/// Distinct unique keys, numbered in the order of their first appearance.
///
/// The keys are contiguous, without an allocation for each.
package struct KeyList {
  private var bytes: [UInt8] = []
  private var ends: [Int] = []
  private var hashes: [UInt32] = []
  /// One more than the number of a key, by its hash; zero in an empty slot.
  private var slots: [Int32] = []

  package init() {}

  /// Number of keys.
  package var count: Int { ends.count }

  /// The hash of a key; see ``ColumnKey/hash(_:)``.
  package func hash(of number: Int) -> UInt32 { hashes[number] }

  /// The bytes of a key.
  package subscript(number: Int) -> ArraySlice<UInt8> {
    bytes[(number == 0 ? 0 : ends[number - 1])..<ends[number]]
  }

  /// Adds the key that some columns of a row form, unless it is there.
  ///
  /// - Returns: Its number; `nil` for values that form no key.
  package mutating func append(
    _ columns: [Int],
    of row: RawSpan,
    _ layout: RowLayout
  ) -> Int? {
    let start = bytes.count
    guard ColumnKey.append(columns, of: row, layout, to: &bytes) else { return nil }
    let hash = ColumnKey.hash(bytes[start...])
    if (count + 1) * 2 > slots.count { grow() }
    var slot = Int(hash) & (slots.count - 1)
    while slots[slot] != 0 {
      let known = Int(slots[slot]) - 1
      if hashes[known] == hash, self[known] == bytes[start...] {
        bytes.removeSubrange(start...)
        return known
      }
      slot = (slot + 1) & (slots.count - 1)
    }
    ends.append(bytes.count)
    hashes.append(hash)
    slots[slot] = Int32(count)
    return count - 1
  }

  private mutating func grow() {
    slots = Array(repeating: 0, count: max(64, slots.count * 2))
    for number in hashes.indices {
      var slot = Int(hashes[number]) & (slots.count - 1)
      while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = Int32(number + 1)
    }
  }
}
