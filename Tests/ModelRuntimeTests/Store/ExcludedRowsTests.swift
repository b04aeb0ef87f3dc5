import Testing

@testable import ModelRuntime

@Suite struct `The keys of rows that are left out` {
  @Test(arguments: [1 as UInt64, 50, 100_000], UInt64(1)...4)
  func `are those that were added, near each other or not`(distance: UInt64, seed: UInt64) {
    var state = seed
    func next(below bound: UInt64) -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state >> 33) % bound
    }
    var keys = ExcludedRows.Keys()
    var expected: Set<UInt64> = []
    // In an order that often begins below all keys so far.
    var start: UInt64 = 1 << 40
    for _ in 0..<300 {
      if next(below: 4) == 0 { start -= next(below: distance * 40) }
      let key = start + next(below: distance * 100)
      keys.insert(key)
      expected.insert(key)
      for near in [key - 1, key, key + 1, key + 64, start] {
        #expect(keys.contains(near) == expected.contains(near), "seed \(seed), \(near)")
      }
    }
    #expect(keys.count == expected.count)
    #expect(keys.sorted == expected.sorted())
    #expect(![0, 63, 64, .max].contains(where: keys.contains))
  }
}
