import LogEngine
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

@Suite struct `A text of many thousand characters` {
  private let session: Session
  private static let text = String(repeating: "long ", count: 20_000)

  init() throws {
    let disk = SteadyFileSystem()
    var options = EngineOptions()
    options.background = .caller
    let engine = try StorageEngine.open(at: "t.store", options: options, fileSystem: disk)
    try engine.apply([
      .addTable(name: "Note"),
      .addColumn(table: 1, name: "text", type: .text, isNullable: false),
      .addColumn(table: 1, name: "stars", type: .integer, isNullable: false),
      .setLayout(table: 1, columns: [1, 2]),
    ])
    var batch = engine.makeBatch()
    for key in 1...50 as ClosedRange<UInt64> {
      var writer = RowWriter()
      writer.begin(RowLayout([.text, .integer]))
      writer.append(0, text: key == 7 ? Self.text : "short")
      writer.set(1, integer: Int64(key))
      let range = writer.finish()
      batch.insert(
        RowReference(table: 1, key: key),
        layout: .init(1),
        row: writer.bytes.extracting(range)
      )
    }
    try engine.commit(&batch)
    try engine.close()
    session = Session(disk: disk)
  }

  @Test func `makes no other row of a table as long`() throws {
    let result = try session.run("query", "t.store", "Note")
    #expect(result.error == nil)
    #expect(result.output.utf8.count < 50_000)
    #expect(result.output.split(separator: "\n").count == 52)
    // What is left out is marked.
    #expect(result.output.contains("long …") || result.output.contains("g…"))
  }

  @Test(arguments: [
    ["query", "t.store", "Note", "--format", "csv"],
    ["query", "t.store", "Note", "--format", "ndjson"],
    ["dump", "t.store", "--entity", "Note"], ["export", "t.store", "Note"],
  ])
  func `is whole where there is no table`(arguments: [String]) throws {
    let result = try session.run(arguments)
    #expect(result.output.contains(Self.text))
  }
}
