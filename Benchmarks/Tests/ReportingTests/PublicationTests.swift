import Foundation
import Harness
import Testing

@testable import Reporting

@Suite struct `Text with marked places` {
  private let page = """
    before
    <!-- figures: speed -->
    old
    <!-- end: speed -->
    after
    <!-- figures: losses -->
    <!-- end: losses -->

    """

  @Test func `takes new content between its remarks, and keeps everything else`() {
    var text = MarkedText(page)
    let isReplaced = text.replace("speed", with: "new")
    #expect(isReplaced)
    #expect(
      text.text.hasPrefix(
        "before\n<!-- figures: speed -->\n\nnew\n\n<!-- end: speed -->\nafter\n"
      )
    )
    #expect(text.text.hasSuffix("<!-- figures: losses -->\n<!-- end: losses -->\n"))
  }

  @Test func `is the same after the same content is put there twice`() {
    var once = MarkedText(page)
    once.replace("speed", with: "| a |")
    var twice = once
    twice.replace("speed", with: "| a |")
    #expect(once.text == twice.text)
  }

  @Test(arguments: ["", "figures", "spee", "speed "])
  func `has no place of another name`(name: String) {
    var text = MarkedText(page)
    let isReplaced = text.replace(name, with: "new")
    #expect(!isReplaced)
    #expect(text.text == page)
  }

  @Test func `has no place whose end comes first or is missing`() {
    var reversed = MarkedText("<!-- end: speed -->\n<!-- figures: speed -->\n")
    let isReversedReplaced = reversed.replace("speed", with: "new")
    #expect(!isReversedReplaced)
    var open = MarkedText("<!-- figures: speed -->\n")
    let isOpenReplaced = open.replace("speed", with: "new")
    #expect(!isOpenReplaced)
  }
}

@Suite struct `Distances of ours from others` {
  @Test func `are how many times better the other is, the greatest first`() {
    let distances = DistanceTable(results: example).distances { $0 != "engine" }
    #expect(distances.map(\.ours.workload) == ["size", "durable-1"])
    #expect(distances.map(\.factor) == [2, 0.5])
  }

  @Test func `are losses only where a peer is better`() {
    let losses = DistanceTable(results: example).losses
    #expect(losses.contains("| peers | size | bytes_per_row | engine | 200 | lmdb | 100 | 2.00 |"))
    #expect(!losses.contains("durable-1"))
  }

  @Test func `have one line for each workload, that of the worst metric`() {
    func size(_ contender: String, _ metric: Metric, _ value: Double) -> Reporting.Measurement {
      var figure = example.measurements[3]
      figure.contender = contender
      figure.metric = metric.rawValue
      figure.median = value
      return figure
    }
    let figures = [
      size("engine", .bytesPerRow, 200), size("lmdb", .bytesPerRow, 100),
      size("engine", .milliseconds, 300), size("lmdb", .milliseconds, 100),
    ]
    let losses = DistanceTable(results: Results(figures, [], circumstances: "")).losses
    #expect(losses.split(separator: "\n").count == 3)
    #expect(losses.contains("| engine | 300 | lmdb | 100 | 3.00 |"))
  }

  @Test func `stand in the highlights beside the best in bold`() {
    let table = HighlightTable(results: example).markdown
    #expect(table.contains("| commit 1 row | rows/s | full | **4,000** |  | 1,000 |  | 2,000 |"))
    #expect(
      table.contains("| on disk, loaded | bytes a row | relaxed | 200 |  | 171 |  | **100** |")
    )
  }

  @Test(arguments: [Contender.floor, .classes])
  func `have the best of those that compete in bold, whatever a yardstick does`(
    yardstick: Contender
  ) {
    var faster = example.measurements[0]
    faster.contender = yardstick.rawValue
    faster.median = 1_000_000
    let results = Results(example.measurements + [faster], [], circumstances: "")
    #expect(HighlightTable(results: results).markdown.contains("**4,000**"))
  }

  private var example: Results {
    func figure(_ workload: Workload, _ contender: String, _ metric: Metric, _ value: Double)
      -> Reporting.Measurement
    {
      Reporting.Measurement(
        group: "peers",
        workload: workload.rawValue,
        contender: contender,
        metric: metric.rawValue,
        median: value,
        min: value,
        max: value,
        runs: 1,
        settings: "any",
        durability: workload.durability
      )
    }
    return Results(
      [
        figure(.durable1, "engine", .rowsPerSecond, 4000),
        figure(.durable1, "sqlite", .rowsPerSecond, 1000),
        figure(.durable1, "lmdb", .rowsPerSecond, 2000),
        figure(.size, "engine", .bytesPerRow, 200), figure(.size, "sqlite", .bytesPerRow, 171),
        figure(.size, "lmdb", .bytesPerRow, 100),
      ],
      [],
      circumstances: "two processors"
    )
  }
}
