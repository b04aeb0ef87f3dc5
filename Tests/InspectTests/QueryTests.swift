import LogEngine
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

/// Questions about a store of towns: three of 1755, 1249 and 868, and one without a year.
@Suite struct `A query of the inspector` {
  private let session: Session

  init() throws {
    let disk = SteadyFileSystem()
    var options = EngineOptions()
    options.background = .caller
    let engine = try StorageEngine.open(at: "t.store", options: options, fileSystem: disk)
    try engine.apply([
      .addTable(name: "Town"),
      .addColumn(table: 1, name: "name", type: .text, isNullable: false),
      .addColumn(table: 1, name: "people", type: .integer, isNullable: true),
      .addColumn(table: 1, name: "founded", type: .date, isNullable: true),
      .addColumn(table: 1, name: "area", type: .double, isNullable: false),
      .addColumn(table: 1, name: "isPort", type: .bool, isNullable: false),
      .addColumn(table: 1, name: "region", type: .reference, isNullable: true),
      .addColumn(table: 1, name: "crest", type: .bytes, isNullable: true),
      .setLayout(table: 1, columns: [1, 2, 3, 4, 5, 6, 7]),
      .addTable(name: "Region"),
      .addColumn(table: 2, name: "name", type: .text, isNullable: false),
      .setLayout(table: 2, columns: [1]),
    ])
    let layout = RowLayout([.text, .integer, .date, .double, .bool, .reference, .bytes])
    let rows: [(String, Int64?, Double?, Double, Bool, UInt64?)] = [
      ("Oslo", 700_000, 0, 454, true, 1), ("Bergen", 290_000, -1e9, 465.5, true, 2),
      ("Røros", 5_600, -2e9, 1956, false, nil), ("O\"Hare, Inc.", nil, nil, 0.5, false, 1),
    ]
    var batch = engine.makeBatch()
    for (index, row) in rows.enumerated() {
      var writer = RowWriter()
      writer.begin(layout)
      writer.append(0, text: row.0)
      if let people = row.1 { writer.set(1, integer: people) }
      if let founded = row.2 { writer.set(2, double: founded) }
      writer.set(3, double: row.3)
      writer.set(4, bool: row.4)
      if let region = row.5 { writer.set(5, reference: RowReference(table: 2, key: region)) }
      let crest: [UInt8] = [0xAB, UInt8(index)]
      writer.append(6, bytes: crest.span.bytes)
      let range = writer.finish()
      batch.insert(
        RowReference(table: 1, key: UInt64(index + 1)),
        layout: .init(1),
        row: writer.bytes.extracting(range)
      )
    }
    for (key, name) in [(1, "East"), (2, "West")] as [(UInt64, String)] {
      var writer = RowWriter()
      writer.begin(RowLayout([.text]))
      writer.append(0, text: name)
      let range = writer.finish()
      batch.insert(
        RowReference(table: 2, key: key),
        layout: .init(1),
        row: writer.bytes.extracting(range)
      )
    }
    try engine.commit(&batch)
    try engine.close()
    session = Session(disk: disk)
  }

  private func names(_ condition: String) throws -> [String] {
    let result = try session.run(
      "query",
      "t.store",
      "Town",
      "--where",
      condition,
      "--columns",
      "key",
      "--format",
      "csv"
    )
    #expect(result.error == nil, "\(condition): \(result.transcript)")
    return result.output.split(separator: "\n").dropFirst().map(String.init)
  }

  @Test(arguments: [
    ("name == 'Oslo'", ["1"]), ("name != 'Oslo'", ["2", "3", "4"]),
    ("people > 100_000", ["1", "2"]), ("people == nil", ["4"]),
    ("people is not nil", ["1", "2", "3"]),
    ("people != 5600", ["1", "2", "4"]), ("founded >= '2000-01-01'", ["1"]),
    ("founded < '2001-01-01T00:00:00Z'", ["2", "3"]), ("area == 454", ["1"]),
    ("area in 400...500", ["1", "2"]), ("area in 454..<465.5", ["1"]), ("isPort", ["1", "2"]),
    ("!isPort && area > 1", ["3"]), ("isPort == false or people > 500000", ["1", "3", "4"]),
    ("region == 'Region/1'", ["1", "4"]), ("region == nil", ["3"]),
    ("people > area", ["1", "2", "3"]),
    ("name contains 'r'", ["2", "3", "4"]), ("name contains[c] 'RØ'", ["3"]),
    ("name startsWith 'O' and name endsWith '.'", ["4"]), ("key in [2, 4, 9]", ["2", "4"]),
    ("name in ('Oslo', 'Bergen')", ["1", "2"]), ("not (key in [1, 2, 3])", ["4"]),
    ("500000 < people", ["1"]), ("crest != nil", ["1", "2", "3", "4"]), ("false", []),
  ])
  func `finds the rows that a condition means`(condition: String, keys: [String]) throws {
    #expect(try names(condition) == keys)
  }

  @Test(arguments: [
    ("people == 'many'", "people, a number"), ("name > 5", "name, a text"),
    ("founded == '12'", "a date such as"), ("peopel > 1", "people?"),
    ("crest > 5", "can only be compared with nil"), ("people > nil", "nil is in no order"),
    ("name", "a column that is true or false"), ("name == people", "a column that can be compared"),
    ("region == 'Nowhere/1'", "a row such as"), ("name == Oslo", "\"Oslo\""),
    ("isPort > true", "a column with an order"),
  ])
  func `says what is wrong with a condition`(condition: String, words: String) throws {
    let result = try session.run("query", "t.store", "Town", "--where", condition)
    #expect(result.status == .usage)
    #expect(result.transcript.contains(words), "\(result.transcript)")
    #expect(result.transcript.contains("^ character"), "\(result.transcript)")
    #expect(result.output.isEmpty)
  }

  @Test func `sorts, cuts and shows columns`() throws {
    func rows(_ arguments: String...) throws -> String {
      try session.run(
        ["query", "t.store", "Town", "--format", "csv", "--columns", "name,people"] + arguments
      )
      .output
    }
    #expect(
      try rows("--sort", "people") == """
        name,people
        "O""Hare, Inc.",
        Røros,5600
        Bergen,290000
        Oslo,700000

        """
    )
    #expect(
      try rows("--sort", "-isPort, area desc", "--limit", "2", "--offset", "1")
        == "name,people\nOslo,700000\nRøros,5600\n"
    )
    #expect(try rows("--limit", "0") == "name,people\n")
    #expect(try rows("--offset", "3") == "name,people\n\"O\"\"Hare, Inc.\",\n")
  }

  @Test func `groups, and takes figures of groups`() throws {
    let result = try session.run(
      "query",
      "t.store",
      "Town",
      "--group-by",
      "isPort",
      "--columns",
      "isPort, count, count(people), sum(people), avg(area), min(name), max(founded), distinct(region)",
      "--sort",
      "-count(people)",
      "--format",
      "csv"
    )
    #expect(
      result.output == """
        isPort,count,count(people),sum(people),avg(area),min(name),max(founded),distinct(region)
        true,2,2,990000,459.75,Bergen,2001-01-01T00:00:00Z,2
        false,2,1,5600,978.25,"O""Hare, Inc.",1937-08-16T20:26:40Z,1

        """
    )
    let all = try session.run("query", "t.store", "Town", "--columns", "count, avg(people)")
    #expect(all.output.contains("331866.6"))
    let nothing = try session.run(
      "query",
      "t.store",
      "Town",
      "--where",
      "key > 9",
      "--columns",
      "count, max(area)",
      "--format",
      "ndjson"
    )
    #expect(nothing.output == "{\"count\":0,\"max(area)\":null}\n")
    let wrong = try session.run(
      "query",
      "t.store",
      "Town",
      "--group-by",
      "isPort",
      "--columns",
      "name"
    )
    #expect(wrong.transcript.contains("a figure such as min(name)"))
    let text = try session.run("query", "t.store", "Town", "--columns", "sum(name)")
    #expect(text.transcript.contains("a column of numbers"))
  }

  @Test(arguments: ["crest", "isPort, crest"])
  func `groups by nothing that cannot be compared`(groups: String) throws {
    let result = try session.run("query", "t.store", "Town", "--group-by", groups)
    #expect(result.status == .usage)
    #expect(result.output.isEmpty)
    #expect(
      result.transcript.contains("a column whose values can be compared"),
      "\(result.transcript)"
    )
    #expect(result.transcript.contains("crest, whose values cannot"), "\(result.transcript)")
  }

  @Test func `shows a table for people, and what was read`() throws {
    let result = try session.run(
      "query",
      "t.store",
      "Town",
      "--columns",
      "name,area,region",
      "--limit",
      "2",
      "--explain",
      "--sort",
      "area"
    )
    #expect(
      result.output == """
        name           area  region
        O"Hare, Inc.    0.5  Region/1
        Oslo          454.0  Region/1
        2 rows

        """
    )
    #expect(result.notices.contains("scan of Town: each row"))
    #expect(result.notices.contains("indexes  none: those of an app are known to its models only"))
    #expect(result.notices.contains("read     4 rows"))
    #expect(result.notices.contains("sorted   by area"))
  }

  @Test func `counts`() throws {
    let all = try session.run("count", "t.store", "--format", "csv")
    #expect(all.output == "entity,rows\nRegion,2\nTown,4\n")
    let some = try session.run(
      "count",
      "t.store",
      "Town",
      "--where",
      "isPort",
      "--format",
      "ndjson"
    )
    #expect(some.output == "{\"entity\":\"Town\",\"rows\":2}\n")
  }

  @Test func `exports all there is of each value`() throws {
    let csv = try session.run(
      "export",
      "t.store",
      "Town",
      "--format",
      "csv",
      "--where",
      "key in [1, 4]"
    )
    #expect(
      csv.output == """
        key,name,people,founded,area,isPort,region,crest
        1,Oslo,700000,2001-01-01T00:00:00Z,454.0,true,Region/1,ab00
        4,"O""Hare, Inc.",,,0.5,false,Region/1,ab03

        """
    )
    let lines = try session.run("export", "t.store", "Town", "--columns", "name,crest")
    #expect(lines.output.hasPrefix("{\"name\":\"Oslo\",\"crest\":\"ab00\"}\n"))
    let figures = try session.run("export", "t.store", "Town", "--columns", "count")
    #expect(figures.status == .usage)
  }
}
