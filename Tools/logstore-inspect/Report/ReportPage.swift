import LogEngine
import LogTools
import Terminal

/// A report as one page that needs nothing else: no script, no font, no network.
struct ReportPage {
  private let report: StoreReport
  private var html = HTML()

  init(_ report: StoreReport) { self.report = report }

  /// The page.
  mutating func render() -> String {
    let name = HTML.escaped(report.map.path.split(separator: "/").last.map(String.init) ?? "store")
    html.raw("<!doctype html>")
    html.raw("<html lang=\"en\"><head><meta charset=\"utf-8\">")
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
    html.raw("<meta name=\"color-scheme\" content=\"light dark\">")
    html.raw("<title>\(name) – logstore-inspect</title>")
    html.raw("<style>\(ReportStyle.sheet)</style></head><body><main>")
    html.raw("<header><h1>\(name)</h1><p>\(HTML.escaped(report.map.path))</p></header>")
    addDamage()
    addFigures()
    addFiles()
    addGrowth()
    addRecordSizes()
    addEntities()
    addCompactions()
    let time = Timestamp(microseconds: report.now)
    html.raw("<footer>Made by logstore-inspect report at \(time)</footer>")
    html.raw("</main></body></html>")
    return html.text
  }

  private mutating func addDamage() {
    var errors = report.map.entries.compactMap(\.damage)
    if let damage = report.map.store?.damage, !errors.contains(damage) { errors.append(damage) }
    if errors.isEmpty, report.map.store != nil { return }
    html.raw("<section class=\"warning\"><h2>Damaged</h2><ul>")
    for error in errors {
      let place = ToolError(error, at: report.map.path).place ?? report.map.path
      html.raw("<li>\(HTML.escaped("\(error.words), in \(place)"))</li>")
    }
    if report.map.store == nil { html.raw("<li>The store cannot be opened.</li>") }
    html.raw("</ul><p>What follows is what can be read.</p></section>")
  }

  private mutating func addFigures() {
    let total = report.map.usage?.total
    let rows = report.entities.reduce(0) { $0.addingClamped($1.rowCount) }
    var tiles = [
      ("rows", rows.grouped), ("on disk", report.map.files.byteCount.byteCount),
      ("files", report.map.files.count.grouped),
      ("last commit", (report.map.store?.view.sequence.rawValue ?? 0).grouped),
    ]
    if let total {
      tiles += [
        ("live", total.liveByteCount.byteCount), ("history", total.historyByteCount.byteCount),
        ("dead", total.deadByteCount.byteCount),
      ]
    }
    if let oldest = report.map.usage?.oldestCommit.rawValue {
      tiles.append(("oldest commit", oldest.grouped))
    }
    html.raw("<section class=\"tiles\">")
    for (label, figure) in tiles {
      html.raw("<div><b>\(HTML.escaped(figure))</b><span>\(label)</span></div>")
    }
    html.raw("</section>")
  }
}

// MARK: Files

extension ReportPage {
  private static let fileLimit = 256

  private mutating func addFiles() {
    html.raw("<section><h2>Files</h2>")
    let legend = [
      ("live", "needed by the newest rows"), ("history", "by earlier commits that can be read"),
      ("dead", "by nothing"), ("other", "headers, indexes, blobs"), ("free", "not written yet"),
    ]
    let marks = legend.map { name, words in
      "<li><i class=\"\(name)\"></i><b>\(name)</b> \(words)</li>"
    }
    html.raw("<ul class=\"legend\">\(marks.joined())</ul>")
    let entries = report.map.entries
    let scale = entries.map(\.fileByteCount).max() ?? 0
    html.raw("<div class=\"bars\">")
    for entry in entries.prefix(Self.fileLimit) {
      let bar = Bar(pieces: Self.pieces(of: entry), scale: scale)
      let commits = entry.commits.map { range in
        range.lowerBound == range.upperBound
          ? "commit \(range.lowerBound)" : "commits \(range.lowerBound)–\(range.upperBound)"
      }
      html.raw(
        "<span class=\"name\">\(HTML.escaped(entry.name))"
          + "<small>\(HTML.escaped(commits ?? entry.state))</small></span>"
          + "\(bar.markup)<span class=\"figure\">\(entry.fileByteCount.byteCount)</span>"
      )
    }
    html.raw("</div>")
    if entries.count > Self.fileLimit {
      html.raw("<p>… and \((entries.count - Self.fileLimit).counted("more file"))</p>")
    }
    html.raw("</section>")
  }

  /// The pieces of a file by use; in a pack, where rows are compressed, in proportion.
  private static func pieces(of entry: StoreMap.Entry) -> [Bar.Piece] {
    guard let usage = entry.usage, usage.recordByteCount > 0 || entry.kind == .segment else {
      return [
        .init(name: "other", amount: entry.fileByteCount, words: entry.fileByteCount.byteCount)
      ]
    }
    let free = entry.freeByteCount ?? 0
    let isPack = entry.kind == .pack
    let record = max(usage.recordByteCount, 1)
    func share(_ amount: Int) -> Int {
      isPack ? Int(clamping: Double(entry.fileByteCount) * Double(amount) / Double(record)) : amount
    }
    let parts = [
      ("live", usage.liveByteCount), ("history", usage.historyByteCount),
      ("dead", usage.deadByteCount),
    ]
    var pieces = parts.map { Bar.Piece(name: $0, amount: share($1), words: $1.byteCount) }
    let used = pieces.reduce(free) { $0.addingClamped($1.amount) }
    let other = isPack ? 0 : max(0, entry.fileByteCount.subtractingClamped(used))
    pieces.append(.init(name: "other", amount: other, words: other.byteCount))
    pieces.append(.init(name: "free", amount: free, words: free.byteCount))
    return pieces
  }
}

// MARK: Log

extension ReportPage {
  private mutating func addGrowth() {
    html.raw("<section><h2>Growth</h2>")
    let points = report.growth.elements
    if points.isEmpty {
      html.raw("<p>No commit is in the log.</p></section>")
      return
    }
    html.raw("<div class=\"charts\">")
    let bytes = AreaChart(
      title: "Written to the log",
      name: "other",
      points: points.map { ($0.time, $0.logByteCount) },
      unit: 1024,
      words: \.byteCount
    )
    let rows = AreaChart(
      title: "Rows",
      name: "live",
      points: points.map { ($0.time, $0.rowCount) },
      unit: 1000,
      words: \.grouped
    )
    html.raw(bytes.markup)
    html.raw(rows.markup)
    html.raw("</div>")
    if let packed = report.packedThrough {
      html.raw("<p>Commits up to \(packed.grouped) were packed: the picture begins after them.</p>")
    }
    html.raw("</section>")
  }

  private mutating func addRecordSizes() {
    html.raw("<section><h2>Record sizes</h2>")
    guard let powers = report.records.powers else {
      html.raw("<p>No record is in the log.</p></section>")
      return
    }
    let mean = report.records.byteCount / max(report.records.count, 1)
    html.raw(
      "<p>\(report.records.count.counted("record")) in the log, "
        + "\(mean.byteCount) on average.</p>"
    )
    let kinds: [RecordKind] = [.insert, .fullImage, .delta, .delete, .catalogue]
    let marks = kinds.map { "<li><i class=\"\($0)\"></i><b>\($0.name)</b></li>" }
    html.raw("<ul class=\"legend\">\(marks.joined())</ul><div class=\"bars\">")
    let scale = powers.map { report.records.counts[$0]?.values.reduce(0, +) ?? 0 }.max() ?? 0
    for power in powers {
      let counts = report.records.counts[power] ?? [:]
      let pieces = kinds.map { kind in
        let count = counts[kind] ?? 0
        return Bar.Piece(name: "\(kind)", amount: count, words: count.grouped)
      }
      let count = counts.values.reduce(0, +)
      html.raw(
        "<span class=\"name\">up to \((1 << power).byteCount.replacing(".0", with: ""))</span>"
          + "\(Bar(pieces: pieces, scale: scale).markup)<span class=\"figure\">\(count.grouped)</span>"
      )
    }
    html.raw("</div></section>")
  }
}

// MARK: Tables

extension ReportPage {
  private mutating func addEntities() {
    html.raw("<section><h2>Entities</h2><div class=\"scroll\">")
    let titles = [
      "entity", "rows", "inserted", "updated", "deleted", "live", "history", "dead", "bytes/row",
    ]
    let rows = report.entities.map { entity -> [String] in
      let usage = entity.usage
      return [
        entity.name, entity.rowCount.grouped, entity.insertCount.grouped,
        entity.updateCount.grouped, entity.deleteCount.grouped, usage.liveByteCount.byteCount,
        usage.historyByteCount.byteCount, usage.deadByteCount.byteCount,
        entity.rowCount > 0 ? (usage.liveByteCount / entity.rowCount).grouped : "–",
      ]
    }
    html.table(titles, rows)
    html.raw("</div>")
    html.raw("<p>Inserted, updated and deleted count what the log still has.</p></section>")
  }

  private mutating func addCompactions() {
    html.raw("<section><h2>Compactions</h2>")
    if report.compactions.isEmpty {
      html.raw("<p>The store was never compacted, or nothing of it is left.</p></section>")
      return
    }
    let titles = ["made", "pack", "commits", "rows", "as records", "packed", "of it"]
    let rows = report.compactions.map { pack -> [String] in
      let raw = pack.recordByteCount ?? 0
      let share = Double(pack.fileByteCount) / Double(max(raw, 1)) * 100
      return [
        pack.created.map {
          "\(Timestamp(microseconds: $0))".prefix(19).replacing("T", with: " ") + " UTC"
        }
          ?? "–",
        "\(pack.number ?? 0)", pack.commits.map { "\($0.lowerBound)–\($0.upperBound)" } ?? "–",
        pack.rowCount?.grouped ?? "–", raw.byteCount, pack.fileByteCount.byteCount,
        raw > 0 ? share.fixed(0) + " %" : "–",
      ]
    }
    html.raw("<div class=\"scroll\">")
    html.table(titles, rows)
    html.raw("</div></section>")
  }
}
