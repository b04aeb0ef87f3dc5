import LogEngine
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

@Suite struct `A report` {
  private func makeCompactedStore() throws -> TownStore {
    let store = try TownStore()
    try store.write { engine in try store.addTowns(60, nameByteCount: 1000, to: engine) }
    _ = try Session(disk: store.disk).run("compact", store.path)
    return store
  }

  @Test func `is the page it was before`() throws {
    let store = try TownStore()
    let result = try Session(disk: store.disk).run("report", store.path, "--html", "-")
    #expect(result.status == .success)
    try expectSnapshot(result.transcript, "report-html")
  }

  @Test func `has compactions`() throws {
    let store = try makeCompactedStore()
    let result = try Session(disk: store.disk).run("report", store.path, "--html", "-")
    #expect(result.status == .success)
    try expectSnapshot(result.transcript, "report-compacted-html")
  }

  @Test func `is an object for programs`() throws {
    let store = try makeCompactedStore()
    let result = try Session(disk: store.disk).run("report", store.path, "--format", "json")
    #expect(result.status == .success)
    try expectSnapshot(result.transcript, "report-json")
  }

  @Test func `of a damaged store says so, and shows the rest`() throws {
    let store = try TownStore()
    try store.disk.harm(store.segmentPath(1), at: 4884)
    let result = try Session(disk: store.disk).run("report", store.path, "--html", "-")
    #expect(result.status == .damaged)
    #expect(result.output.contains("<h2>Damaged</h2>"))
    try expectSnapshot(result.transcript, "report-damaged-html")
  }

  @Test func `needs nothing but itself`() throws {
    let store = try makeCompactedStore()
    let page = try Session(disk: store.disk).run("report", store.path, "--html", "-").output
    for word in ["http:", "https:", "src=", "href=", "<script", "@import", "url("] {
      #expect(!page.contains(word), "\(word)")
    }
  }

  @Test func `closes every tag it opens`() throws {
    let store = try makeCompactedStore()
    let page = try Session(disk: store.disk).run("report", store.path, "--html", "-").output
    var open: [String] = []
    for match in page.matches(of: /<(\/?)([a-zA-Z0-9]+)[^>]*?(\/?)>/) {
      let name = String(match.2)
      if ["meta"].contains(name) || !match.3.isEmpty { continue }
      if match.1.isEmpty {
        open.append(name)
      } else {
        #expect(open.popLast() == name)
      }
    }
    #expect(open.isEmpty)
  }

  @Test func `shows names as they are, whatever they are`() throws {
    let disk = SteadyFileSystem()
    let engine = try StorageEngine.open(
      at: "a.store",
      options: TownStore.options(),
      fileSystem: disk
    )
    try engine.apply([.addTable(name: "<script>alert('&\"')</script>\u{1}")])
    try engine.close()
    let page = try Session(disk: disk).run("report", "a.store", "--html", "-").output
    #expect(page.contains("&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;�"))
    #expect(!page.contains("<script>"))
  }

  @Test(arguments: [
    (1, 1000, 1), (7, 1000, 8), (999, 1000, 1000), (1000, 1000, 1000), (1001, 1000, 1500),
    (32_080, 1000, 40_000), (1_000_001, 1000, 1_500_000), (1024, 1024, 1024),
    (1025, 1024, 1536), (7_100_000, 1024, 8 << 20), (900 << 10, 1024, 1 << 20),
  ])
  func `ends an axis at an amount that reads well`(amount: Int, unit: Int, end: Int) {
    #expect(AreaChart.roundedUp(amount, unit: unit) == end)
  }

  @Test(arguments: [0, 1, 9, 10, 11, 100, 1001])
  func `thins out a long curve evenly, and keeps its ends`(count: Int) {
    var thinned = Thinned<Int>(limit: 10)
    for number in 0..<count { thinned.append(number) }
    let kept = thinned.elements
    #expect(kept.first == (count == 0 ? nil : 0))
    #expect(kept.last == (count == 0 ? nil : count - 1))
    #expect(kept.count <= 12 && kept == kept.sorted() && Set(kept).count == kept.count)
    let steps = Set(zip(kept, kept.dropFirst()).dropLast().map { $1 - $0 })
    #expect(steps.count <= 1)
  }
}

@Suite struct `A report on figures that cannot be` {
  private static let points: [(time: Int64, amount: Int)] = [
    (.min, .min), (.max, .max), (0, 0), (.max, 0), (.min, .max),
  ]

  @Test(arguments: [1000, 1024])
  func `draws them all the same`(unit: Int) {
    for end in 1...Self.points.count {
      let chart = AreaChart(
        title: "Rows",
        name: "live",
        points: Array(Self.points.prefix(end)),
        unit: unit,
        words: { "\($0)" }
      )
      #expect(chart.markup.contains("<figure>"))
    }
  }

  @Test(arguments: [
    (Double.nan, 0), (.infinity, Int.max), (-.infinity, .min), (1e300, .max), (-1e300, .min),
    (41.9, 41), (-41.9, -41), (9.3e18, .max),
  ])
  func `turns what no whole number holds into the nearest`(value: Double, expected: Int) {
    #expect(Int(clamping: value) == expected)
  }
}
