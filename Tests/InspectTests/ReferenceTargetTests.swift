import LogEngine
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

/// Trips with the airlines that fly them, some of which are regional ones, and a port.
@Suite struct `A reference to a row of another entity` {
  private let disk = SteadyFileSystem()
  private let session: Session

  init() throws {
    session = Session(disk: disk)
    try write { engine in
      try engine.apply([
        .addTable(name: "Airline"),
        .addColumn(table: 1, name: "name", type: .text, isNullable: true),
        .setLayout(table: 1, columns: [1]),
        .addTable(name: "RegionalAirline"),
        .addColumn(table: 2, name: "name", type: .text, isNullable: true),
        .setLayout(table: 2, columns: [1]),
        .addTable(name: "Port"),
        .addColumn(table: 3, name: "name", type: .text, isNullable: true),
        .setLayout(table: 3, columns: [1]),
        .addTable(name: "Trip"),
        .addColumn(table: 4, name: "airline", type: .reference, isNullable: true),
        .setLayout(table: 4, columns: [1]),
        .setMetadata(key: "values.4.1", value: Array("rows Airline\nRegionalAirline".utf8)),
      ])
      var batch = engine.makeBatch()
      for table in 1...3 as ClosedRange<UInt16> {
        var writer = RowWriter()
        writer.begin(RowLayout([.text]))
        let range = writer.finish()
        batch.insert(
          RowReference(table: table, key: 1),
          layout: .init(1),
          row: writer.bytes.extracting(range)
        )
      }
      try engine.commit(&batch)
    }
  }

  private func write(_ body: (StorageEngine) throws -> Void) throws {
    var options = EngineOptions()
    options.background = .caller
    let engine = try StorageEngine.open(at: "t.store", options: options, fileSystem: disk)
    try body(engine)
    try engine.close()
  }

  private func `import`(_ reference: String, _ format: String) throws -> ToolError? {
    let file = try disk.open("t.\(format)", .create)
    let text =
      format == "csv" ? "airline\n\(reference)\n" : "{\"airline\":\"\(reference)\"}\n"
    _ = try file.write(Array(text.utf8).span.bytes, at: 0)
    return try session.run("import", "t.store", "Trip", "t.\(format)").error
  }

  @Test(arguments: ["csv", "ndjson"])
  func `is refused by an import`(format: String) throws {
    let error = try #require(try `import`("Port/1", format))
    #expect(error.expected == "a row of Airline or RegionalAirline")
    #expect(error.found == "Port/1")
    #expect(error.status == .usage)
    #expect(try session.run("export", "t.store", "Trip").output.isEmpty)
    #expect(try `import`("Airline/1", format) == nil)
    #expect(try `import`("RegionalAirline/1", format) == nil)
    #expect(try `import`("Airline/2", format)?.expected == "a row that exists")
  }

  @Test func `is named by a verification`() throws {
    #expect(try `import`("RegionalAirline/1", "csv") == nil)
    try write { engine in
      var batch = engine.makeBatch()
      var writer = RowWriter()
      writer.begin(RowLayout([.reference]))
      writer.set(0, reference: RowReference(table: 3, key: 1))
      let range = writer.finish()
      batch.insert(
        RowReference(table: 4, key: engine.reserveKeys(1, in: 4).lowerBound),
        layout: .init(1),
        row: writer.bytes.extracting(range)
      )
      try engine.commit(&batch)
    }
    let result = try session.run("verify", "t.store", "--format", "csv")
    #expect(result.status == .success)
    #expect(
      result.output.split(separator: "\n").dropFirst() == [
        """
        harmless,t.store,,"Trip/2.airline refers to Port/1, a row of another entity",a row of Airline,Port/1
        """
      ]
    )
  }
}
