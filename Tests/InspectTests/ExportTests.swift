import LogEngine
import LogEngineTestSupport
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

/// Values whose fields in CSV are hard to write.
private enum HardValues {
  static let texts: [String?] = [
    nil, "", "plain", "a,b", "say \"so\"", "\"\u{301}", "x\"\u{301},\u{200D}", "two\nlines", "\r\n",
    "ü",
    "e\u{301}", "👩‍👩‍👧", "\u{0}", " \t", "NA",
  ]
  static let integers: [Int64?] = [nil, 0, -1, 9, 10, -10, 1_000_000, .max, .min]
  static let doubles: [Double?] = [
    nil, 0, -0.0, 0.1, 1e300, -.leastNonzeroMagnitude, .infinity, -.infinity, .nan, 123_456_789.25,
  ]
  /// Seconds since 2001.
  static let dates: [Double?] = [
    nil, 0, -0.25, 0.000_001, 0.999_999_9, 86_399.5, -63_145_526_400, -63_145_526_400.5,
    252_423_993_599, 1e12, .nan, .infinity, -978_307_200, 383_616_000.123_456,
  ]
}

@Suite struct `CSV of an export` {
  private let disk = SteadyFileSystem()

  init() throws {
    var options = EngineOptions()
    options.background = .caller
    let engine = try StorageEngine.open(at: "t.store", options: options, fileSystem: disk)
    let types: [ColumnType] = [
      .text, .integer, .double, .date, .bool, .reference, .uuid, .bytes,
    ]
    try engine.apply([.addTable(name: "Plain"), .addTable(name: "Odd, \"name\"")])
    for (index, type) in types.enumerated() {
      try engine.apply([.addColumn(table: 1, name: "c\(index)", type: type, isNullable: true)])
    }
    try engine.apply([.setLayout(table: 1, columns: [1, 2, 3, 4, 5, 6, 7, 8])])
    let layout = RowLayout(types)
    var random = SeededGenerator(seed: 11)
    var batch = engine.makeBatch()
    for key in 1...400 {
      var writer = RowWriter()
      writer.begin(layout)
      if let text = HardValues.texts.randomElement(using: &random) ?? nil {
        writer.append(0, text: text)
      }
      if let integer = HardValues.integers.randomElement(using: &random) ?? nil {
        writer.set(1, integer: integer)
      }
      if let double = HardValues.doubles.randomElement(using: &random) ?? nil {
        writer.set(2, double: double)
      }
      if let date = HardValues.dates.randomElement(using: &random) ?? nil {
        writer.set(3, double: date)
      }
      if key % 3 > 0 { writer.set(4, bool: key % 3 == 1) }
      if key % 4 > 0 {
        writer.set(5, reference: RowReference(table: UInt16(key % 4), key: UInt64(key)))
      }
      if key % 5 > 0 { writer.set(6, uuid: (UInt64(key), .max)) }
      let bytes: [UInt8] = [0xAB, UInt8(key % 256)]
      if key % 6 > 0 { writer.append(7, bytes: bytes.span.bytes) }
      let range = writer.finish()
      batch.insert(
        RowReference(table: 1, key: UInt64(key)),
        layout: .init(1),
        row: writer.bytes.extracting(range)
      )
    }
    try engine.commit(&batch)
    // A column that these rows are older than.
    try engine.apply([
      .addColumn(table: 1, name: "late", type: .integer, isNullable: true),
      .setLayout(table: 1, columns: [9, 1, 2, 3, 4, 5, 6, 7, 8]),
    ])
    try engine.close()
  }

  @Test func `has the fields that values have in JSON`() throws {
    let store = try InspectedStore("t.store", on: disk)
    let query = try RowQuery(.init(), of: store.table(named: "Plain"), in: store)
    var run = QueryRun(query, in: store)
    var expected = [CSV.line(query.outputs.map(\.name))]
    try run.run(limit: .max) { _, cells in
      expected.append(CSV.line(cells.map(\.exported.csvField)))
    }
    let result = try Session(disk: disk).run("export", "t.store", "Plain", "--format", "csv")
    #expect(expected.count == 401)
    #expect(result.output == expected.map { $0 + "\n" }.joined())
    let some = try Session(disk: disk).run(
      "export",
      "t.store",
      "Plain",
      "--format",
      "csv",
      "--columns",
      "c1,key",
      "--where",
      "c1 > 5"
    )
    #expect(some.output.hasPrefix("c1,key\n"))
  }

  @Test(arguments: [
    ("\"\u{301}", "\"\"\"\u{301}\""), ("", "\"\""), ("a\"b", "\"a\"\"b\""), ("\r\n", "\"\r\n\""),
    ("ü", "ü"),
  ])
  func `doubles a quote, also below an accent`(text: String, field: String) {
    #expect(Array(CSV.field(text).utf8) == Array(field.utf8))
  }
}
