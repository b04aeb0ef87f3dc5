import RowFormat

/// Rows by a hash of their key, in memory.
///
/// Twelve bytes a slot, at least seven of ten taken once it is large: 14 to 17 bytes a row. No key is kept, so
/// a hit is only a hint, and the row itself has to be looked at. Open addressing with linear probing; a slot's home is
/// the hash scaled to the table, so that the table may have any size and grows by a quarter.
struct HashedRows: Sendable {
  private var hashes: [UInt32] = []
  /// Raw references; zero is an empty slot.
  private var rows: [UInt64] = []
  private(set) var count = 0

  /// Calls a closure with the rows of a hash until it returns `false`.
  func forEach(_ hash: UInt32, _ body: (RowReference) throws -> Bool) rethrows {
    guard count > 0 else { return }
    var slot = home(of: hash)
    while rows[slot] != 0 {
      if hashes[slot] == hash, try !body(RowReference(rawValue: rows[slot])) { return }
      slot = next(slot)
    }
  }

  func contains(_ row: RowReference, _ hash: UInt32) -> Bool {
    var found = false
    forEach(hash) {
      found = $0 == row
      return !found
    }
    return found
  }

  /// Adds a row; the same row under the same hash must not be there.
  mutating func insert(_ row: RowReference, _ hash: UInt32) {
    if (count + 1) * 8 > rows.count * 7 { grow(to: max(16, rows.count + rows.count / 4 + 1)) }
    place(row.rawValue, hash)
    count += 1
  }

  /// Takes out a row, if it is there.
  mutating func remove(_ row: RowReference, _ hash: UInt32) {
    guard count > 0 else { return }
    var gap = home(of: hash)
    while rows[gap] != row.rawValue || hashes[gap] != hash {
      if rows[gap] == 0 { return }
      gap = next(gap)
    }
    count -= 1
    // Close the gap: what was pushed past it moves back, so that probing needs no tombstones.
    var slot = next(gap)
    while rows[slot] != 0 {
      if distance(home(of: hashes[slot]), slot) >= distance(gap, slot) {
        rows[gap] = rows[slot]
        hashes[gap] = hashes[slot]
        gap = slot
      }
      slot = next(slot)
    }
    rows[gap] = 0
  }

  /// All rows with their hashes, in no order.
  var entries: [(row: RowReference, hash: UInt32)] {
    rows.indices.filter { rows[$0] != 0 }.map { (RowReference(rawValue: rows[$0]), hashes[$0]) }
  }

  /// Makes room for so many rows.
  mutating func reserve(_ rowCount: Int) {
    let needed = rowCount * 8 / 7 + 1
    if needed > rows.count { grow(to: needed) }
  }

  private func home(of hash: UInt32) -> Int {
    Int(truncatingIfNeeded: (UInt64(hash) &* UInt64(rows.count)) >> 32)
  }

  private func next(_ slot: Int) -> Int { slot + 1 == rows.count ? 0 : slot + 1 }

  private func distance(_ from: Int, _ to: Int) -> Int {
    to >= from ? to - from : to + rows.count - from
  }

  private mutating func place(_ row: UInt64, _ hash: UInt32) {
    var slot = home(of: hash)
    while rows[slot] != 0 { slot = next(slot) }
    rows[slot] = row
    hashes[slot] = hash
  }

  private mutating func grow(to capacity: Int) {
    let oldHashes = hashes
    let oldRows = rows
    hashes = Array(repeating: 0, count: capacity)
    rows = Array(repeating: 0, count: capacity)
    for slot in oldRows.indices where oldRows[slot] != 0 { place(oldRows[slot], oldHashes[slot]) }
  }
}
