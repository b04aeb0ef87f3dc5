import Harness
import Testing

@testable import Reporting

@Suite struct `A comparison of two runs` {
  @Test func `finds what became slower beyond the spread of both`() {
    let comparison = compare(
      old: [rate("engine", 100, 95, 105)],
      new: [rate("engine", 80, 78, 90)]
    )
    #expect(comparison.changes.map(\.factor) == [1.25])
    #expect(comparison.isWorse)
    #expect(comparison.text.contains("1.25 × worse"))
  }

  @Test(
    arguments: [
      (80, 70, 101), (103, 102, 104), (100, 100, 100),
    ] as [(Double, Double, Double)]
  )
  func `is silent about what rounds or a twentieth explain`(
    median: Double,
    min: Double,
    max: Double
  ) {
    let comparison = compare(
      old: [rate("engine", 100, 99, 101)],
      new: [rate("engine", median, min, max)]
    )
    #expect(comparison.changes.isEmpty)
    #expect(!comparison.isWorse)
  }

  @Test func `knows of which figures less is better`() {
    var old = rate("engine", 10, 9, 11)
    var new = rate("engine", 20, 19, 21)
    #expect(!compare(old: [old], new: [new]).isWorse)
    old.metric = Metric.milliseconds.rawValue
    new.metric = old.metric
    #expect(compare(old: [old], new: [new]).changes.map(\.factor) == [2])
  }

  @Test func `does not blame us for what the floor did too`() {
    let old = [rate("floor", 200, 199, 201), rate("engine", 100, 99, 101)]
    let slower = [rate("floor", 100, 99, 101), rate("engine", 50, 49, 51)]
    #expect(compare(old: old, new: slower).changes.map(\.new.contender) == ["floor"])
    #expect(!compare(old: old, new: slower).isWorse)
    let muchSlower = [rate("floor", 100, 99, 101), rate("engine", 25, 24, 26)]
    #expect(compare(old: old, new: muchSlower).isWorse)
  }

  @Test func `sorts the worst first and counts who is in one run only`() {
    let old = [
      rate("engine", 100, 99, 101), rate("models", 100, 99, 101), rate("lmdb", 9, 9, 9),
    ]
    let new = [
      rate("engine", 90, 89, 91), rate("models", 50, 49, 51), rate("sqlite", 9, 9, 9),
    ]
    let comparison = compare(old: old, new: new)
    #expect(comparison.changes.map(\.new.contender) == ["models", "engine"])
    #expect(comparison.comparedCount == 2)
    #expect(comparison.unmatchedCount == 2)
  }

  @Test(arguments: [1, 2])
  func `does not trust a time measured once or twice, but bytes on disk`(runs: Int) {
    var old = rate("engine", 100, 100, 100)
    var new = rate("engine", 200, 200, 200)
    old.runs = runs
    old.metric = Metric.milliseconds.rawValue
    new.metric = old.metric
    #expect(compare(old: [old], new: [new]).changes.isEmpty)
    #expect(compare(old: [new], new: [old]).changes.isEmpty)
    old.metric = Metric.bytesPerRow.rawValue
    new.metric = old.metric
    #expect(compare(old: [old], new: [new]).isWorse)
  }

  @Test func `is not about peers`() {
    let comparison = compare(old: [rate("lmdb", 100, 99, 101)], new: [rate("lmdb", 10, 9, 11)])
    #expect(comparison.changes.count == 1)
    #expect(!comparison.isWorse)
  }

  @Test func `keeps groups apart, unless one run has none`() {
    let old = [rate("engine", 100, 99, 101, group: "engine")]
    let new = [rate("engine", 50, 49, 51, group: "peers")]
    #expect(compare(old: old, new: new).comparedCount == 0)
    let nameless = [rate("engine", 100, 99, 101, group: nil)]
    #expect(compare(old: nameless, new: new).isWorse)
  }

  private func compare(old: [Measurement], new: [Measurement]) -> Comparison {
    Comparison(old: old, new: new)
  }

  private func rate(
    _ contender: String,
    _ median: Double,
    _ min: Double,
    _ max: Double,
    group: String? = "engine"
  ) -> Measurement {
    Measurement(
      group: group,
      workload: "durable-1",
      contender: contender,
      metric: Metric.rowsPerSecond.rawValue,
      median: median,
      min: min,
      max: max,
      runs: 9,
      settings: "any"
    )
  }
}
