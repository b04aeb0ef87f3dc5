/// Chance that can be had again: the same seed gives the same numbers (SplitMix64).
struct Chance: RandomNumberGenerator, Sendable {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x2545_F491_4F6C_DD1D &+ 0x9E37_79B9_7F4A_7C15 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
  mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }
  mutating func pick<C: Collection>(_ choices: C) -> C.Element? {
    choices.randomElement(using: &self)
  }
}
