/// Finds groups by their keys: a hash table with open addressing.
struct GroupIndex {
  private var places: [Int32] = []
  /// The hash of each group's key.
  private var hashes: [Int] = []

  var count: Int { hashes.count }

  /// The number of a group, or `nil` if no group has the key.
  func group(of key: [KeyValue], _ hasKey: (Int) -> Bool) -> Int? {
    if places.isEmpty { return nil }
    let hash = Self.hash(key[...])
    var place = hash & (places.count - 1)
    while places[place] >= 0 {
      let group = Int(places[place])
      if hashes[group] == hash, hasKey(group) { return group }
      place = (place + 1) & (places.count - 1)
    }
    return nil
  }

  /// Adds the next group.
  mutating func append(_ key: ArraySlice<KeyValue>) {
    hashes.append(Self.hash(key))
    if hashes.count * 2 > places.count {
      places = Array(repeating: -1, count: max(16, places.count * 2))
      for group in hashes.indices { insert(group) }
    } else {
      insert(hashes.count - 1)
    }
  }

  private mutating func insert(_ group: Int) {
    var place = hashes[group] & (places.count - 1)
    while places[place] >= 0 { place = (place + 1) & (places.count - 1) }
    places[place] = Int32(group)
  }

  private static func hash(_ key: ArraySlice<KeyValue>) -> Int {
    var hasher = Hasher()
    for part in key { part.hash(into: &hasher) }
    return hasher.finalize()
  }
}
