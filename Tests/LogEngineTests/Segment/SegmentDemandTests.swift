import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `What commits tell of the segments to come` {
  @Test func `is that four of the largest are to fit`() {
    var demand = SegmentDemand()
    #expect(demand.sizeBasis == 0)
    for byteCount in [10, 3000, 20] { demand.record(commitOf: byteCount) }
    // A segment has half of its basis.
    #expect(demand.sizeBasis == 8 * 3000)
    demand.begin(after: 1 << 20, at: 0)
    #expect(demand.sizeBasis == 8 * 3000)
    demand.record(commitOf: 5)
    demand.begin(after: 1 << 20, at: 0)
    #expect(demand.sizeBasis == 8 * 5)
  }

  @Test(arguments: [
    (0.5, true), (1, true), (1.9, true), (2.1, false), (3600, false), (0, false), (-1, false),
  ])
  func `is when the next one has to be ready`(seconds: Double, isFast: Bool) {
    var demand = SegmentDemand()
    demand.begin(after: 0, at: 5)
    #expect(!demand.isFast)
    demand.begin(after: 64 << 20, at: 5 + Int64(seconds * 1_000_000))
    #expect(demand.isFast == isFast)
    #expect(demand.preparationOffset(in: 1000) == (isFast ? 0 : 500))
  }

  @Test(arguments: [(Int64.min, Int64.max), (.max, .min), (.max, .max)])
  func `is nothing wrong, whatever the clock does`(begin: Int64, end: Int64) {
    var demand = SegmentDemand()
    demand.begin(after: 1, at: begin)
    demand.begin(after: 1 << 20, at: end)
    #expect(!demand.isFast)
  }
}
