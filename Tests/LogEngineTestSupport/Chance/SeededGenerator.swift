/// Chance that can be had again: the same seed gives the same numbers (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return mixed(state)
  }

  /// Whether something happens that happens once in `count` times.
  package mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

  /// A generator of its own for a part of the work, so that more draws in one part do not change
  /// what the others see.
  package func forked(_ purpose: UInt64) -> SeededGenerator {
    SeededGenerator(seed: mixed(state ^ mixed(purpose)))
  }
}

/// Spreads a number's bits over all sixty-four.
package func mixed(_ value: UInt64) -> UInt64 {
  var value = value
  value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
  value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
  return value ^ (value >> 31)
}
