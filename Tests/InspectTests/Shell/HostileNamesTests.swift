import LogEngine
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

/// A store whose names and values would do something to a terminal that printed them as they are.
@Suite struct `Names and values that control a terminal` {
  private static let hostile = "x\u{1B}]0;owned\u{7}\u{9B}2J\u{8}\r\u{7F}"
  private let disk = SteadyFileSystem()

  init() throws {
    var options = EngineOptions()
    options.background = .caller
    let engine = try StorageEngine.open(at: "h.store", options: options, fileSystem: disk)
    let name = Self.hostile
    try engine.apply([
      .addTable(name: name),
      .addColumn(table: 1, name: name, type: .text, isNullable: false),
      .addColumn(table: 1, name: "kind", type: .text, isNullable: false),
      .setLayout(table: 1, columns: [1, 2]),
      .addTable(name: "Plain"),
      .addColumn(table: 2, name: name, type: .text, isNullable: false),
      .addColumn(table: 2, name: "kind", type: .text, isNullable: false),
      .setLayout(table: 2, columns: [1, 2]),
    ])
    var batch = engine.makeBatch()
    batch.author = name
    for table in [1, 2] as [UInt16] {
      var writer = RowWriter()
      writer.begin(RowLayout([.text, .text]))
      writer.append(0, text: name)
      writer.append(1, text: name)
      let range = writer.finish()
      batch.insert(
        RowReference(table: table, key: 1),
        layout: .init(1),
        row: writer.bytes.extracting(range)
      )
    }
    try engine.commit(&batch)
    try engine.close()
  }

  @Test(arguments: ["table", "line", "csv", "json", "ndjson"])
  func `never reach it raw from the shell`(mode: String) throws {
    let lines = TypedLines(
      ".mode \(mode)",
      "Plain",
      "Plain columns kind, count group by kind",
      "count",
      ".tables",
      ".schema",
      ".schema Plain",
      ".get Plain 1",
      ".commits",
      ".show",
      ".help questions",
      "Plain where kimd == 1",
      "Nothing",
      "`\(Self.hostile)`",
      "Plain columns `\(Self.hostile)`",
      "Plain group by `y`",
      ".schema \(Self.hostile)",
      "explain Plain",
      ".history",
      ".output \(Self.hostile)",
      ".show",
      ".open \(Self.hostile)",
      ".get \(Self.hostile)/1",
      ".\(Self.hostile)"
    )
    var session = Session(disk: disk)
    session.isRedrawn = true
    session.lines = lines
    let result = try session.run("shell", "h.store")
    let text = result.transcript
    let raw = text.unicodeScalars.filter { $0.isControlOfTerminal }
    #expect(raw.isEmpty, "\(text.debugDescription)")
    #expect(text.contains("owned"))
  }

  @Test(arguments: [
    ["query", "h.store", "Plain"], ["query", "h.store", "Plain", "--format", "csv"],
    ["export", "h.store", "Plain", "--format", "csv"], ["export", "h.store", "Plain"],
    ["count", "h.store"], ["dump", "h.store"], ["get", "h.store", "Plain/1"],
    ["summary", "h.store"],
    ["schema", "h.store", "--versions"], ["history", "h.store", "--changes"], ["tail", "h.store"],
    ["frames", "h.store"], ["segments", "h.store"], ["verify", "h.store"],
    ["query", "h.store", "Nothing"], ["dump", "h.store", "--format", "csv", "--entity", "Plain"],
  ])
  func `never reach it raw from another command`(arguments: [String]) throws {
    var session = Session(disk: disk)
    session.isRedrawn = true
    let result = try session.run(arguments)
    let printed =
      result.output + result.notices + (result.error.map { "\($0)".printableLines } ?? "")
    #expect(!printed.isEmpty)
    #expect(
      !printed.unicodeScalars.contains { $0.isControlOfTerminal },
      "\(printed.debugDescription)"
    )
  }

  @Test func `are exported as they are`() throws {
    let result = try Session(disk: disk).run("export", "h.store", "Plain", "--format", "csv")
    #expect(result.output.contains(Self.hostile))
  }
}

extension Unicode.Scalar {
  fileprivate var isControlOfTerminal: Bool {
    self != "\n" && self != "\t" && (value < 0x20 || 0x7F...0x9F ~= value)
  }
}
