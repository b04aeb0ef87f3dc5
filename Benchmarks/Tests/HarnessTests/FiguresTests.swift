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

  @Test(
    arguments: [(0, "0"), (500, "500"), (1500, "1.5k"), (20_000, "20k"), (1e6, "1M"), (3e9, "3G")]
      as [(Double, String)]
  )
  func `are short beside an axis`(value: Double, text: String) {
    #expect(Figure.axis(value) == text)
  }

  @Test(
    arguments: [(0.2, "200 ns"), (1, "1 µs"), (500, "500 µs"), (1000, "1 ms"), (2e6, "2 s")]
      as [(Double, String)]
  )
  func `that are durations have the unit that suits them`(value: Double, text: String) {
    #expect(Figure.duration(microseconds: value) == text)
  }

  @Test func `say whether a target was reached`() {
    let target = Target(.rowsPerSecond, .share, .atLeast(0.9))
    #expect(target.verdict(0.91) == "≥ 0.90 ×: reached")
    #expect(target.verdict(0.89) == "≥ 0.90 ×: missed")
  }
}
