import LogEngine
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

/// Orders with a count, a sum, a search text and two dates that the app derives.
@Suite struct `An import into an entity with derived attributes` {
  private let disk = SteadyFileSystem()
  private let session: Session

  init() throws {
    session = Session(disk: disk)
    var options = EngineOptions()
    options.background = .caller
    let engine = try StorageEngine.open(at: "t.store", options: options, fileSystem: disk)
    var changes: [CatalogueChange] = [
      .addTable(name: "Order"),
      .addColumn(table: 1, name: "count", type: .integer, isNullable: false),
      .addColumn(table: 1, name: "search", type: .text, isNullable: false),
      .addColumn(table: 1, name: "name", type: .text, isNullable: false),
      .addColumn(table: 1, name: "total", type: .double, isNullable: false),
      .addColumn(table: 1, name: "modified", type: .date, isNullable: false),
      .addColumn(table: 1, name: "lastModified", type: .date, isNullable: true),
      .addColumn(table: 1, name: "note", type: .text, isNullable: true),
      .setLayout(table: 1, columns: [1, 2, 3, 4, 5, 6, 7]),
      .setMetadata(key: "schema.version", value: [1]),
      .setMetadata(key: "derived.schema", value: [1]),
    ]
    for (column, record) in [
      (1, "count 2.1"), (2, "canonical 3"), (4, "sum Double 2.1.2"), (5, "modificationDate"),
      (6, "modificationDate"),
    ] {
      changes.append(.setMetadata(key: "derived.1.\(column)", value: Array(record.utf8)))
    }
    try engine.apply(changes)
    try engine.close()
  }

  private func `import`(_ name: String, _ text: String) throws -> Session.Result {
    let file = try disk.open(name, .create)
    _ = try file.write(Array(text.utf8).span.bytes, at: 0)
    return try session.run("import", "t.store", "Order", name)
  }

  private func rows() throws -> [String] {
    try session.run("export", "t.store", "Order", "--format", "csv").output
      .split(separator: "\n").dropFirst().map(String.init)
  }

  @Test(arguments: [
    ("t.csv", "name,note\nÅs,b\n"), ("t.ndjson", "{\"note\":\"b\",\"name\":\"Ås\"}"),
  ])
  func `demands no values of them, and writes some that the app replaces`(
    name: String,
    text: String
  ) throws {
    let result = try `import`(name, text)
    #expect(result.transcript == "imported 1 row into Order, in 1 commit\n")
    #expect(try rows() == ["1,0,\"\",Ås,0.0,2001-01-01T00:00:00Z,,b"])
    let view = try InspectedStore("t.store", on: disk)
    #expect(view.catalogue.metadata["derived.schema"] == nil)
    // Until then they are derived all the same.
    #expect(try `import`(name, text).status == .success)
  }

  @Test(arguments: [
    (
      "t.csv",
      "count,search,name,total,modified,lastModified\n"
        + "9,x,Ås,,2024-02-29T12:00:00Z,2024-02-29T12:00:00Z\nmany,,Bø,1,,\n"
    ),
    (
      "t.ndjson",
      #"{"count":9,"search":"x","name":"Ås","total":null,"modified":"2024-02-29T12:00:00Z","#
        + #""lastModified":"2024-02-29T12:00:00Z"}"# + "\n"
        + #"{"count":"many","name":"Bø","total":1,"modified":null}"#
    ),
  ])
  func `says that it takes over none of their values but dates`(name: String, text: String) throws {
    let result = try `import`(name, text)
    #expect(result.output == "imported 2 rows into Order, in 1 commit\n", "\(result.transcript)")
    #expect(
      result.notices == "not taken over: count, search, total; the app computes derived attributes "
        + "when it opens the store\n"
    )
    #expect(
      try rows() == [
        "1,0,\"\",Ås,0.0,2024-02-29T12:00:00Z,2024-02-29T12:00:00Z,",
        "2,0,\"\",Bø,0.0,2001-01-01T00:00:00Z,,",
      ]
    )
  }

  @Test func `checks the dates, and the other attributes`() throws {
    #expect(try `import`("t.csv", "name,modified\na,yesterday\n").error?.found == "yesterday")
    #expect(try `import`("t.csv", "note\na\n").error?.found == "no such column")
  }

  /// An app from before derived attributes leaves their entries alone, and may set the attributes.
  @Test func `demands all values once another schema has written the store`() throws {
    let engine = try StorageEngine.open(at: "t.store", options: EngineOptions(), fileSystem: disk)
    try engine.apply([.setMetadata(key: "schema.version", value: [2])])
    try engine.close()
    let error = try #require(try `import`("t.csv", "name\na\n").error)
    #expect(error.what == "a value of count cannot be imported")
    let text = "count,search,name,total,modified\n9,x,a,2.5,2024-02-29\n"
    #expect(try `import`("t.csv", text).notices.isEmpty)
    #expect(try rows() == ["1,9,x,a,2.5,2024-02-29T00:00:00Z,,"])
  }
}
