import ArgumentParser
import LogEngine
import LogTools
import RowFormat
import Terminal

/// Checks every file of a store.
struct Verify: InspectCommand {
  static let configuration = CommandConfiguration(
    abstract: "Checks all of a store: checksums, index against log, references, orphans.",
    discussion: """
      Reads every byte, replays the log from its beginning, puts every row together, compares the index with \
      what was found, and looks for rows that refer to rows that are not there, or of another entity, and for files nobody needs. \
      Takes no lock: a process may be writing. Damage ends with exit code 2, a file that the system refuses to let be read \
      with 1; what a crash leaves and the next \
      writer clears away is named, and harmless. So are such references, and relationships whose ends contradict each \
      other: no byte is wrong, yet an app may not expect them, and reads a reference to another entity as nil. Of many \
      problems of one kind the first are shown; --format ndjson lists all.

      EXAMPLES:
        logstore-inspect verify trips.store
        logstore-inspect verify trips.store --format ndjson
        logstore-inspect verify trips.store && echo sound

      \(ExitStatus.help)
      """
  )

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  var path: String { store.path }

  func run(in console: Console) throws {
    let path = StorePath.normalized(path)
    try requireStore(at: path, console)
    let report = try StorageEngine.verify(
      at: path,
      fileSystem: console.fileSystem,
      reads: store.reads,
      progress: console.makeProgress()
    )
    let opened = try? InspectedStore(store, .all, in: console)
    let references = try opened.map { try ReferenceCheck($0) }
    let ends = try opened.map { try EndCheck($0) }
    let problems =
      report.problems.map { ProblemDescription($0, opened) }
      + (references?.problems.map { ProblemDescription($0, opened) } ?? [])
      + (ends?.contradictions.map { ProblemDescription($0, opened) } ?? [])
    switch output.format {
    case .text: printText(report, references, problems, console)
    case .json: console.line(item(report, references, problems).text)
    case .ndjson, .csv:
      var items = ItemPrinter(console, output.format, fields: ProblemDescription.fields)
      for problem in problems { items.print(problem.item) }
      items.end()
    }
    let damageCount = problems.count { $0.severity == .damage }
    if damageCount > 0 {
      throw ToolError(
        "the store is damaged: \(damageCount.counted("problem"))",
        place: path,
        advice: "restore it from a copy, or `logstore-inspect salvage` what can be read",
        status: .damaged
      )
    }
  }

  /// Refuses a folder in which nothing looks like a store: to call it sound would mislead.
  private func requireStore(at path: String, _ console: Console) throws {
    let inspection = StoreInspection(at: path, fileSystem: console.fileSystem)
    if try inspection.manifests().isEmpty, try inspection.segments().isEmpty {
      throw StorageError.missingStore(path: path)
    }
  }

  private func printText(
    _ report: VerificationReport,
    _ references: ReferenceCheck?,
    _ problems: [ProblemDescription],
    _ console: Console
  ) {
    printProblems(problems, console)
    if !problems.isEmpty { console.line() }
    var table = TextTable([.init("", .right), .init("")])
    table.append([report.fileCount.grouped, "files, \(report.byteCount.byteCount)"])
    table.append([
      report.frameCount.grouped, "frames in \(report.segmentCount.counted("segment"))",
    ])
    table.append([
      report.commitCount.grouped, "commits; the last is \(report.lastCommit.rawValue)",
    ])
    table.append([report.recordCount.grouped, "records"])
    table.append([report.rowCount.grouped, "rows"])
    if let references { table.append([references.count.grouped, "references between rows"]) }
    table.append([report.blobCount.grouped, "blobs"])
    console.print(table)
    console.line()
    let notes = problems.count { $0.severity == .harmless }
    let extra = notes == 0 ? "" : ", \(notes.counted("harmless note"))"
    console.line(
      report.isSound
        ? console.styled("sound", .green) + extra : console.styled("damaged", .red) + extra
    )
  }

  /// Limit of the number of problems of a kind that are shown; one damaged frame can move every row of a table.
  private static let groupLimit = 4

  private func printProblems(_ problems: [ProblemDescription], _ console: Console) {
    var counts: [String: Int] = [:]
    for problem in problems {
      if let group = problem.group { counts[group, default: 0] += 1 }
    }
    var shown: [String: Int] = [:]
    for problem in problems {
      let style: Style = problem.severity == .damage ? .red : .yellow
      let word = console.styled(problem.severity == .damage ? "damage" : "note", style)
      guard let group = problem.group, let count = counts[group], count > Self.groupLimit + 1
      else {
        console.line("\(word)  \(problem.text)")
        continue
      }
      shown[group, default: 0] += 1
      if shown[group, default: 0] <= Self.groupLimit { console.line("\(word)  \(problem.text)") }
      if shown[group] == count {
        let more = (count - Self.groupLimit).grouped
        console.line("\(word)  … and \(more) more like it, the last: \(problem.text)")
      }
    }
  }

  private func item(
    _ report: VerificationReport,
    _ references: ReferenceCheck?,
    _ problems: [ProblemDescription]
  ) -> JSONValue {
    [
      "store": .string(path), "sound": .bool(report.isSound),
      "files": .integer(Int64(report.fileCount)), "bytes": .integer(Int64(report.byteCount)),
      "segments": .integer(Int64(report.segmentCount)),
      "frames": .integer(Int64(report.frameCount)),
      "commits": .integer(Int64(report.commitCount)),
      "records": .integer(Int64(report.recordCount)), "rows": .integer(Int64(report.rowCount)),
      "references": references.map { .integer(Int64($0.count)) } ?? .null,
      "blobs": .integer(Int64(report.blobCount)),
      "last_commit": .unsigned(report.lastCommit.rawValue),
      "problems": .array(problems.map(\.item)),
    ]
  }
}
