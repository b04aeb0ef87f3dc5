import RowFormat

/// The objects of a context by the row they stand for: at most one object for each row.
///
/// The map does not keep its objects alive: a state takes itself out when its model goes away. Open
/// addressing with linear probing. Rows of neighbouring keys stand side by side, sixteen at a time, so that
/// registering the rows of a fetch, and taking leave of them, walks through memory instead of jumping.
final class IdentityMap {
  private struct Entry {
    var key: UInt64 = 0
    var state: Unmanaged<_ModelState>?
  }

  private var entries: UnsafeMutablePointer<Entry>
  /// The number of entries, less one; the number is a power of two.
  private var mask: Int
  private(set) var count = 0

  init() {
    mask = 15
    entries = Self.allocate(16)
  }

  deinit { entries.deallocate() }

  private static func allocate(_ count: Int) -> UnsafeMutablePointer<Entry> {
    let entries = UnsafeMutablePointer<Entry>.allocate(capacity: count)
    entries.initialize(repeating: Entry(), count: count)
    return entries
  }

  subscript(reference: RowReference) -> _ModelState? {
    var index = slot(of: reference.rawValue)
    while let state = entries[index].state {
      if entries[index].key == reference.rawValue { return state.takeUnretainedValue() }
      index = (index + 1) & mask
    }
    return nil
  }

  func insert(_ state: _ModelState, at reference: RowReference) {
    if !isRoomy(for: count + 1) { grow(to: (mask + 1) * 2) }
    if place(reference.rawValue, .passUnretained(state)) { count += 1 }
  }

  /// Makes room for a number of objects, so that adding them one by one moves none.
  func reserveCapacity(_ count: Int) {
    var size = mask + 1
    while size * 7 < count * 8 { size *= 2 }
    if size > mask + 1 { grow(to: size) }
  }

  private func isRoomy(for count: Int) -> Bool { count * 8 <= (mask + 1) * 7 }

  /// Takes out a row, if it stands for this very object.
  func remove(_ state: _ModelState, at reference: RowReference) {
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
  var states: [_ModelState] {
    (0...mask).compactMap { entries[$0].state?.takeUnretainedValue() }
  }

  private func slot(of key: UInt64) -> Int {
    // Fibonacci hashing of all but the last bits, which keep neighbours together.
    let block = (key >> 4) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: (block >> 32) << 4 | key & 15) & mask
  }

  private func place(_ key: UInt64, _ state: Unmanaged<_ModelState>) -> Bool {
    var index = slot(of: key)
    while entries[index].state != nil {
      if entries[index].key == key {
        entries[index].state = state
        return false
      }
      index = (index + 1) & mask
    }
    entries[index] = Entry(key: key, state: state)
    return true
  }

  private func grow(to size: Int) {
    let old = entries
    let oldCount = mask + 1
    entries = Self.allocate(size)
    mask = size - 1
    for index in 0..<oldCount {
      if let state = old[index].state { _ = place(old[index].key, state) }
    }
    old.deallocate()
  }
}
