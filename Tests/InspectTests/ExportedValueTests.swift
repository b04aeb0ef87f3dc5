import LogEngine
import LogEngineTestSupport
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

/// Values of an app's composite types, in CBOR as the app writes them, and what an export shows of them.
private enum Composites {
  static let tags: [([UInt8], String)] = [
    ([0x80], "[]"), ([0x82, 0x61, 0x61, 0x62, 0xC3, 0xA6], #"["a","æ"]"#),
    // A date with its tag, bytes, a negative number, a Boolean and nothing.
    (
      [0xA5, 0x61, 0x64, 0xD9, 0x07, 0xD1, 0xFB, 0x3F, 0xF8, 0, 0, 0, 0, 0, 0]
        + [0x61, 0x62, 0x42, 0, 0xFF, 0x61, 0x6E, 0x39, 0x03, 0xE7, 0x61, 0x74, 0xF5]
        + [0x61, 0x7A, 0xF6],
      #"{"d":1.5,"b":{"bytes":2,"hex":"00ff"},"n":-1000,"t":true,"z":null}"#
    ),
    ([0x63, 0x31, 0x2E, 0x35], #""1.5""#), ([0x1A, 0, 1, 0x11, 0x70], "70000"),
    ([0x1B] + [UInt8](repeating: 0xFF, count: 8), "18446744073709551615"),
    (
      [0xA1, 0x61, 0x61, 0x81, 0xA1, 0x61, 0x62, 0x82, 0x18, 0x20, 0x19, 1, 0],
      #"{"a":[{"b":[32,256]}]}"#
    ),
  ]

  /// Instants of which microseconds do not tell all, or that are of no year that ISO 8601 has.
  static let dates: [Double] = [
    785_944_800.123_456_7, 0.1, -0.1, 1e-9, -3e-7, 0.999_999_9, -0.999_999_9, 1e12, .infinity,
    -978_307_199.999_999_9, -63_145_526_399.999_99, 252_423_993_598.999_97,
  ]
}

@Suite struct `Values that an export writes` {
  private let disk = SteadyFileSystem()
  private let session: Session
  private let layout = RowLayout([.structured, .date, .text, .references])

  init() throws {
    session = Session(disk: disk)
    var options = EngineOptions()
    options.background = .caller
    let engine = try StorageEngine.open(at: "t.store", options: options, fileSystem: disk)
    try engine.apply([
      .addTable(name: "Note"),
      .addColumn(table: 1, name: "tags", type: .structured, isNullable: false),
      .addColumn(table: 1, name: "taken", type: .date, isNullable: false),
      .addColumn(table: 1, name: "nickname", type: .text, isNullable: true),
      .addColumn(table: 1, name: "links", type: .references, isNullable: false),
      .setLayout(table: 1, columns: [1, 2, 3, 4]),
      .addTable(name: "Name"),
      .addColumn(table: 2, name: "nickname", type: .text, isNullable: true),
      .setLayout(table: 2, columns: [1]),
    ])
    var batch = engine.makeBatch()
    for (index, date) in Composites.dates.enumerated() {
      var writer = RowWriter()
      writer.begin(layout)
      let tags = Composites.tags[index % Composites.tags.count].0
      writer.append(0, bytes: tags.span.bytes)
      writer.set(1, double: date)
      if index % 3 > 0 { writer.append(2, text: index % 3 == 1 ? "" : "n\(index)") }
      if index % 2 > 0 { writer.append(3, references: []) }
      let range = writer.finish()
      batch.insert(
        RowReference(table: 1, key: UInt64(index + 1)),
        layout: .init(1),
        row: writer.bytes.extracting(range)
      )
    }
    try engine.commit(&batch)
    try engine.close()
  }

  private func file(_ name: String, _ text: String) throws {
    let file = try disk.open(name, .create)
    _ = try file.write(Array(text.utf8).span.bytes, at: 0)
  }

  private func export(_ arguments: String...) throws -> String {
    try session.run(["export", "t.store"] + arguments).output
  }

  @Test(arguments: ["csv", "ndjson"])
  func `are the same where they are imported`(format: String) throws {
    let count = Composites.dates.count
    try file("notes.\(format)", try export("Note", "--format", format))
    let result = try session.run("import", "t.store", "Note", "notes.\(format)")
    let imported = "imported \(count) rows into Note, in 1 commit\n"
    #expect(result.output == imported, "\(result.transcript)")
    let all = try export("Note", "--columns", "tags,taken,nickname,links")
    let lines = all.split(separator: "\n")
    #expect(lines.count == 2 * count)
    // A text that could be a number is one where it comes from CSV; a `Decimal` reads both.
    func line(_ line: Substring) -> String { String(line).replacing(#""1.5""#, with: "1.5") }
    #expect(lines.prefix(count).map(line) == lines.suffix(count).map(line))
    let store = try InspectedStore("t.store", on: disk)
    var dates: [Double] = []
    try store.forEachRow(of: store.table(named: "Note")) { _, _, row in
      dates.append(layout.double(1, in: row))
      return .proceed
    }
    #expect(dates == Composites.dates + Composites.dates)
  }

  @Test(arguments: Composites.tags)
  func `of composite types are JSON`(bytes: [UInt8], text: String) throws {
    #expect(StructuredValue.decode(bytes.span.bytes, limit: .max)?.text == text)
    var again: [UInt8] = []
    try #require(JSONScanner.value(of: text)).writeStructured(to: &again)
    #expect(StructuredValue.decode(again.span.bytes, limit: .max)?.text == text)
    // But for the tags.
    if !bytes.contains(0xD9) { #expect(again == bytes) }
  }

  @Test(arguments: ["\n", "\r\n"])
  func `are rows of nothing in empty lines of one column`(lineEnd: String) throws {
    try file("names.csv", ["nickname", "a", "", "\"\"", "", "b", ""].joined(separator: lineEnd))
    let result = try session.run("import", "t.store", "Name", "names.csv")
    #expect(result.output == "imported 5 rows into Name, in 1 commit\n", "\(result.transcript)")
    let exported = try export("Name", "--columns", "nickname", "--format", "csv")
    #expect(exported == "nickname\na\n\n\"\"\n\nb\n")
  }

  @Test func `leave empty lines out of files of several columns`() throws {
    try file("names.csv", "\nkey,nickname\n\n1,a\n\n2,\n\n")
    let result = try session.run("import", "t.store", "Name", "names.csv")
    #expect(result.output == "imported 2 rows into Name, in 1 commit\n", "\(result.transcript)")
  }

  @Test func `of dates are read as the same double, and have few digits where few will do`() {
    #expect("\(Timestamp(seconds: 0.25))" == "2001-01-01T00:00:00.25Z")
    #expect("\(Timestamp(seconds: -0.1))" == "2000-12-31T23:59:59.9Z")
    var random = SeededGenerator(seed: 5)
    for round in 0..<20_000 {
      let range = [1, 1e3, 1e9, 6e10][round % 4]
      let seconds = Double.random(in: -range...range, using: &random)
      let text = "\(Timestamp(seconds: seconds))"
      #expect(Timestamp(text)?.seconds == seconds, "\(text)")
    }
    for seconds in Composites.dates {
      #expect(Timestamp("\(Timestamp(seconds: seconds))")?.seconds == seconds)
    }
  }
}
