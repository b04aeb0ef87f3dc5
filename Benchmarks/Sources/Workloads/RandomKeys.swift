/// The keys of random reads and updates: uniform over 1 … count, the same at each run.
public struct RandomKeys: Sendable {
  private var random: SplitMix64
  private let count: Int

  public init(count: Int, seed: UInt64) {
    random = SplitMix64(seed: seed)
    self.count = count
  }

  public mutating func next() -> UInt64 { UInt64(1 + random.next(below: count)) }

  /// Draws the keys beforehand, so that drawing them is not part of what is measured.
  public mutating func next(_ length: Int) -> [UInt64] { (0..<length).map { _ in next() } }
}
