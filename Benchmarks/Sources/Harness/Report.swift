import Foundation

/// Collects the standings, prints each as it arrives, and writes them where they are asked for.
public final class Report {
  private let plan: Plan
  private var measurements: [Measurement] = []
  private var distributions: [LatencyDistribution] = []
  private var timelines: [Timeline] = []
  private var lines: [ReportLine] = []

  public init(_ plan: Plan) {
    self.plan = plan
    print(ReportLine.header.aligned)
  }

  /// Adds the standings of finished rounds.
  public func add(_ standings: [Standing]) {
    let new = standings.flatMap(\.lines)
    for line in new { print(line.aligned) }
    fflush(nil)
    lines += new
    measurements += standings.flatMap { $0.measurements(in: plan.group) }
    distributions += standings.compactMap { $0.distribution(in: plan.group) }
  }

  /// Adds how a contender did second by second.
  public func add(_ timeline: Timeline) { timelines.append(timeline) }

  /// Says that a contender is missing, and why.
  public func note(_ text: String) {
    print(text)
    notes.append(text)
  }

  private var notes: [String] = []

  /// Writes the results: behind those other groups have left in the file, and as Markdown.
  ///
  /// - Throws: What the file system throws.
  public func finish() throws {
    if let file = plan.jsonFile { try extend(file, with: measurements) }
    if let file = plan.latencyFile { try extend(file, with: distributions) }
    if let file = plan.timelineFile { try extend(file, with: timelines) }
    if let file = plan.markdownFile { try write(file) }
  }

  private func extend<Entry: Codable>(_ file: URL, with entries: [Entry]) throws {
    let decoder = JSONDecoder()
    let earlier =
      FileManager.default.fileExists(atPath: file.path)
      ? try decoder.decode([Entry].self, from: Data(contentsOf: file)) : []
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try encoder.encode(earlier + entries).write(to: file, options: .atomic)
  }

  private func write(_ file: URL) throws {
    let rule = ReportLine.header.cells.map { _ in "---" }.joined(separator: " | ")
    var settings: [String] = []
    for measurement in measurements {
      let text = "- \(measurement.contender): \(measurement.settings)"
      if !settings.contains(text) { settings.append(text) }
    }
    let text =
      ["# \(plan.title)", "", ReportLine.header.markdown, "| \(rule) |"] + lines.map(\.markdown)
      + [""] + settings + notes.map { "- \($0)" } + [""]
    try Data(text.joined(separator: "\n").utf8).write(to: file, options: .atomic)
  }
}
