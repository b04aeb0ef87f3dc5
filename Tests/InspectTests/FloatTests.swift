import LogEngine
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

/// Thirds and tenths in a column that the store says has numbers of the type `Float`, and in one of doubles.
@Suite struct `A column of floats` {
  private let disk = SteadyFileSystem()
  private let session: Session

  static let numbers: [Float] = [1 / 3, 0.1, 16_777_216, .infinity, .nan]

  init() throws {
    session = Session(disk: disk)
    var options = EngineOptions()
    options.background = .caller
    let engine = try StorageEngine.open(at: "t.store", options: options, fileSystem: disk)
    try engine.apply([
      .addTable(name: "Reading"),
      .addColumn(table: 1, name: "f", type: .double, isNullable: true),
      .addColumn(table: 1, name: "d", type: .double, isNullable: true),
      .setLayout(table: 1, columns: [1, 2]),
      .setMetadata(key: "values.1.1", value: Array("numbers Float".utf8)),
      .setMetadata(key: "values.1.2", value: Array("numbers Double".utf8)),
    ])
    var batch = engine.makeBatch()
    for (key, number) in Self.numbers.enumerated() {
      var writer = RowWriter()
      writer.begin(RowLayout([.double, .double]))
      writer.set(0, double: Double(number))
      writer.set(1, double: Double(number))
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

  private func lines(_ command: String...) throws -> [String] {
    let result = try session.run(command)
    #expect(result.error == nil, "\(result.transcript)")
    return result.output.split(separator: "\n").map(String.init)
  }

  @Test func `is shown with the digits of floats`() throws {
    let digits = ["0.33333334", "0.1", "16777216.0", "inf", "nan"]
    let query = ["query", "t.store", "Reading", "--format", "csv", "--columns"]
    #expect(try session.run(query + ["f"]).output == "f\n" + digits.joined(separator: "\n") + "\n")
    let export = ["export", "t.store", "Reading", "--format", "csv", "--columns"]
    #expect(try session.run(export + ["f"]).output == "f\n" + digits.joined(separator: "\n") + "\n")
    #expect(
      try session.run(export + ["d", "--where", "key == 1"]).output == "d\n0.3333333432674408\n"
    )
    #expect(try lines("get", "t.store", "Reading/1").contains { $0.hasSuffix(" 0.33333334") })
    let figures = try session.run(query + ["min(f),max(f)", "--where", "key <= 2"]).output
    #expect(figures == "min(f),max(f)\n0.1,0.33333334\n")
    let groups = try session.run(query + ["f,count", "--group-by", "f", "--where", "key == 1"])
    #expect(groups.output == "f,count\n0.33333334,1\n", "\(groups.transcript)")
  }

  @Test(
    arguments: [
      ("f == 0.33333334", ["1"]), ("f = 0.1", ["2"]), ("f in [0.1, 0.33333334]", ["1", "2"]),
      ("f > 0.1", ["1", "3", "4"]), ("f >= 0.1", ["1", "2", "3", "4"]), ("f == 16777217", ["3"]),
      ("d == 0.1", []), ("f == d", ["1", "2", "3", "4"]),
    ] as [(String, [String])]
  )
  func `is compared as floats`(condition: String, keys: [String]) throws {
    let rows = try lines(
      "query",
      "t.store",
      "Reading",
      "--format",
      "csv",
      "--columns",
      "key",
      "--where",
      condition
    )
    #expect(Array(rows.dropFirst()) == keys)
  }
}
