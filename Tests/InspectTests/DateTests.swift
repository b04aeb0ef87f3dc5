import LogEngine
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

/// Two stores of a message each, sent within the same microsecond, as apps on Linux tell the time.
@Suite struct `Dates of which microseconds do not tell all` {
  private let session: Session
  private static let sent = 785_944_800.123_456_7

  init() throws {
    let disk = SteadyFileSystem()
    for (path, sent) in [("a.store", Self.sent), ("b.store", Self.sent.nextUp)] {
      var options = EngineOptions()
      options.background = .caller
      let engine = try StorageEngine.open(at: path, options: options, fileSystem: disk)
      try engine.apply([
        .addTable(name: "Message"),
        .addColumn(table: 1, name: "sentAt", type: .date, isNullable: false),
        .setLayout(table: 1, columns: [1]),
      ])
      var writer = RowWriter()
      writer.begin(RowLayout([.date]))
      writer.set(0, double: sent)
      let range = writer.finish()
      var batch = engine.makeBatch()
      batch.insert(
        RowReference(table: 1, key: 1),
        layout: .init(1),
        row: writer.bytes.extracting(range)
      )
      try engine.commit(&batch)
      try engine.close()
    }
    session = Session(disk: disk)
  }

  /// The date in what a command shows.
  private func date(in output: String) throws -> String {
    let match = try #require(output.firstMatch(of: /\d{4}-\d\d-\d\dT[\d:.]+Z/), "\(output)")
    return String(match.output)
  }

  @Test(
    arguments: [
      ["query", "a.store", "Message", "--columns", "sentAt"],
      ["query", "a.store", "Message", "--columns", "max(sentAt)"],
      ["dump", "a.store", "--entity", "Message"], ["get", "a.store", "Message/1"],
      ["export", "a.store", "Message", "--columns", "sentAt"],
    ],
    OutputFormat.allCases
  )
  func `are found by what is shown of them`(arguments: [String], format: OutputFormat) throws {
    if arguments[0] == "get", format == .csv { return }
    let shown = try session.run(arguments + ["--format", format.rawValue])
    let date = try date(in: shown.output)
    for relation in ["==", ">=", "<="] {
      let found = try session.run(
        "query",
        "a.store",
        "Message",
        "--where",
        "sentAt \(relation) '\(date)'",
        "--columns",
        "key",
        "--format",
        "csv"
      )
      #expect(found.output == "key\n1\n", "\(relation) \(date): \(found.transcript)")
    }
  }

  @Test(arguments: OutputFormat.allCases)
  func `are shown as two where they differ`(format: OutputFormat) throws {
    let result = try session.run("diff", "a.store", "b.store", "--format", format.rawValue)
    let dates = result.output.matches(of: /\d{4}-\d\d-\d\dT[\d:.]+Z/).map { String($0.output) }
    #expect(Set(dates).count == 2, "\(result.transcript)")
  }
}
