import RowFormat

/// The objects of a context by the row they stand for: at most one object for each row.
///
/// The map does not keep its objects alive: a state takes itself out when its model goes away. Open
/// addressing with linear probing; a look-up is one multiplication and, nearly always, one cache line.
struct IdentityMap {
  private struct Entry {
    var key: UInt64 = 0
    var state: Unmanaged<_ModelState>?
  }

  private var entries: [Entry] = []
  private(set) var count = 0

  subscript(reference: RowReference) -> _ModelState? {
    guard count > 0 else { return nil }
    var index = slot(of: reference.rawValue)
    while let state = entries[index].state {
      if entries[index].key == reference.rawValue { return state.takeUnretainedValue() }
      index = (index + 1) & (entries.count - 1)
    }
    return nil
  }

  mutating func insert(_ state: _ModelState, at reference: RowReference) {
    if (count + 1) * 4 > entries.count * 3 { grow() }
    if place(reference.rawValue, .passUnretained(state)) { count += 1 }
  }

  /// Takes out a row, if it stands for this very object.
  mutating func remove(_ state: _ModelState, at reference: RowReference) {
    guard count > 0 else { return }
    let mask = entries.count - 1
    var index = slot(of: reference.rawValue)
    while let found = entries[index].state {
      if entries[index].key == reference.rawValue {
        guard found.toOpaque() == Unmanaged.passUnretained(state).toOpaque() else { return }
        break
      }
      index = (index + 1) & mask
    }
    guard entries[index].state != nil else { return }
    count -= 1
    // Close the gap: an entry that was pushed past it moves back, so that probing needs no tombstones.
    var gap = index
    var next = (index + 1) & mask
    while entries[next].state != nil {
      let home = slot(of: entries[next].key)
      if (next - home) & mask >= (next - gap) & mask {
        entries[gap] = entries[next]
        gap = next
      }
      next = (next + 1) & mask
    }
    entries[gap] = Entry()
  }

  /// Every state in the map, in no order.
  var states: [_ModelState] { entries.compactMap { $0.state?.takeUnretainedValue() } }

  mutating func removeAll() {
    entries = []
    count = 0
  }

  private func slot(of key: UInt64) -> Int {
    // Fibonacci hashing: sequential keys spread over the whole table.
    let hash = key &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: hash >> 32) & (entries.count - 1)
  }

  private mutating func place(_ key: UInt64, _ state: Unmanaged<_ModelState>) -> Bool {
    var index = slot(of: key)
    while entries[index].state != nil {
      if entries[index].key == key {
        entries[index].state = state
        return false
      }
      index = (index + 1) & (entries.count - 1)
    }
    entries[index] = Entry(key: key, state: state)
    return true
  }

  private mutating func grow() {
    let old = entries
    entries = Array(repeating: Entry(), count: max(16, old.count * 2))
    for entry in old {
      if let state = entry.state { _ = place(entry.key, state) }
    }
  }
}
