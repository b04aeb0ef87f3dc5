/// The keys of random reads and updates: uniform over 1 … count, the same at each run.
public struct RandomKeys: Sendable {
  private var random: SplitMix64
  private let count: Int

  public init(count: Int, seed: UInt64) {
    random = SplitMix64(seed: seed)
    self.count = count
  }

  public mutating func next() -> UInt64 { UInt64(1 + random.next(below: count)) }

  /// Draws keys beforehand, so that drawing them is not part of what is measured.
  ///
  /// - Parameters:
  ///   - length: The number of keys.
  ///   - run: Within how many in a row no key comes twice: a commit changes a row once.
  /// - Returns: The keys.
  public mutating func next(_ length: Int, distinctWithin run: Int = 1) -> [UInt64] {
    var keys: [UInt64] = []
    keys.reserveCapacity(length)
    var drawn: Set<UInt64> = []
    while keys.count < length {
      if keys.count % run == 0 { drawn.removeAll(keepingCapacity: true) }
      let key = next()
      if run == 1 || drawn.insert(key).inserted { keys.append(key) }
    }
    return keys
  }
}
