/// Sebastiano Vigna's splitmix64: a stream of well-mixed numbers from any seed, neighbours included.
///
/// Chosen over the standard library's generator because what it draws depends on the seed alone: every
/// contender, on every machine, is given the same records.
public struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// Draws a number below a bound, without the bias a remainder would have and without its division.
  public mutating func next(below bound: Int) -> Int {
    Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  /// Draws a number of 0 ..< 1.
  public mutating func nextUnit() -> Double { Double(next() >> 11) * 0x1p-53 }
}
