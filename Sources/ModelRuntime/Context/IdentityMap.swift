import RowFormat

/// The objects of a context by the row they represent: at most one object for each row.
///
/// The map does not keep its objects alive: an object removes itself when it is freed. Rows whose keys differ in
/// their last four bits only are a *block*. A hash table has an entry for each block; an entry refers to the object itself
/// while there is one, and to a page of sixteen words once there are several. So the rows of a fetch, whose keys mostly
/// follow one another, are hashed once for sixteen, take nine bytes each, and are registered and removed by
/// storing a word. The last used entry is looked at first.
///
/// Open addressing, probed from entry to entry.
///
/// Safe to use, because every index into the entries is masked, and because objects remove themselves.
@safe final class IdentityMap {
  /// The registered object of a row.
  @unsafe enum Occupant {
    /// An object without a state (see ``_ModelCore``).
    case fault(Unmanaged<AnyObject>)
    case state(Unmanaged<_ModelState>)
  }

  /// A block of rows.
  private struct Entry {
    /// The row, if there is one; otherwise the first row of the block, plus the number of rows, less one.
    var key: UInt64 = 0
    /// 0 if empty; the address of a page, plus 2; or the word of a single row.
    ///
    /// A row's word is 0 for none, the address of a state, or one more than the address of a fault.
    var word: UInt = 0

    var isPage: Bool { word & 2 != 0 }

    func has(_ key: UInt64) -> Bool { self.key ^ key < IdentityMap.blockSize }
  }

  private static let blockSize: UInt64 = 16

  @exclusivity(unchecked) private var entries: UnsafeMutablePointer<Entry>
  /// The number of entries, less one; the number is a power of two.
  @safe @exclusivity(unchecked) private var mask: Int
  @safe @exclusivity(unchecked) private var blockCount = 0
  @safe @exclusivity(unchecked) private(set) var count = 0
  /// The last used entry.
  @safe @exclusivity(unchecked) private var last = 0
  /// The store of the rows; the coordinator keeps it alive.
  private unowned let connection: StoreConnection

  init(_ connection: StoreConnection) {
    self.connection = connection
    mask = 15
    unsafe entries = unsafe Self.allocate(16)
  }

  deinit {
    for index in 0...mask { freePage(of: index) }
    unsafe entries.deallocate()
  }

  private static func allocate(_ count: Int) -> UnsafeMutablePointer<Entry> {
    let entries = UnsafeMutablePointer<Entry>.allocate(capacity: count)
    unsafe entries.initialize(repeating: Entry(), count: count)
    return unsafe entries
  }
}

// MARK: Looking up

extension IdentityMap {
  /// The state of a row's object, created now if the object has none yet.
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
    // Creating the state registers it here.
    return unsafe descriptor.model(fault.takeUnretainedValue())._$state
  }

  func occupant(at reference: RowReference) -> Occupant? {
    guard let index = index(of: reference.rawValue) else { return nil }
    let word = word(of: reference.rawValue, at: index)
    guard let address = unsafe UnsafeRawPointer(bitPattern: word & ~1) else { return nil }
    return unsafe word & 1 == 1 ? .fault(.fromOpaque(address)) : .state(.fromOpaque(address))
  }

  /// The states in the map, in no order; objects without a state are left out.
  var states: [_ModelState] {
    var states: [_ModelState] = []
    forEach { _, word in
      guard word & 1 == 0, let address = unsafe UnsafeRawPointer(bitPattern: word) else { return }
      unsafe states.append(Unmanaged<_ModelState>.fromOpaque(address).takeUnretainedValue())
    }
    return states
  }

  /// Creates a state for every object without one.
  func makeStates() {
    var faults: [UInt64] = []
    forEach { key, word in if word & 1 == 1 { faults.append(key) } }
    for key in faults { _ = self[RowReference(rawValue: key)] }
  }

  /// Calls a closure with each row and the word that refers to its object.
  private func forEach(_ body: (UInt64, UInt) -> Void) {
    for index in 0...mask {
      let entry = unsafe entries[index]
      guard let page = unsafe page(of: index) else {
        if entry.word != 0 { body(entry.key, entry.word) }
        continue
      }
      for row in 0..<IdentityMap.blockSize {
        let word = unsafe page[Int(row)]
        if word != 0 { body(IdentityMap.firstKey(of: entry.key) | row, word) }
      }
    }
  }
}

// MARK: Registering

extension IdentityMap {
  func insert(_ state: _ModelState, at reference: RowReference) {
    unsafe insert(UInt(bitPattern: Unmanaged.passUnretained(state).toOpaque()), at: reference)
  }

  func insert(fault: Unmanaged<AnyObject>, at reference: RowReference) {
    unsafe insert(UInt(bitPattern: fault.toOpaque()) | 1, at: reference)
  }

  private func insert(_ word: UInt, at reference: RowReference) {
    let key = reference.rawValue
    guard let index = index(of: key) else { return insertBlock(key, word) }
    if let page = unsafe page(of: index) {
      let place = IdentityMap.place(of: key)
      if unsafe page[place] == 0 {
        unsafe entries[index].key += 1
        count += 1
      }
      unsafe page[place] = word
    } else if unsafe entries[index].key == key {
      unsafe entries[index].word = word
    } else {
      makePage(key, word, at: index)
    }
  }

  private func insertBlock(_ key: UInt64, _ word: UInt) {
    if !isRoomy(for: blockCount + 1) { grow(to: (mask + 1) * 2) }
    var index = home(of: key)
    while unsafe entries[index].word != 0 { index = next(index) }
    unsafe entries[index] = Entry(key: key, word: word)
    last = index
    blockCount += 1
    count += 1
  }

  /// Replaces an entry's only row by a page that also has another row.
  private func makePage(_ key: UInt64, _ word: UInt, at index: Int) {
    let page = UnsafeMutablePointer<UInt>.allocate(capacity: Int(IdentityMap.blockSize))
    unsafe page.initialize(repeating: 0, count: Int(IdentityMap.blockSize))
    let former = unsafe entries[index]
    unsafe page[IdentityMap.place(of: former.key)] = former.word
    unsafe page[IdentityMap.place(of: key)] = word
    unsafe entries[index] = Entry(
      key: IdentityMap.firstKey(of: key) + 1,
      word: UInt(bitPattern: page) | 2
    )
    count += 1
  }

  /// Reserves space for a number of objects with consecutive keys, so that adding them moves no entry.
  func reserveCapacity(_ count: Int) {
    let blocks = count / Int(IdentityMap.blockSize) + 1
    var size = mask + 1
    while size * 3 < blocks * 4 { size *= 2 }
    if size > mask + 1 { grow(to: size) }
  }

  private func isRoomy(for blocks: Int) -> Bool { blocks * 4 <= (mask + 1) * 3 }

  private func grow(to size: Int) {
    let old = unsafe entries
    let oldCount = mask + 1
    unsafe entries = unsafe Self.allocate(size)
    mask = size - 1
    for index in 0..<oldCount where unsafe old[index].word != 0 {
      var place = unsafe home(of: old[index].key)
      while unsafe entries[place].word != 0 { place = next(place) }
      unsafe entries[place] = unsafe old[index]
    }
    unsafe old.deallocate()
  }
}

// MARK: Taking out

extension IdentityMap {
  /// Removes a row if this very object is registered for it.
  func remove(_ state: _ModelState, at reference: RowReference) {
    let word = unsafe UInt(bitPattern: Unmanaged.passUnretained(state).toOpaque())
    guard let index = index(of: reference.rawValue) else { return }
    if self.word(of: reference.rawValue, at: index) == word { clear(reference.rawValue, at: index) }
  }

  /// Removes a row whose object has no state.
  func removeFault(at reference: RowReference) {
    guard let index = index(of: reference.rawValue) else { return }
    if word(of: reference.rawValue, at: index) & 1 == 1 { clear(reference.rawValue, at: index) }
  }

  /// Removes a registered row.
  @inline(__always)
  private func clear(_ key: UInt64, at index: Int) {
    count -= 1
    if let page = unsafe page(of: index) {
      unsafe page[IdentityMap.place(of: key)] = 0
      // The number of rows is one more than these bits.
      if unsafe entries[index].key % IdentityMap.blockSize > 0 {
        unsafe entries[index].key -= 1
        return
      }
    }
    clearBlock(index)
  }

  private func clearBlock(_ index: Int) {
    freePage(of: index)
    blockCount -= 1
    // Close the gap: an entry that was pushed past it moves back, so that probing needs no tombstones.
    var gap = index
    var place = next(index)
    while unsafe entries[place].word != 0 {
      let home = unsafe home(of: entries[place].key)
      if (place &- home) & mask >= (place &- gap) & mask {
        unsafe entries[gap] = unsafe entries[place]
        gap = place
      }
      place = next(place)
    }
    unsafe entries[gap] = Entry()
  }

  private func freePage(of index: Int) {
    if let page = unsafe page(of: index) { unsafe page.deallocate() }
  }
}

// MARK: Entries

extension IdentityMap {
  /// The entry of a row's block.
  @inline(__always)
  private func index(of key: UInt64) -> Int? {
    let entry = unsafe entries[last]
    return entry.has(key) && entry.word != 0 ? last : find(key)
  }

  private func find(_ key: UInt64) -> Int? {
    var index = home(of: key)
    while unsafe entries[index].word != 0 {
      if unsafe entries[index].has(key) {
        last = index
        return index
      }
      index = next(index)
    }
    return nil
  }

  /// The word that refers to a row's object, in the entry of its block.
  @inline(__always)
  private func word(of key: UInt64, at index: Int) -> UInt {
    if let page = unsafe page(of: index) { return unsafe page[IdentityMap.place(of: key)] }
    return unsafe entries[index].key == key ? entries[index].word : 0
  }

  @inline(__always)
  private func page(of index: Int) -> UnsafeMutablePointer<UInt>? {
    let entry = unsafe entries[index]
    return entry.isPage ? unsafe UnsafeMutablePointer(bitPattern: entry.word & ~2) : nil
  }

  @inline(__always)
  private func next(_ index: Int) -> Int { (index + 1) & mask }

  /// The entry at which a probe for a row's block begins.
  @inline(__always)
  private func home(of key: UInt64) -> Int {
    // Fibonacci hashing: the highest bits of the product depend on all bits of the block's number, including the table's.
    let product = key / IdentityMap.blockSize &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: product &>> UInt64(mask.leadingZeroBitCount))
  }

  private static func place(of key: UInt64) -> Int { Int(key % blockSize) }

  private static func firstKey(of key: UInt64) -> UInt64 { key & ~(blockSize - 1) }
}
