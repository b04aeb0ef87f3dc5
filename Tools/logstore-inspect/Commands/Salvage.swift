import ArgumentParser
import LogEngine
import LogTools
import RowFormat
import Terminal

/// Copies the readable part of a damaged store.
struct SalvageCommand: InspectCommand {
  static let configuration = CommandConfiguration(
    commandName: "salvage",
    abstract: "Copies what can be read of a damaged store to a new one.",
    discussion: """
      Every frame and record with the right checksum is read, beyond any damage, and each row is put together \
      from the newest of its records with which that works. The new store has the old one's entities and keys, \
      and no history. The damaged store is not written to; no other process should write to it either. \
      If anything was lost, the exit code is 2 and the list says what. If nothing could be saved, no store is made. A file \
      that the system refuses to let be read is not lost: then the exit code is 1.

      EXAMPLES:
        logstore-inspect salvage trips.store saved.store
        logstore-inspect salvage trips.store saved.store --format json > lost.json

      \(ExitStatus.help)
      """
  )

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  @Argument(
    help: "The folder of the new store: nothing, or an empty folder, may be there.",
    completion: .directory
  )
  var destination: String

  var path: String { store.path }

  func validate() throws { try StorePath.checkDestination(destination) }

  func run(in console: Console) throws {
    try OutputPlace(destination, on: console.fileSystem).checkFolders()
    let report = try salvage(in: console)
    switch output.format {
    case .text: printText(report, console)
    case .json, .ndjson: console.line(item(report).text)
    case .csv: tables(report).printItems(to: console, .csv)
    }
    if !report.isComplete {
      throw ToolError(
        "not everything could be saved",
        place: destination,
        advice: "look at what is missing before the new store takes the place of the old",
        status: .damaged
      )
    }
  }

  private func salvage(in console: Console) throws -> SalvageReport {
    do {
      return try StorageEngine.salvage(
        at: StorePath.normalized(path),
        to: StorePath.normalized(destination),
        fileSystem: console.fileSystem,
        reads: store.reads,
        progress: console.makeProgress()
      )
    } catch StorageError.corruption(let corruption) {
      var error = ToolError(.corruption(corruption), at: path)
      error.what = "nothing could be saved: \(StorageError.corruption(corruption).words)"
      error.advice = "restore the store from a copy; nothing was made"
      throw error
    }
  }

  private func tables(_ report: SalvageReport) -> Listing {
    var listing = Listing([
      .init(title: "entity", name: "entity"),
      .init(title: "saved", name: "saved", alignment: .right),
      .init(title: "older version", name: "stale", alignment: .right),
      .init(title: "lost", name: "lost", alignment: .right),
      .init(title: "keys unseen", name: "unseen_keys", alignment: .right),
    ])
    for table in report.tables {
      listing.append([
        .text(table.name), .count(table.rowCount), .count(table.stale.count),
        .count(table.lost.count), .count(table.unseenKeyCount),
      ])
    }
    return listing
  }

  private func names(_ rows: [RowReference], _ table: SalvagedTable) -> [String] {
    rows.map { "\(table.name)/\($0.key)" }
  }
}

// MARK: Printing

extension SalvageCommand {
  private func printText(_ report: SalvageReport, _ console: Console) {
    console.line(
      "\(destination) has what could be read of \(path): "
        + "\(report.commitCount.counted("commit")), up to \(report.lastCommit.rawValue)"
    )
    console.line()
    console.print(tables(report).table())
    let losses = losses(report)
    if !losses.isEmpty { console.line() }
    for loss in losses { console.line(loss) }
  }

  /// The missing parts, a line each.
  private func losses(_ report: SalvageReport) -> [String] {
    var lines: [String] = []
    for error in report.damage {
      lines.append("\(error.words), in \(ToolError(error, at: path).place ?? path)")
    }
    for lost in report.lostBytes {
      lines.append(
        "\(lost.range.count.counted("byte")) without a commit, in \(lost.path), "
          + "byte \(lost.range.lowerBound)"
      )
    }
    for range in report.lostCommits {
      let isOne = range.lowerBound == range.upperBound
      let last = isOne ? "" : " to \(range.upperBound.rawValue)"
      lines.append("commit\(isOne ? "" : "s") \(range.lowerBound.rawValue)\(last): nothing found")
    }
    for commit in report.partialCommits {
      lines.append("commit \(commit.rawValue): only a part found")
    }
    if !report.isCatalogueComplete {
      lines.append("the schema: changes are missing, entities and columns may be, too")
    }
    for table in report.tables {
      lines += names(table.stale, table).map { "\($0.printable): an older version was saved" }
      lines += names(table.lost, table).map { "\($0.printable): lost" }
    }
    for blob in report.lostBlobs {
      let table = report.tables.first { $0.number == blob.owner.table }?.name
      let name = table ?? "table \(blob.owner.table)"
      lines.append(
        "\(name.printable)/\(blob.owner.key): blob \(blob.reference.id.rawValue) of "
          + "\(blob.reference.byteCount.byteCount) lost"
      )
    }
    return lines
  }

  private func item(_ report: SalvageReport) -> JSONValue {
    let tables = report.tables.map { table -> JSONValue in
      [
        "entity": .string(table.name), "saved": .integer(Int64(table.rowCount)),
        "stale": .array(names(table.stale, table).map(JSONValue.string)),
        "lost": .array(names(table.lost, table).map(JSONValue.string)),
        "unseen_keys": .integer(Int64(table.unseenKeyCount)),
      ]
    }
    let commits = report.lostCommits.map { range -> JSONValue in
      .array([.unsigned(range.lowerBound.rawValue), .unsigned(range.upperBound.rawValue)])
    }
    return [
      "store": .string(path), "copy": .string(destination),
      "complete": .bool(report.isComplete), "commits": .integer(Int64(report.commitCount)),
      "last_commit": .unsigned(report.lastCommit.rawValue), "lost_commits": .array(commits),
      "partial_commits": .array(report.partialCommits.map { .unsigned($0.rawValue) }),
      "schema_complete": .bool(report.isCatalogueComplete), "entities": .array(tables),
      "lost_blobs": .array(report.lostBlobs.map { .unsigned($0.reference.id.rawValue) }),
      "losses": .array(losses(report).map(JSONValue.string)),
    ]
  }
}
