import LogEngine
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

/// Drivers with a car each, and clubs that have many drivers, who are in many clubs.
@Suite struct `Ends of relationships that contradict each other` {
  private let disk = SteadyFileSystem()
  private let session: Session

  init() { session = Session(disk: disk) }

  private static let driver = RowLayout([.reference, .references])
  private static let others = [RowLayout([.reference]), RowLayout([.references])]

  private func reference(_ table: UInt16, _ key: UInt64) -> RowReference {
    RowReference(table: table, key: key)
  }

  /// Writes drivers as table 1, cars as table 2 and clubs as table 3; a car or driver 0 is none.
  private func write(
    drivers: [(car: UInt64, clubs: [UInt64])],
    cars: [UInt64],
    clubs: [[UInt64]]
  ) throws {
    var options = EngineOptions()
    options.background = .caller
    let engine = try StorageEngine.open(at: "t.store", options: options, fileSystem: disk)
    try engine.apply([
      .addTable(name: "Driver"),
      .addColumn(table: 1, name: "car", type: .reference, isNullable: true),
      .addColumn(table: 1, name: "clubs", type: .references, isNullable: true),
      .setLayout(table: 1, columns: [1, 2]),
      .addTable(name: "Car"),
      .addColumn(table: 2, name: "driver", type: .reference, isNullable: true),
      .setLayout(table: 2, columns: [1]),
      .addTable(name: "Club"),
      .addColumn(table: 3, name: "drivers", type: .references, isNullable: true),
      .setLayout(table: 3, columns: [1]),
    ])
    for (column, kind, inverse) in [
      ("1.1", "one", "2.1"), ("1.2", "many", "3.1"), ("2.1", "one", "1.1"), ("3.1", "many", "1.2"),
    ] {
      try engine.apply([
        .setMetadata(key: "inverse.\(column)", value: Array(kind.utf8)),
        .setMetadata(key: "inverse.\(column).of", value: Array(inverse.utf8)),
      ])
    }
    var batch = engine.makeBatch()
    func insert(
      _ table: UInt16,
      _ key: Int,
      _ layout: RowLayout,
      _ body: (inout RowWriter) -> Void
    ) {
      var writer = RowWriter()
      writer.begin(layout)
      body(&writer)
      let range = writer.finish()
      batch.insert(
        reference(table, UInt64(key)),
        layout: .init(1),
        row: writer.bytes.extracting(range)
      )
    }
    for (number, driver) in drivers.enumerated() {
      insert(1, number + 1, Self.driver) { writer in
        if driver.car != 0 { writer.set(0, reference: reference(2, driver.car)) }
        writer.append(1, references: driver.clubs.map { reference(3, $0) })
      }
    }
    for (number, driver) in cars.enumerated() {
      insert(2, number + 1, Self.others[0]) { writer in
        if driver != 0 { writer.set(0, reference: reference(1, driver)) }
      }
    }
    for (number, drivers) in clubs.enumerated() {
      insert(3, number + 1, Self.others[1]) { writer in
        writer.append(0, references: drivers.map { reference(1, $0) })
      }
    }
    try engine.commit(&batch)
    try engine.close()
  }

  private func verify() throws -> [Substring] {
    let result = try session.run("verify", "t.store", "--format", "csv")
    #expect(result.status == .success)
    return Array(result.output.split(separator: "\n").dropFirst())
  }

  @Test func `are not those of a sound store`() throws {
    try write(
      drivers: [(1, [1, 2]), (0, [2]), (2, [])],
      cars: [1, 3],
      clubs: [[1], [2, 1]]
    )
    #expect(try verify().isEmpty)
  }

  @Test func `are named, where a car names its driver's former one`() throws {
    try write(drivers: [(1, []), (1, [])], cars: [2], clubs: [])
    let lines = try verify()
    #expect(lines.count == 1)
    #expect(try #require(lines.first).contains("Driver/1"))
    #expect(try #require(lines.first).contains("Car/1"))
  }

  @Test func `are named, where a list lacks a member that has it`() throws {
    try write(drivers: [(0, [1, 2]), (0, [1])], cars: [], clubs: [[1], [1]])
    let lines = try verify()
    #expect(lines.count == 1)
    #expect(try #require(lines.first).contains("Driver/2"))
    #expect(try #require(lines.first).contains("Club/1"))
  }
}
