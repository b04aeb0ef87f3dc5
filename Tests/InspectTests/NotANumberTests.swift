import LogEngine
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

/// Readings of 1, 2 and 1, and three that are not a number.
@Suite struct `Rows whose values are not a number` {
  private let session: Session

  init() throws {
    let disk = SteadyFileSystem()
    var options = EngineOptions()
    options.background = .caller
    let engine = try StorageEngine.open(at: "t.store", options: options, fileSystem: disk)
    try engine.apply([
      .addTable(name: "Reading"),
      .addColumn(table: 1, name: "value", type: .double, isNullable: true),
      .addColumn(table: 1, name: "taken", type: .date, isNullable: true),
      .setLayout(table: 1, columns: [1, 2]),
    ])
    var batch = engine.makeBatch()
    let withPayload = Double(nan: 5, signaling: false)
    for (key, value) in [1, .nan, 2, -.nan, withPayload, 1].enumerated() {
      var writer = RowWriter()
      writer.begin(RowLayout([.double, .date]))
      writer.set(0, double: value)
      writer.set(1, double: value)
      let range = writer.finish()
      batch.insert(
        RowReference(table: 1, key: UInt64(key + 1)),
        layout: .init(1),
        row: writer.bytes.extracting(range)
      )
    }
    try engine.commit(&batch)
    try engine.close()
    session = Session(disk: disk)
  }

  @Test(arguments: ["value", "taken"])
  func `are one group, and one distinct value`(column: String) throws {
    let groups = try session.run(
      "query",
      "t.store",
      "Reading",
      "--columns",
      "count",
      "--group-by",
      column,
      "--format",
      "csv"
    )
    #expect(groups.output.split(separator: "\n").map(String.init) == ["count", "1", "2", "3"])
    let distinct = try session.run(
      "query",
      "t.store",
      "Reading",
      "--columns",
      "distinct(\(column))",
      "--format",
      "csv"
    )
    #expect(distinct.output.split(separator: "\n").last == "3", "\(distinct.transcript)")
  }
}
