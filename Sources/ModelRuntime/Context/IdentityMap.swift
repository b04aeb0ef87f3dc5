import RowFormat

/// The objects of a context by the row they stand for: at most one object for each row.
///
/// The map does not keep its objects alive: one takes itself out when it goes away. Open
/// addressing. Rows of neighbouring keys stand side by side, sixteen at a time, so that
/// registering the rows of a fetch, and taking leave of them, walks through memory instead of jumping. A probe
/// goes on seventeen entries further: sixteen rows whose place is taken move on together, where a probe from entry to
/// entry would pass by all of those that took it. Seventeen is odd, so that a probe comes by every entry.
///
/// Safe to use, because every index into the entries goes through the mask, and because objects take themselves out.
@safe final class IdentityMap {
  /// What stands for a row.
  @unsafe enum Occupant {
    /// An object without a state (see ``_ModelCore``).
    case fault(Unmanaged<AnyObject>)
    case state(Unmanaged<_ModelState>)
  }

  private struct Entry {
    var key: UInt64 = 0
    /// 0 for none, the address of a state, or one more than that of a fault.
    var word: UInt = 0
  }

  private var entries: UnsafeMutablePointer<Entry>
  /// The number of entries, less one; the number is a power of two.
  private var mask: Int
  private(set) var count = 0
  /// The store whose rows these are; the coordinator keeps it.
  private unowned let connection: StoreConnection

  init(_ connection: StoreConnection) {
    self.connection = connection
    mask = 15
    unsafe entries = unsafe Self.allocate(16)
  }

  deinit { unsafe entries.deallocate() }

  private static func allocate(_ count: Int) -> UnsafeMutablePointer<Entry> {
    let entries = UnsafeMutablePointer<Entry>.allocate(capacity: count)
    unsafe entries.initialize(repeating: Entry(), count: count)
    return unsafe entries
  }

  /// The state of the object for a row, made now if the object has none yet.
  subscript(reference: RowReference) -> _ModelState? {
    switch unsafe occupant(at: reference) {
    case nil: nil
    case .state(let state): unsafe state.takeUnretainedValue()
    case .fault(let object): unsafe state(of: object, at: reference)
    }
  }

  private func state(of fault: Unmanaged<AnyObject>, at reference: RowReference) -> _ModelState {
    guard let descriptor = connection.descriptor(of: reference) else {
      preconditionFailure("a fault is of a class of its store")
    }
    // Making it enters it here.
    return unsafe descriptor.model(fault.takeUnretainedValue())._$state
  }

  func occupant(at reference: RowReference) -> Occupant? {
    var index = slot(of: reference.rawValue)
    while let address = unsafe UnsafeRawPointer(bitPattern: entries[index].word & ~1) {
      if unsafe entries[index].key == reference.rawValue {
        return unsafe entries[index].word & 1 == 1
          ? .fault(.fromOpaque(address)) : .state(.fromOpaque(address))
      }
      index = next(index)
    }
    return nil
  }

  func insert(_ state: _ModelState, at reference: RowReference) {
    unsafe insert(UInt(bitPattern: Unmanaged.passUnretained(state).toOpaque()), at: reference)
  }

  func insert(fault: Unmanaged<AnyObject>, at reference: RowReference) {
    unsafe insert(UInt(bitPattern: fault.toOpaque()) | 1, at: reference)
  }

  private func insert(_ word: UInt, at reference: RowReference) {
    if !isRoomy(for: count + 1) { grow(to: (mask + 1) * 2) }
    if place(reference.rawValue, word) { count += 1 }
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
    let word = unsafe UInt(bitPattern: Unmanaged.passUnretained(state).toOpaque())
    if let index = index(of: reference), unsafe entries[index].word == word { clear(index) }
  }

  /// Takes out a row whose object has no state.
  func removeFault(at reference: RowReference) {
    if let index = index(of: reference), unsafe entries[index].word & 1 == 1 { clear(index) }
  }

  private func index(of reference: RowReference) -> Int? {
    var index = slot(of: reference.rawValue)
    while unsafe entries[index].word != 0 {
      if unsafe entries[index].key == reference.rawValue { return index }
      index = next(index)
    }
    return nil
  }

  private func clear(_ index: Int) {
    count -= 1
    // Close the gap: an entry that was pushed past it moves back, so that probing needs no tombstones.
    var gap = index
    var place = next(index)
    while unsafe entries[place].word != 0 {
      let home = unsafe slot(of: entries[place].key)
      if probeCount(from: home, to: place) >= probeCount(from: gap, to: place) {
        unsafe entries[gap] = unsafe entries[place]
        gap = place
      }
      place = next(place)
    }
    unsafe entries[gap] = Entry()
  }

  private static let probeStep = 17
  /// The number that times the step is 1, of as many bits as a word has.
  private static let stepInverse = 0xF0F0_F0F0_F0F0_F0F1 as UInt

  /// Where a probe goes on.
  @inline(__always)
  private func next(_ index: Int) -> Int { (index + IdentityMap.probeStep) & mask }

  /// How many steps a probe takes from one entry to another.
  private func probeCount(from start: Int, to end: Int) -> Int {
    Int(truncatingIfNeeded: UInt(bitPattern: end &- start) &* IdentityMap.stepInverse) & mask
  }

  /// Every state in the map, in no order; objects without one are none of them.
  var states: [_ModelState] {
    (0...mask).compactMap { index in
      guard unsafe entries[index].word & 1 == 0 else { return nil }
      return unsafe UnsafeRawPointer(bitPattern: entries[index].word).map {
        unsafe Unmanaged<_ModelState>.fromOpaque($0).takeUnretainedValue()
      }
    }
  }

  /// Gives every object a state.
  func makeStates() {
    let faults = (0...mask).filter { unsafe entries[$0].word & 1 == 1 }
    // A state takes its fault's place, so nothing moves.
    for index in faults { _ = unsafe self[RowReference(rawValue: entries[index].key)] }
  }

  private func slot(of key: UInt64) -> Int {
    // Fibonacci hashing of all but the last bits, which keep neighbours together.
    let block = (key >> 4) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: (block >> 32) << 4 | key & 15) & mask
  }

  private func place(_ key: UInt64, _ word: UInt) -> Bool {
    var index = slot(of: key)
    while unsafe entries[index].word != 0 {
      if unsafe entries[index].key == key {
        unsafe entries[index].word = word
        return false
      }
      index = next(index)
    }
    unsafe entries[index] = Entry(key: key, word: word)
    return true
  }

  private func grow(to size: Int) {
    let old = unsafe entries
    let oldCount = mask + 1
    unsafe entries = unsafe Self.allocate(size)
    mask = size - 1
    for index in 0..<oldCount where unsafe old[index].word != 0 {
      _ = unsafe place(old[index].key, old[index].word)
    }
    unsafe old.deallocate()
  }
}
