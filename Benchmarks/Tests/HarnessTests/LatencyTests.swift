import Foundation
import Testing

@testable import Harness

@Suite struct `A latency histogram` {
  @Test(arguments: [0, 1, 2047, 2048, 2049, 4095, 4096, 1 << 40, .max - 1, .max] as [UInt64])
  func `counts a duration in a slot that holds it and is narrow`(duration: UInt64) {
    let slot = LatencyHistogram.slot(of: duration)
    let durations = LatencyHistogram.durations(in: slot)
    #expect(durations.contains(duration))
    let width = Double(durations.upperBound - durations.lowerBound)
    #expect(width <= Double(duration) * LatencyHistogram.relativeError)
  }

  @Test func `has slots that follow one another without gap or overlap`() {
    for slot in 0..<20_000 {
      let next = LatencyHistogram.durations(in: slot + 1)
      #expect(LatencyHistogram.durations(in: slot).upperBound + 1 == next.lowerBound)
      #expect(LatencyHistogram.slot(of: next.lowerBound) == slot + 1)
    }
  }

  @Test(arguments: [0, 0.001, 0.5, 0.9, 0.99, 0.999, 1], [1, 2, 3] as [UInt64])
  func `finds what sorting finds, within its error`(share: Double, seed: UInt64) {
    var random = Congruence(state: seed)
    // From nanoseconds to a second, as many in each doubling.
    let durations = (0..<5000).map { _ in random.next() >> (34 + random.next() % 30) }
    let sorted = durations.sorted()
    let exact = sorted[max(0, Int((share * 5000).rounded(.up)) - 1)]
    let found = LatencyHistogram(durations).percentile(share)
    #expect(found >= exact, "seed \(seed)")
    let most = Double(exact) * (1 + LatencyHistogram.relativeError)
    #expect(Double(found) <= most, "seed \(seed)")
  }

  @Test func `adds up to the histogram of all`() {
    let first: [UInt64] = [1, 50_000, 7_000_000]
    let second: [UInt64] = [3, 50_001, 900]
    var sum = LatencyHistogram(first)
    sum.merge(LatencyHistogram(second))
    #expect(sum == LatencyHistogram(first + second))
    #expect(sum.maximum == 7_000_000)
    sum.merge(LatencyHistogram())
    #expect(sum.count == 6)
  }

  @Test func `never reports more than the longest duration, and nothing when empty`() {
    #expect(LatencyHistogram([1_000_003]).percentile(1) == 1_000_003)
    #expect(LatencyHistogram().percentile(0.99) == 0)
  }
}

@Suite struct `Latencies of many rounds` {
  @Test func `give percentiles that that share of the commits did not exceed`() {
    let series = recorded((1...1000).map { $0 * 1000 }.shuffled()).series
    let expected: [Metric: Double] = [
      .p50Microseconds: 500, .p90Microseconds: 900, .p99Microseconds: 990,
      .p999Microseconds: 999, .maximumMicroseconds: 1000,
    ]
    for (metric, value) in expected {
      let found = series[metric]?.values ?? []
      #expect(found.count == 1)
      #expect(abs((found.first ?? 0) / value - 1) <= LatencyHistogram.relativeError, "\(metric)")
    }
  }

  @Test func `give a percentile for each thousand commits`() {
    let durations: [UInt64] = [1000, 2000].flatMap { Array(repeating: $0, count: 1000) }
    #expect(recorded(durations).series[.p99Microseconds]?.values == [1, 2])
  }

  @Test(arguments: [(1, false), (999, false), (1000, true)])
  func `know the thousandth part only of a thousand`(count: Int, isThere: Bool) {
    let series = recorded(Array(repeating: 5000, count: count)).series
    #expect((series[.p999Microseconds] != nil) == isThere)
    #expect(series[.p99Microseconds]?.values == [5])
  }

  @Test func `that were counted only have percentiles of all of them`() {
    var recorder = LatencyRecorder()
    let durations: [UInt64] = [1000, 2000].flatMap { Array(repeating: $0, count: 1000) }
    recorder.merge(LatencyHistogram(durations))
    #expect(recorder.series[.p50Microseconds]?.values == [1])
    #expect(recorder.series[.p99Microseconds]?.values == [2])
    #expect(recorder.series[.maximumMicroseconds]?.values == [2])
  }

  @Test func `reach another process as figures`() throws {
    let sample = Sample(
      [.rowsPerSecond: 5, .peakMegabytes: 7],
      histogram: LatencyHistogram([1000, 3000])
    )
    let told = CompanionFigures(.largerThanMemoryUniform, sample)
    let decoded = try JSONDecoder().decode(
      CompanionFigures.self,
      from: JSONEncoder().encode(told)
    )
    #expect(decoded.workload == "larger-than-memory-uniform")
    #expect(
      decoded.sample.figures == [
        .rowsPerSecond: 5, .peakMegabytes: 7, .p50Microseconds: 1, .p90Microseconds: 3,
        .p99Microseconds: 3, .p999Microseconds: 3, .maximumMicroseconds: 3,
      ]
    )
  }

  @Test func `give none where nothing was timed`() {
    #expect(recorded([]).series.isEmpty)
  }

  @Test(arguments: [1, 9, 10, 1000])
  func `become a rising curve that ends at the longest`(count: Int) {
    let histogram = LatencyHistogram((1...UInt64(count)).map { $0 * 1000 })
    let curve = LatencyDistribution("peers", .init(.pointRead, .lmdb), histogram)
    #expect(curve.shares.count == curve.microseconds.count)
    #expect(curve.shares == curve.shares.sorted())
    #expect(curve.microseconds == curve.microseconds.sorted())
    #expect(curve.shares.last == 1)
    #expect(curve.microseconds.last == Double(count))
    // No point stands for less than one of the durations.
    #expect(curve.shares.dropLast().allSatisfy { (1 - $0) * Double(count) >= 0.999 })
  }

  private func recorded(_ durations: [UInt64]) -> LatencyRecorder {
    var recorder = LatencyRecorder()
    recorder.record(durations)
    return recorder
  }
}

/// Knuth's linear congruential generator: numbers that are the same at each run.
private struct Congruence: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state
  }
}
