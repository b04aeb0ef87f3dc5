/// Finds groups by their keys: a hash table with open addressing.
struct GroupIndex {
  /// The group in each slot, -1 for none; the number of slots is a power of two.
  private var slots: [Int32] = []
  /// The hash of each group's key.
  private var hashes: [Int] = []

  var count: Int { hashes.count }

  /// The number of the group that has a hash and passes a test; `nil` if there is none.
  func group(_ hash: Int, where hasKey: (Int) -> Bool) -> Int? {
    if slots.isEmpty { return nil }
    var slot = hash & (slots.count - 1)
    while slots[slot] >= 0 {
      let group = Int(slots[slot])
      if hashes[group] == hash, hasKey(group) { return group }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  /// Adds the next group, by the hash of its key.
  mutating func append(_ hash: Int) {
    hashes.append(hash)
    if hashes.count * 2 > slots.count {
      slots = Array(repeating: -1, count: max(16, slots.count * 2))
      for group in hashes.indices { insert(group) }
    } else {
      insert(hashes.count - 1)
    }
  }

  private mutating func insert(_ group: Int) {
    var slot = hashes[group] & (slots.count - 1)
    while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
    slots[slot] = Int32(group)
  }

  static func hash(of key: ArraySlice<KeyValue>) -> Int {
    var hasher = Hasher()
    for part in key { part.hash(into: &hasher) }
    return hasher.finalize()
  }
}
