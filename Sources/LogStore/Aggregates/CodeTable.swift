import RowFormat

/// Numbers distinct integers in the order of their first appearance.
///
/// A hash table with open addressing: a look-up takes a few nanoseconds, where a dictionary takes tens.
struct CodeTable {
  private var keys: [Int64] = []
  /// The number in each slot; -1 in an empty one.
  private var codes: [Int32] = []
  private(set) var count = 0
  private var last: (key: Int64, code: Int32) = (0, -1)

  /// The memory of the table, in bytes.
  var byteCount: Int { keys.count * (MemoryLayout<Int64>.stride + MemoryLayout<Int32>.stride) }

  /// The number of an integer; a new one gets the number that the closure returns.
  @inline(__always)
  mutating func code(of key: Int64, orAdd make: (Int64) -> Int32) -> Int32 {
    if last.key == key, last.code >= 0 { return last.code }
    let found = find(key, orAdd: make)
    last = (key, found)
    return found
  }

  private mutating func find(_ key: Int64, orAdd make: (Int64) -> Int32) -> Int32 {
    if keys.isEmpty { grow() }
    var place = place(of: key)
    while codes[place] >= 0 {
      if keys[place] == key { return codes[place] }
      place = (place + 1) & (keys.count - 1)
    }
    let code = make(key)
    keys[place] = key
    codes[place] = code
    count += 1
    if count * 2 > keys.count { grow() }
    return code
  }

  private func place(of key: Int64) -> Int {
    let product = UInt64(bitPattern: key).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return Int(truncatingIfNeeded: product.high ^ product.low) & (keys.count - 1)
  }

  private mutating func grow() {
    let old = zip(keys, codes).filter { $0.1 >= 0 }
    keys = Array(repeating: 0, count: max(64, keys.count * 2))
    codes = Array(repeating: -1, count: keys.count)
    for (key, code) in old {
      var place = place(of: key)
      while codes[place] >= 0 { place = (place + 1) & (keys.count - 1) }
      keys[place] = key
      codes[place] = code
    }
  }
}

/// Numbers distinct byte strings in the order of their first appearance.
struct TextCodeTable {
  private var places: [Int32] = []
  private var hashes: [UInt64] = []
  private var codes: [Int32] = []
  /// The byte strings, one behind the other, and the end of each.
  private var bytes: [UInt8] = []
  private var ends: [Int] = []

  /// The approximate memory of the table, in bytes.
  var byteCount: Int { places.count * 4 + hashes.count * 20 + bytes.count }

  /// The number of a byte string; a new one gets the number that the closure returns.
  mutating func code(of key: RawSpan, orAdd make: (RawSpan) -> Int32) -> Int32 {
    if places.isEmpty { grow() }
    let hash = Self.hash(key)
    var place = Int(truncatingIfNeeded: hash) & (places.count - 1)
    while places[place] >= 0 {
      let entry = Int(places[place])
      if hashes[entry] == hash, isEqual(entry, key) { return codes[entry] }
      place = (place + 1) & (places.count - 1)
    }
    let code = make(key)
    places[place] = Int32(hashes.count)
    hashes.append(hash)
    codes.append(code)
    unsafe key.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    ends.append(bytes.count)
    if hashes.count * 2 > places.count { grow() }
    return code
  }

  private func isEqual(_ entry: Int, _ key: RawSpan) -> Bool {
    let start = entry == 0 ? 0 : ends[entry - 1]
    guard ends[entry] - start == key.byteCount else { return false }
    return unsafe key.withUnsafeBytes { key in
      unsafe bytes.withUnsafeBytes { unsafe $0[start..<ends[entry]].elementsEqual(key) }
    }
  }

  private mutating func grow() {
    places = Array(repeating: -1, count: max(64, places.count * 2))
    for (entry, hash) in hashes.enumerated() {
      var place = Int(truncatingIfNeeded: hash) & (places.count - 1)
      while places[place] >= 0 { place = (place + 1) & (places.count - 1) }
      places[place] = Int32(entry)
    }
  }

  private static func hash(_ key: RawSpan) -> UInt64 {
    var hash = UInt64(truncatingIfNeeded: key.byteCount) &* 0x9E37_79B9_7F4A_7C15
    var offset = 0
    func combine(_ word: UInt64) {
      let product = (hash ^ word).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
      hash = product.high ^ product.low
    }
    unsafe key.withUnsafeBytes { bytes in
      while offset + 8 <= bytes.count {
        unsafe combine(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        offset += 8
      }
      var rest: UInt64 = 1
      while offset < bytes.count {
        rest = unsafe rest << 8 | UInt64(bytes[offset])
        offset += 1
      }
      combine(rest)
    }
    return hash
  }
}
