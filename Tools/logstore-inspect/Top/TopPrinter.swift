import LogEngine
import Terminal

/// Shows samples of a store: as a screen that is drawn anew, as lines, or as items.
struct TopPrinter {
  private let path: String
  private let console: Console
  private let format: OutputFormat
  private var items: ItemPrinter?
  private var isFirst = true
  /// Commits per second, newest last.
  private var speeds: [Double] = []
  private var lastCompaction: (words: String, time: Int64)?

  init(_ path: String, _ format: OutputFormat, _ console: Console) {
    self.path = path
    self.console = console
    self.format = format
    if format != .text { items = ItemPrinter(console, format, fields: Self.fields) }
  }

  /// Shows the present state of a store, and its pace since the sample before.
  ///
  /// - Parameters:
  ///   - sample: The store now.
  ///   - previous: The sample before; `nil` at first, when there is no pace yet.
  mutating func print(_ sample: StoreSample, after previous: StoreSample?) {
    let pace = previous.map { StorePace(from: $0, to: sample) }
    if let pace {
      if let speed = pace.commitsPerSecond { speeds = (speeds + [speed]).suffix(Self.graphWidth) }
      if let words = pace.compaction { lastCompaction = (words, sample.time) }
    }
    switch format {
    case .text where console.screen.isRedrawn: printScreen(sample, pace)
    case .text: printLine(sample, pace)
    case .json, .ndjson, .csv:
      let item = item(sample, pace)
      items?.print(item)
    }
    console.flush()
    isFirst = false
  }

  func end() { items?.end() }
}

// MARK: The screen

extension TopPrinter {
  /// Number of intervals that the graph shows.
  private static let graphWidth = 48
  /// Number of lines of the screen that are not an entity's.
  private static let otherLineCount = 19

  private func printScreen(_ sample: StoreSample, _ pace: StorePace?) {
    // To the corner, and away with what is below: no blank screen between two.
    console.line("\u{1B}[H\u{1B}[J" + console.styled(path, .bold) + "  \(instant(sample.time))")
    console.line()
    console.print(figures(sample, pace))
    if let highest = speeds.max() {
      console.line()
      console.clippedLine("commits/s  \(graph(highest))  highest \(highest.pace)")
    }
    if let (words, time) = lastCompaction {
      console.clippedLine("compacted  \(words), \((sample.time - time).age) ago")
    }
    console.line()
    console.print(entities(sample, pace))
  }

  private func figures(_ sample: StoreSample, _ pace: StorePace?) -> TextTable {
    var table = TextTable([.init(""), .init("now", .right), .init("per second", .right)])
    table.append([
      "commits", sample.commit.grouped, pace?.commitsPerSecond?.pace ?? "–",
    ])
    table.append(["rows", sample.rowCount.grouped, pace?.perSecond(\.rowCount)?.signedPace ?? "–"])
    table.append([
      "log", sample.logByteCount.byteCount, pace?.perSecond(\.logByteCount)?.bytePace ?? "–",
    ])
    table.append(["on disk", sample.fileByteCount.byteCount])
    table.append(["  live", sample.liveByteCount.byteCount])
    table.append(["  history", sample.historyByteCount.byteCount])
    table.append(["  dead", sample.deadByteCount.byteCount])
    table.append(["segments", sample.segments.count.grouped])
    table.append(["packs", sample.packs.count.grouped])
    return table
  }

  private func entities(_ sample: StoreSample, _ pace: StorePace?) -> TextTable {
    var table = TextTable([
      .init("entity"), .init("rows", .right), .init("per second", .right),
    ])
    let rows = (pace ?? StorePace(from: sample, to: sample)).rows
    // Further rows would push the screen's head out of sight.
    let limit = max((console.screen.height ?? 24) - Self.otherLineCount, 1)
    for row in rows.prefix(limit) {
      table.append([row.entity.printable, row.count.grouped, row.perSecond?.signedPace ?? "–"])
    }
    if rows.count > limit {
      let rest = rows.dropFirst(limit)
      table.append([
        rest.count == 1 ? "1 more entity" : "\(rest.count.grouped) more entities",
        rest.reduce(0) { $0 + $1.count }.grouped,
      ])
    }
    return table
  }

  /// A bar of eight heights for each interval.
  private func graph(_ highest: Double) -> String {
    let bars = Array("▁▂▃▄▅▆▇█")
    return String(
      speeds.map { speed in
        if speed <= 0 || highest <= 0 { return " " }
        return bars[min(Int(speed / highest * Double(bars.count)), bars.count - 1)]
      }
    )
  }
}

// MARK: Lines and items

extension TopPrinter {
  private static let columns = [
    ("time", 20), ("commits", 13), ("commits/s", 10), ("rows", 13), ("rows/s", 10),
    ("log/s", 11), ("on disk", 11), ("live", 11), ("dead", 11), ("segments", 9), ("packs", 6),
  ]

  private func printLine(_ sample: StoreSample, _ pace: StorePace?) {
    if isFirst { console.line(aligned(Self.columns.map(\.0))) }
    console.line(
      aligned([
        instant(sample.time), sample.commit.grouped, pace?.commitsPerSecond?.pace ?? "–",
        sample.rowCount.grouped, pace?.perSecond(\.rowCount)?.signedPace ?? "–",
        pace?.perSecond(\.logByteCount)?.bytePace ?? "–", sample.fileByteCount.byteCount,
        sample.liveByteCount.byteCount, sample.deadByteCount.byteCount,
        sample.segments.count.grouped, sample.packs.count.grouped,
      ])
    )
    if let words = pace?.compaction { console.line("compacted \(words)") }
  }

  /// Cells in columns of a width that is known before the lines are.
  private func aligned(_ cells: [String]) -> String {
    zip(cells, Self.columns).enumerated()
      .map { index, cell in
        index == 0 ? cell.0.padding(to: cell.1.1) : cell.0.leftPadding(to: cell.1.1)
      }
      .joined(separator: " ")
  }

  private static let fields = [
    "time", "commit", "commits_per_second", "rows", "rows_per_second", "log_bytes",
    "log_bytes_per_second", "file_bytes", "live_bytes", "history_bytes", "dead_bytes", "segments",
    "packs",
  ]

  private func item(_ sample: StoreSample, _ pace: StorePace?) -> JSONValue {
    func speed(_ speed: Double?) -> JSONValue { speed.map { .double($0) } ?? .null }
    func count(_ count: Int) -> JSONValue { .integer(Int64(count)) }
    return [
      "time": .string(Timestamp(microseconds: sample.time).description),
      "commit": .unsigned(sample.commit), "commits_per_second": speed(pace?.commitsPerSecond),
      "rows": count(sample.rowCount), "rows_per_second": speed(pace?.perSecond(\.rowCount)),
      "log_bytes": count(sample.logByteCount),
      "log_bytes_per_second": speed(pace?.perSecond(\.logByteCount)),
      "file_bytes": count(sample.fileByteCount), "live_bytes": count(sample.liveByteCount),
      "history_bytes": count(sample.historyByteCount), "dead_bytes": count(sample.deadByteCount),
      "segments": count(sample.segments.count), "packs": count(sample.packs.count),
    ]
  }

  /// A time to the second.
  private func instant(_ microseconds: Int64) -> String {
    Timestamp(seconds: Double(microseconds / 1_000_000) - 978_307_200).description
  }
}

extension Double {
  /// The number in a second.
  fileprivate var pace: String {
    abs(self) < 10 && self != rounded() ? fixed(1) : Int(rounded()).grouped
  }

  /// The signed number in a second.
  fileprivate var signedPace: String { self > 0 ? "+" + pace : pace }

  /// The number of bytes in a second.
  fileprivate var bytePace: String { Int(rounded()).byteCount }
}
