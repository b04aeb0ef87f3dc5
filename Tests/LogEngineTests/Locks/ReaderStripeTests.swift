import Testing

@testable import LogEngine

/// How far apart the system puts the stacks of threads, and how far below 2^47 the first one is.
private let distances: [UInt] = [
  256 << 10, 512 << 10, 512 << 10 + 4096, 1 << 20, 1 << 20 + 4096, 8 << 20, 8 << 20 + 4096,
  64 << 20,
]

@Suite struct `The counters of readers` {
  @Test(arguments: distances)
  func `are different ones for most of eight threads`(distance: UInt) {
    for base: UInt in [0x7F12_3456_7000, 0x7FFF_0000_1000, 0x7F55_0000_0000] {
      let stripes = (0..<8).map { ReaderEpochs.stripe(ofStackAt: base - $0 * distance) }
      #expect(stripes.allSatisfy { 0..<16 ~= $0 })
      #expect(Set(stripes).count >= 6, "\(stripes)")
    }
  }
}
