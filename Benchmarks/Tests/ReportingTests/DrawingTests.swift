import Foundation
import FoundationXML
import Harness
import Testing

@testable import Reporting

@Suite struct `Plots of a run` {
  private let plots = Plots(results: .example).all

  @Test func `are there for rates, costs, latencies and growth`() {
    let names = plots.map(\.name)
    #expect(
      names == [
        "overview", "throughput-peers", "cost-peers", "latency-peers", "timeline-peers", "scaling",
      ]
    )
  }

  @Test func `are XML, and ask nothing of the network`() throws {
    for plot in plots {
      let document = try XMLDocument(xmlString: plot.svg)
      #expect(document.rootElement()?.name == "svg")
      #expect(!plot.svg.contains("href"))
      #expect(!plot.svg.contains("<script"))
      #expect(plot.svg.contains("prefers-color-scheme:dark"))
    }
  }

  @Test func `say who was set up how, and where`() {
    for plot in plots where plot.name != Plots.overviewName {
      #expect(plot.svg.contains("sqlite: WAL &lt;wal&gt; &amp; more"))
      #expect(plot.svg.contains("two processors"))
    }
  }

  @Test func `have bars as long as their figures, from zero`() throws {
    let svg = try #require(plots.first { $0.name == "throughput-peers" }).svg
    let bars = svg.split(separator: "\n").filter {
      $0.hasPrefix("<rect") && ($0.contains(#"class="engine""#) || $0.contains(#"class="sqlite""#))
    }
    let starts = Set(bars.map { attribute("x", $0) })
    let widths = bars.compactMap { Double(attribute("width", $0)) }
    #expect(starts.count == 1)
    #expect(widths.count == 2)
    #expect(abs((widths.first ?? 0) / (widths.last ?? 1) - 4) < 0.01)
  }

  private func attribute(_ name: String, _ element: Substring) -> String {
    let values = element.split(separator: "\"")
    let index = values.firstIndex { $0.hasSuffix(" \(name)=") }
    return index.map { String(values[$0 + 1]) } ?? ""
  }
}

@Suite struct `Small print` {
  @Test func `breaks between words and keeps them all`() {
    let words = (1...100).map { "word\($0)" }
    let lines = PanelPage.wrap(words.joined(separator: " "))
    #expect(lines.count > 1)
    #expect(lines.flatMap { $0.split(separator: " ").map(String.init) } == words)
    #expect(lines.allSatisfy { $0.count <= 160 })
  }

  @Test func `names the file system a folder is on`() {
    let mounts = "/dev/a / ext4 rw\n/dev/b /tmp tmpfs rw\n/dev/c /tm xfs rw\n"
    #expect(Machine.fileSystem(of: "/tmp/x", mounts: mounts) == "tmpfs")
    #expect(Machine.fileSystem(of: "/tmpx", mounts: mounts) == "ext4")
    #expect(Machine.fileSystem(of: "/tmpx", mounts: "") == "unknown")
  }
}

@Suite struct `The table of figures` {
  @Test func `has a line for each workload and metric and a column for each contender`() {
    let lines = FigureTable(Results.example.measurements).markdown
    #expect(lines[0] == "| workload | durability | metric | engine | sqlite |")
    #expect(lines[2] == "| durable-1 | full | rows_per_second | 4,000 | 1,000 |")
    #expect(lines.contains("| size | – | bytes_per_row | 200 | 171 |"))
  }
}

@Suite struct `Names of workloads at several sizes` {
  @Test func `are taken apart into name and rows`() {
    #expect(Scaled("scale-insert-100000")?.rows == 100_000)
    #expect(Scaled("scale-insert-100000")?.title == "insert")
    #expect(Scaled("durable-10000") == nil)
    #expect(Scaled("scale-insert-many") == nil)
  }
}

extension Results {
  fileprivate static var example: Results {
    let contenders = ["engine", "sqlite"]
    func figure(_ workload: String, _ metric: Metric, _ values: [Double]) -> [Reporting.Measurement]
    {
      zip(contenders, values).map { contender, value in
        Reporting.Measurement(
          group: "peers",
          workload: workload,
          contender: contender,
          metric: metric.rawValue,
          median: value,
          min: value * 0.9,
          max: value * 1.1,
          runs: 3,
          settings: contender == "sqlite" ? "WAL <wal> & more" : "defaults",
          durability: workload == "durable-1" ? .full : nil
        )
      }
    }
    let durations = LatencyHistogram((1...1000).map { $0 * 1000 })
    let figures = [
      figure("durable-1", .rowsPerSecond, [4000, 1000]),
      figure("size", .bytesPerRow, [200, 171]),
      figure("scale-insert-1000", .rowsPerSecond, [4000, 1000]),
      figure("scale-insert-10000", .rowsPerSecond, [4000, 500]),
    ]
    return Results(
      figures.flatMap(\.self),
      contenders.map { contender in
        let points = [0.0, 0.5, 0.9, 1].map { ($0, Double(durations.percentile($0)) / 1000) }
        return LatencyDistribution(
          group: "peers",
          workload: "durable-1",
          contender: contender,
          count: durations.count,
          shares: points.map(\.0),
          microseconds: points.map(\.1)
        )
      },
      [Contender.engine, .sqlite].map { contender in
        var timeline = Timeline("peers", .durable1, contender)
        timeline.rowsPerSecond = [4000, 3900, 0]
        timeline.longestMicroseconds = [250, 1000, 20_000]
        return timeline
      },
      circumstances: "two processors"
    )
  }
}
