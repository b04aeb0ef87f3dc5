import Foundation
import Harness
import Testing

@Suite struct `The memory of a piece of work` {
  @Test func `is counted from what was resident before`() throws {
    func work(touching megabytes: Int) -> Sample {
      measuringMemory {
        let bytes = [UInt8](repeating: 1, count: megabytes << 20)
        return withExtendedLifetime(bytes) { Sample([:]) }
      }
    }
    let large = try #require(work(touching: 64).figures[.peakGrowthMegabytes])
    let small = try #require(work(touching: 1).figures[.peakGrowthMegabytes])
    #expect(large >= 60)
    #expect(small < large / 2)
  }
}
