import Testing

@testable import Harness

@Suite struct `Figures over repetitions` {
  @Test(
    arguments: [
      ([3.0], 3.0), ([4.0, 1.0, 3.0], 3.0), ([4.0, 1.0, 3.0, 2.0], 2.5),
    ] as [([Double], Double)]
  )
  func `have the middle one as their median`(values: [Double], median: Double) {
    #expect(Series(values).median == median)
  }

  @Test func `are shared out round by round, so that a slow round counts for both`() {
    let ours = Series([10, 2, 9])
    let floor = Series([20, 4, 10])
    #expect(ours.shares(of: floor).median == 0.5)
  }

  @Test func `give percentiles that that share of the commits did not exceed`() {
    var samples = Samples()
    samples.append(Sample([:], latencies: (1...1000).map { $0 * 1000 }.shuffled()))
    samples.finish()
    #expect(samples.series[.p50Microseconds]?.values == [500])
    #expect(samples.series[.p99Microseconds]?.values == [990])
  }

  @Test func `give a percentile for each thousand commits`() {
    var samples = Samples()
    for latency: UInt64 in [1000, 2000] {
      samples.append(Sample([:], latencies: Array(repeating: latency, count: 1000)))
    }
    samples.finish()
    #expect(samples.series[.p99Microseconds]?.values == [1, 2])
  }

  @Test func `say whether a target was reached`() {
    let target = Target(.rowsPerSecond, .share, .atLeast(0.9))
    #expect(target.verdict(0.91) == "≥ 0.90 ×: reached")
    #expect(target.verdict(0.89) == "≥ 0.90 ×: missed")
  }
}
