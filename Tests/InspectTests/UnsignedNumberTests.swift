import LogEngine
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

/// Serial numbers of 0, 2^64 - 1, 2^63 and 7, in a column of integers that the store says are `UInt64`.
@Suite struct `A column of unsigned numbers` {
  private let disk = SteadyFileSystem()
  private let session: Session

  static let numbers: [UInt64?] = [0, .max, 1 << 63, 7, nil]

  init() throws {
    session = Session(disk: disk)
    var options = EngineOptions()
    options.background = .caller
    let engine = try StorageEngine.open(at: "t.store", options: options, fileSystem: disk)
    try engine.apply([
      .addTable(name: "Part"),
      .addColumn(table: 1, name: "serial", type: .integer, isNullable: true),
      .addColumn(table: 1, name: "shelf", type: .integer, isNullable: true),
      .setLayout(table: 1, columns: [1, 2]),
      .setMetadata(key: "values.1.1", value: Array("numbers UInt64".utf8)),
      .setMetadata(key: "values.1.2", value: Array("numbers Int64".utf8)),
    ])
    var batch = engine.makeBatch()
    for (key, number) in Self.numbers.enumerated() {
      var writer = RowWriter()
      writer.begin(RowLayout([.integer, .integer]))
      if let number { writer.set(0, integer: Int64(bitPattern: number)) }
      writer.set(1, integer: -1)
      let range = writer.finish()
      batch.insert(
        RowReference(table: 1, key: UInt64(key + 1)),
        layout: .init(1),
        row: writer.bytes.extracting(range)
      )
    }
    try engine.commit(&batch)
    try engine.close()
  }

  private func query(_ options: String...) throws -> [String] {
    let result = try session.run(
      ["query", "t.store", "Part", "--format", "csv"] + options
    )
    #expect(result.error == nil, "\(result.transcript)")
    return result.output.split(separator: "\n").dropFirst().map(String.init)
  }

  private func file(_ name: String, _ text: String) throws {
    let file = try disk.open(name, .create)
    _ = try file.write(Array(text.utf8).span.bytes, at: 0)
  }

  @Test(
    arguments: [
      ("serial > 5", ["2", "3", "4"]), ("serial < 0", []),
      ("serial == 18446744073709551615", ["2"]),
      ("serial == -1", []), ("serial >= 9223372036854775808", ["2", "3"]),
      ("serial in 7...18446744073709551614", ["3", "4"]),
      ("serial in [0, 18446744073709551615]", ["1", "2"]), ("serial > 1e19", ["2"]),
      ("serial > shelf", ["1", "2", "3", "4"]),
      ("shelf < 18446744073709551615", ["1", "2", "3", "4", "5"]),
      ("shelf == -1", ["1", "2", "3", "4", "5"]),
      ("key < 18446744073709551615", ["1", "2", "3", "4", "5"]),
    ] as [(String, [String])]
  )
  func `is compared without a sign`(condition: String, keys: [String]) throws {
    #expect(try query("--where", condition, "--columns", "key") == keys)
  }

  @Test func `is sorted without a sign`() throws {
    #expect(try query("--sort", "serial", "--columns", "key") == ["5", "1", "4", "3", "2"])
    #expect(try query("--sort", "-serial", "--columns", "key", "--limit", "1") == ["2"])
  }

  @Test func `has figures without a sign`() throws {
    let figures = "max(serial),min(serial),distinct(serial),count(serial)"
    #expect(try query("--columns", figures) == ["18446744073709551615,0,4,4"])
    let sum = try query("--columns", "sum(serial)", "--where", "serial in [7, 9223372036854775808]")
    #expect(sum == ["9223372036854775815"])
    let groups = try query("--columns", "serial,count", "--group-by", "serial", "--sort", "-serial")
    #expect(groups.first == "18446744073709551615,1")
  }

  @Test func `has no sum that does not fit its type`() throws {
    let result = try session.run("query", "t.store", "Part", "--columns", "sum(serial)")
    #expect(result.error?.what == "a sum does not fit 64 bits")
    #expect(result.error?.expected == "0 to 18446744073709551615")
    #expect(result.error?.found == "27670116110564327430, for sum(serial)")
  }

  @Test func `is shown by every command without a sign, and a signed one with it`() throws {
    for command in [
      ["get", "t.store", "Part", "2"], ["dump", "t.store"], ["query", "t.store", "Part"],
      ["export", "t.store", "Part"], ["export", "t.store", "Part", "--format", "csv"],
      ["history", "t.store", "--changes"],
    ] {
      let result = try session.run(command)
      #expect(result.output.contains("18446744073709551615"), "\(result.transcript)")
      #expect(result.output.contains("-1"), "\(result.transcript)")
    }
  }

  @Test(arguments: ["csv", "ndjson"])
  func `comes back by an import as an export wrote it`(format: String) throws {
    let exported = try session.run("export", "t.store", "Part", "--format", format).output
    try file("parts.\(format)", exported)
    let result = try session.run("import", "t.store", "Part", "parts.\(format)")
    #expect(result.error == nil, "\(result.transcript)")
    let serials = try query("--columns", "serial,shelf")
    #expect(serials.count == 10)
    #expect(serials.prefix(5) == serials.suffix(5))
  }

  @Test(arguments: [
    ("t.csv", "serial\n7\n-1\n", "line 3, character 1", "-1"),
    ("t.csv", "serial\n18446744073709551616\n", "line 2, character 1", "18446744073709551616"),
    ("t.ndjson", "{\"serial\":-1}", "line 1, character 11", "-1"),
  ])
  func `takes no number out of its range`(
    name: String,
    text: String,
    place: String,
    found: String
  ) throws {
    try file(name, text)
    let error = try #require(try session.run("import", "t.store", "Part", name).error)
    #expect(error.place == "\(name), \(place)")
    #expect(error.expected == "an integer from 0 to 18446744073709551615")
    #expect(error.found == found)
  }

  @Test func `is the only one that has them: a literal has to fit some column`() throws {
    let result = try session.run(
      "query",
      "t.store",
      "Part",
      "--where",
      "serial == 18446744073709551616"
    )
    #expect(
      result.error?.expected == "an integer from -9223372036854775808 to 18446744073709551615"
    )
  }
}
