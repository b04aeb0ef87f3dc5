import LogEngine
import LogEngineTestSupport
import Terminal
import Testing

@testable import logstore_inspect

/// An entity of settings, whose attribute is named as the inspector calls the keys of rows.
@Suite struct `An attribute that is named key` {
  private let disk = SteadyFileSystem()
  private let session: Session

  init() throws {
    session = Session(disk: disk)
    var options = EngineOptions()
    options.background = .caller
    let engine = try StorageEngine.open(at: "t.store", options: options, fileSystem: disk)
    try engine.apply([
      .addTable(name: "Setting"),
      .addColumn(table: 1, name: "key", type: .text, isNullable: false),
      .addColumn(table: 1, name: "value", type: .integer, isNullable: true),
      .setLayout(table: 1, columns: [1, 2]),
    ])
    try engine.close()
    try file("first.csv", "_key,key,value\n7,colour,1\n9,size,2\n")
    try #require(try session.run("import", "t.store", "Setting", "first.csv").error == nil)
  }

  private func file(_ name: String, _ text: String) throws {
    let file = try disk.open(name, .create)
    _ = try file.write(Array(text.utf8).span.bytes, at: 0)
  }

  private func export(_ options: String...) throws -> String {
    let result = try session.run(
      ["export", "t.store", "Setting", "--format", "csv"] + options
    )
    return result.transcript
  }

  @Test func `is what its name means in exports, and the keys of rows are named _key`() throws {
    #expect(try export() == "_key,key,value\n1,colour,1\n2,size,2\n")
  }

  @Test(arguments: [
    ("key == 'size'", "2"), ("_key == 1", "1"), ("key startsWith 'c' && _key < 5", "1"),
  ])
  func `is what its name means in conditions`(condition: String, row: String) throws {
    let found = try export("--where", condition, "--columns", "_key")
    #expect(found == "_key\n\(row)\n")
  }

  @Test func `is sorted by`() throws {
    #expect(try export("--columns", "key").split(separator: "\n") == ["key", "colour", "size"])
    let query = try session.run(
      "query",
      "t.store",
      "Setting",
      "--sort",
      "-key",
      "--columns",
      "key,_key",
      "--format",
      "csv"
    )
    #expect(query.output == "key,_key\nsize,2\ncolour,1\n")
  }

  @Test(arguments: ["csv", "ndjson"])
  func `is read back from an export`(format: String) throws {
    let exported = try session.run("export", "t.store", "Setting", "--format", format).output
    try file("again.\(format)", exported)
    let result = try session.run("import", "t.store", "Setting", "again.\(format)")
    #expect(result.output == "imported 2 rows into Setting, in 1 commit\n", "\(result.transcript)")
    #expect(
      try export() == "_key,key,value\n1,colour,1\n2,size,2\n3,colour,1\n4,size,2\n"
    )
  }

  @Test func `has a column of its own in a dump`() throws {
    let dump = try session.run("dump", "t.store", "--entity", "Setting", "--format", "csv")
    #expect(dump.output == "_key,key,value\n1,colour,1\n2,size,2\n", "\(dump.transcript)")
  }

  @Test func `is among the names that are offered`() throws {
    let result = try session.run("export", "t.store", "Setting", "--columns", "kye")
    let error = try #require(result.error)
    #expect("\(error)".contains("_key, key, value"), "\(error)")
  }
}
