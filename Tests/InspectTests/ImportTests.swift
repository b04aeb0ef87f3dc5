import LogEngine
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

@Suite struct `An import of the inspector` {
  private let disk = SteadyFileSystem()
  private let session: Session

  init() throws {
    session = Session(disk: disk)
    var options = EngineOptions()
    options.background = .caller
    let engine = try StorageEngine.open(at: "t.store", options: options, fileSystem: disk)
    try engine.apply([
      .addTable(name: "Town"),
      .addColumn(table: 1, name: "name", type: .text, isNullable: false),
      .addColumn(table: 1, name: "people", type: .integer, isNullable: true),
      .addColumn(table: 1, name: "founded", type: .date, isNullable: true),
      .addColumn(table: 1, name: "area", type: .double, isNullable: true),
      .addColumn(table: 1, name: "isPort", type: .bool, isNullable: true),
      .addColumn(table: 1, name: "region", type: .reference, isNullable: true),
      .addColumn(table: 1, name: "crest", type: .bytes, isNullable: true),
      .addColumn(table: 1, name: "serial", type: .uuid, isNullable: true),
      .addColumn(table: 1, name: "_rank_region", type: .integer, isNullable: true),
      .addColumn(table: 1, name: "motto", type: .text, isNullable: true),
      .addColumn(table: 1, name: "map", type: .blob, isNullable: true),
      .setLayout(table: 1, columns: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
    ])
    try engine.close()
  }

  private func file(_ name: String, _ text: String) throws {
    let file = try disk.open(name, .create)
    _ = try file.write(Array(text.utf8).span.bytes, at: 0)
  }

  private func export(_ format: String) throws -> String {
    try session.run("export", "t.store", "Town", "--format", format).output
  }

  @Test func `of a missing file fails with a usage error, and reports no damage`() throws {
    let result = try session.run("import", "t.store", "Town", "nothing.csv")
    #expect(result.status == .usage)
    #expect(result.error?.what == "there is no such file")
    #expect(result.error?.place == "nothing.csv")
  }

  /// Rows come without the models that say what is derived from them.
  @Test func `has derived attributes computed anew by the app`() throws {
    let engine = try StorageEngine.open(at: "t.store", options: EngineOptions(), fileSystem: disk)
    try engine.apply([.setMetadata(key: "derived.schema", value: [1])])
    try engine.close()
    try file("one.ndjson", #"{"name":"Oslo"}"#)
    #expect(try session.run("import", "t.store", "Town", "one.ndjson").status == .success)
    let after = try StorageEngine.open(at: "t.store", options: EngineOptions(), fileSystem: disk)
    #expect(after.catalogue.metadata["derived.schema"] == nil)
    try after.close()
  }

  @Test(arguments: ["csv", "ndjson"])
  func `reads what an export writes`(format: String) throws {
    try file(
      "first.ndjson",
      """
      {"name":"Oslo","people":700000,"founded":"1048-01-01","area":454.5,"isPort":true,"crest":"00ff"}

      {"motto":"a\\"b\\n\\u00e6\\ud83d\\ude00","name":"","serial":"8B9E0A56-0C4D-4C3B-9C58-4DC5E0A4F6B1"}
      {"name":"x,\\"y\\"\\r\\nz","people":null,"region":"Town/1","key":77}
      """
    )
    let first = try session.run("import", "t.store", "Town", "first.ndjson")
    #expect(first.error != nil, "a region that does not exist yet is refused")
    try file(
      "root.csv",
      "name,people\nRoot,\n"
    )
    #expect(try session.run("import", "t.store", "Town", "root.csv").error == nil)
    let second = try session.run("import", "t.store", "Town", "first.ndjson", "--commit-every", "2")
    #expect(second.output == "imported 3 rows into Town, in 2 commits\n", "\(second.transcript)")
    let exported = try export(format)
    try file("again.\(format)", exported)
    let again = try session.run("import", "t.store", "Town", "again.\(format)")
    #expect(again.output == "imported 4 rows into Town, in 1 commit\n", "\(again.transcript)")
    func rows(_ condition: String) throws -> String {
      try session.run(
        "export",
        "t.store",
        "Town",
        "--where",
        condition,
        "--columns",
        "name,people,founded,area,isPort,region,crest,serial,motto"
      ).output
    }
    #expect(try rows("key <= 4") == rows("key > 4"))
    #expect(try rows("name == ''").contains("æ😀"))
    let ranks = try session.run(
      "query",
      "t.store",
      "Town",
      "--columns",
      "_rank_region",
      "--where",
      "region != nil",
      "--format",
      "csv"
    )
    #expect(Set(ranks.output.split(separator: "\n")).count == 3, "\(ranks.output)")
  }

  @Test(arguments: [
    ("t.csv", "name,map\na,\"{\"\"blob\"\":3,\"\"bytes\"\":9}\"\n"),
    ("t.ndjson", "{\"name\":\"a\",\"map\":{\"blob\":3,\"bytes\":9}}\n"),
  ])
  func `says that an export does not hold values in files of their own`(
    name: String,
    text: String
  ) throws {
    try file(name, text)
    let error = try #require(try session.run("import", "t.store", "Town", name).error)
    #expect(error.expected == "bytes in hexadecimal")
    #expect(error.advice?.contains("leave the column out") ?? false)
  }

  @Test(arguments: ["csv", "ndjson"])
  func `reads numbers that are none as an export writes them`(format: String) throws {
    try file("areas.csv", "name,area\na,inf\nb,-inf\nc,nan\nd,-0.0\n")
    #expect(try session.run("import", "t.store", "Town", "areas.csv").error == nil)
    try file("again.\(format)", try export(format))
    let again = try session.run("import", "t.store", "Town", "again.\(format)")
    #expect(again.output == "imported 4 rows into Town, in 1 commit\n", "\(again.transcript)")
    func areas(_ condition: String) throws -> [Substring] {
      try session.run("export", "t.store", "Town", "--where", condition, "--columns", "area")
        .output.split(separator: "\n")
    }
    #expect(try areas("key <= 4") == areas("key > 4"))
    #expect(try areas("key > 4").count == 4)
  }

  @Test(arguments: ["\u{FEFF}", ""])
  func `takes a file with a mark of its byte order`(mark: String) throws {
    try file("towns.ndjson", mark + #"{"name":"Oslo"}"# + "\n")
    let result = try session.run("import", "t.store", "Town", "towns.ndjson")
    #expect(result.output == "imported 1 row into Town, in 1 commit\n", "\(result.transcript)")
  }

  @Test func `puts rows behind those that came from a server in the lists of their owners`() throws
  {
    var options = EngineOptions()
    options.background = .caller
    let engine = try StorageEngine.open(at: "t.store", options: options, fileSystem: disk)
    let base: Int64 = 900 << 24
    try engine.apply([.setMetadata(key: "rank.base", value: Array(String(base).utf8))])
    try engine.close()
    try file("rows.csv", "name,region\na,\n")
    _ = try session.run("import", "t.store", "Town", "rows.csv")
    try file("rows.csv", "name,region\nb,Town/1\n")
    _ = try session.run("import", "t.store", "Town", "rows.csv")
    let ranks = try session.run(
      "query",
      "t.store",
      "Town",
      "--columns",
      "_rank_region",
      "--where",
      "region != nil",
      "--format",
      "csv"
    )
    let rank = try #require(ranks.output.split(separator: "\n").last.flatMap { Int64($0) })
    #expect(rank > base)
  }

  @Test(
    arguments: [
      ("t.csv", "{\"name\":1}", .csv), ("t.NDJSON", "name", .ndjson), ("t.json", "name", .ndjson),
      ("t", "", .ndjson), ("t", "\u{FEFF}\n {\"name\":1}", .ndjson), ("/dev/stdin", "name\n", .csv),
      ("t.txt", "\"name\"\n", .csv),
    ] as [(String, String, RowImport.Format)]
  )
  func `takes a file for what its name says, or else its first character`(
    name: String,
    text: String,
    format: RowImport.Format
  ) {
    #expect(RowImport.Format(of: Array(text.utf8), in: name) == format)
  }

  @Test func `writes nothing in a dry run`() throws {
    try file("towns.csv", "name\nOslo\nBergen\n")
    let result = try session.run("import", "t.store", "Town", "towns.csv", "--dry-run")
    #expect(result.output == "2 rows could be imported into Town\n")
    #expect(try export("csv").split(separator: "\n").count == 1)
  }

  @Test(arguments: [
    ("t.csv", "name,people\nOslo,many\n", "line 2, character 6", "an integer", "many"),
    ("t.csv", "name,peopel\nOslo,1\n", "line 1, character 6", "a column of Town", "peopel"),
    ("t.csv", "name\nOslo,1\n", "line 2, character 6", "1 field", "2 fields"),
    ("t.csv", "name\n\"Os\nlo\" x\n", "line 3, character 4", "behind the closing quote", " x"),
    ("t.csv", "name\n\"Oslo\n", "line 2, character 1", "a closing quote", "the end of the file"),
    ("t.csv", "people\n1\n", "line 1, character 1", "each Town has one", "no such column"),
    ("t.csv", "name,people\n,1\n", "line 2, character 1", "a value", "null"),
    (
      "t.csv", "name,founded\na,2001-02-30\n", "line 2, character 3", "a date such as", "2001-02-30"
    ),
    ("t.csv", "name,region\na,Town/9\n", "line 2, character 3", "a row that exists", "Town/9"),
    ("t.csv", "name,crest\na,0g\n", "line 2, character 3", "hexadecimal", "0g"),
    (
      "t.ndjson", "{\"name\":\"a\"}\n{\"name\":\"b\",}\n", "line 2, character 13",
      "the name of a column", "}"
    ),
    ("t.ndjson", "{\"name\":[1]}", "line 1, character 9", "a text, a number", "[1]"),
    ("t.ndjson", "{\"name\":[1}", "line 1, character 11", "a comma or ]", "}"),
    ("t.ndjson", "{\"name\":\"a\"} x", "line 1, character 14", "the end of the line", "x"),
    (
      "t.ndjson", "{\"name\":\"a\",\"name\":\"b\"}", "line 1, character 20", "each column once",
      "name"
    ),
    ("t.csv", "name,people,name\na,1,b\n", "line 1, character 13", "each column once", "name"),
    ("t.csv", "people,people,name\n1,2,a\n", "line 1, character 8", "each column once", "people"),
    ("t.csv", "name;people\na;1\n", "line 1, character 1", "a column of Town", "name;people"),
    (
      "t.ndjson", "{\"name\":\"a\"}\n{}", "line 2, character 1", "each Town has one",
      "no such column"
    ),
    ("t.ndjson", "{\"name\":5}", "line 1, character 9", "a text between quotes", "5"),
    (
      "t.ndjson", "{\"name\":\"a\",\"crest\":12}", "line 1, character 21", "a text between quotes",
      "12"
    ),
    ("t.ndjson", "{\"name\":\"\\q\"}", "line 1, character 11", "one of", "q\"}"),
  ])
  func `says where a file is wrong, what would do, and changes nothing`(
    name: String,
    text: String,
    place: String,
    expected: String,
    found: String
  ) throws {
    try file(name, text)
    let result = try session.run("import", "t.store", "Town", name)
    let error = try #require(result.error)
    #expect(error.place == "\(name), \(place)")
    #expect(error.expected?.contains(expected) ?? false, "\(error)")
    #expect(error.found == found)
    #expect(error.status == .usage)
    #expect(try export("csv").split(separator: "\n").count == 1)
  }

  @Test(arguments: [
    (
      "t.csv", [UInt8]("name\nOslo\nBer".utf8) + [0xFF] + [UInt8]("gen\n".utf8),
      "line 3, character 1"
    ),
    ("t.csv", [UInt8]("name\n\"a".utf8) + [0xC3, 0x22, 0x0A], "line 2, character 1"),
    (
      "t.ndjson", [UInt8]("{\"name\":\"a".utf8) + [0xED, 0xA0, 0x80, 0x22, 0x7D],
      "line 1, character 9"
    ),
  ])
  func `repairs no text that is not UTF-8`(name: String, bytes: [UInt8], place: String) throws {
    let file = try disk.open(name, .create)
    _ = try file.write(bytes.span.bytes, at: 0)
    let result = try session.run("import", "t.store", "Town", name)
    #expect(result.error?.place == "\(name), \(place)")
    #expect(result.error?.expected == "text in UTF-8")
  }

  @Test func `never traps, whatever is cut out of a file or put into it`() throws {
    let store = try InspectedStore("t.store", on: disk)
    let table = try store.table(named: "Town")
    let samples: [(RowImport.Format, String)] = [
      (.csv, "name,people,founded\r\n\"a \"\"b\"\"\",5,2001-01-01\nx,,\n"),
      (.ndjson, "{\"name\":\"a\\u00e6\",\"people\":-5e0,\"isPort\":true}\n{ \"name\" : null }\n"),
    ]
    let pieces = Array("\",\n\r{}[]:\\u0aé-").map { Array(String($0).utf8) } + [[0xFF], [0]]
    var state: UInt64 = 5
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state ^ state >> 33) % UInt64(bound))
    }
    for (format, sample) in samples {
      let bytes = Array(sample.utf8)
      for round in 0..<4000 {
        var mutated = round < bytes.count ? Array(bytes[..<round]) : bytes
        if round >= bytes.count {
          for _ in 0...next(3) {
            let place = next(mutated.count + 1)
            let end = min(place + next(4), mutated.count)
            mutated.replaceSubrange(place..<end, with: pieces[next(pieces.count)])
          }
        }
        let rows = try RowImport(mutated, format, into: table, of: store)
        do {
          _ = try rows.forEachRow(rank: { 0 }) { _, _, _ in }
        } catch let error as ImportError {
          _ = error.toolError(in: "x").description
        }
      }
    }
  }
}
