import LogEngine
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

/// Drivers and cars: a driver has one car, and a car one driver.
@Suite struct `An import of one end of a one-to-one` {
  private let disk = SteadyFileSystem()
  private let session: Session

  /// Makes the drivers 1, which has the car 1, 2 and 3, and the cars 1 and 2; driver 3 is from before drivers had cars.
  init() throws {
    session = Session(disk: disk)
    let engine = try Self.makeStore("t.store", on: disk)
    let driver = RowLayout([.text, .integer, .reference])
    let car = RowLayout([.text, .reference])
    var batch = engine.makeBatch()
    var writer = RowWriter()
    for key in UInt64(1)...3 {
      writer.removeAll()
      writer.begin(key == 3 ? RowLayout([.text]) : driver)
      writer.append(0, text: "d\(key)")
      if key < 3 { writer.set(1, integer: 10) }
      if key == 1 { writer.set(2, reference: RowReference(table: 2, key: 1)) }
      let range = writer.finish()
      batch.insert(
        RowReference(table: 1, key: engine.reserveKeys(1, in: 1).lowerBound),
        layout: LayoutNumber(key == 3 ? 1 : 2),
        row: writer.bytes.extracting(range)
      )
    }
    for key in UInt64(1)...2 {
      writer.removeAll()
      writer.begin(car)
      writer.append(0, text: "c\(key)")
      if key == 1 { writer.set(1, reference: RowReference(table: 1, key: 1)) }
      let range = writer.finish()
      batch.insert(
        RowReference(table: 2, key: engine.reserveKeys(1, in: 2).lowerBound),
        layout: LayoutNumber(1),
        row: writer.bytes.extracting(range)
      )
    }
    try engine.commit(&batch)
    try engine.close()
  }

  private static func makeStore(
    _ path: String,
    on disk: SteadyFileSystem
  ) throws -> StorageEngine {
    var options = EngineOptions()
    options.background = .caller
    let engine = try StorageEngine.open(at: path, options: options, fileSystem: disk)
    try engine.apply([
      .addTable(name: "Driver"),
      .addColumn(table: 1, name: "name", type: .text, isNullable: false),
      .setLayout(table: 1, columns: [1]),
      .addTable(name: "Car"),
      .addColumn(table: 2, name: "name", type: .text, isNullable: false),
      .addColumn(table: 2, name: "driver", type: .reference, isNullable: true),
      .setLayout(table: 2, columns: [1, 2]),
      .addColumn(table: 1, name: "points", type: .integer, isNullable: false),
      .addColumn(table: 1, name: "car", type: .reference, isNullable: true),
      .setLayout(table: 1, columns: [1, 2, 3]),
    ])
    var fill = RowWriter()
    fill.begin(RowLayout([.integer]))
    fill.set(0, integer: 7)
    _ = fill.finish()
    let bytes = fill.bytes.withUnsafeBytes { Array($0) }
    try engine.apply([.setMetadata(key: "fill.1.2", value: bytes)])
    for (column, inverse) in [("1.3", "2.2"), ("2.2", "1.3")] {
      try engine.apply([
        .setMetadata(key: "inverse.\(column)", value: Array("one".utf8)),
        .setMetadata(key: "inverse.\(column).of", value: Array(inverse.utf8)),
      ])
    }
    return engine
  }

  private func `import`(
    _ entity: String,
    _ name: String,
    _ text: String,
    _ options: String...
  ) throws -> Session.Result {
    let file = try disk.open(name, .create)
    _ = try file.write(Array(text.utf8).span.bytes, at: 0)
    return try session.run(["import", "t.store", entity, name] + options)
  }

  private func rows(_ entity: String, in store: String = "t.store") throws -> [Substring] {
    let result = try session.run("export", store, entity, "--format", "csv")
    return Array(result.output.split(separator: "\n").dropFirst())
  }

  /// What contradicts itself.
  private func problems() throws -> [Substring] {
    let result = try session.run("verify", "t.store", "--format", "csv")
    return Array(result.output.split(separator: "\n").dropFirst())
  }

  @Test(arguments: ["t.csv", "t.ndjson"], [[], ["--commit-every", "1"]])
  func `sets the other, too`(file: String, options: [String]) throws {
    let text =
      file == "t.csv"
      ? "name,driver\nc3,Driver/2\nc4,\nc5,Driver/3\n"
      : "{\"name\":\"c3\",\"driver\":\"Driver/2\"}\n{\"name\":\"c4\"}\n{\"name\":\"c5\",\"driver\":\"Driver/3\"}\n"
    let before = try rows("Car")
    #expect(try `import`("Car", file, text, "--dry-run").status == .success)
    #expect(try rows("Car") == before)
    let stream = try disk.open(file, .create)
    _ = try stream.write(Array(text.utf8).span.bytes, at: 0)
    let result = try session.run(["import", "t.store", "Car", file] + options)
    #expect(result.status == .success, "\(result.transcript)")
    #expect(
      try rows("Car") == ["1,c1,Driver/1", "2,c2,", "3,c3,Driver/2", "4,c4,", "5,c5,Driver/3"]
    )
    // The row of an older layout keeps its values, and has those that it had by default.
    #expect(try rows("Driver") == ["1,d1,10,Car/1", "2,d2,10,Car/3", "3,d3,7,Car/5"])
    #expect(try problems().isEmpty)
  }

  @Test func `sets the other from the other side, too`() throws {
    #expect(
      try `import`("Driver", "t.csv", "name,points,car\nd4,1,Car/2\n").status == .success
    )
    #expect(try rows("Car") == ["1,c1,Driver/1", "2,c2,Driver/4"])
    #expect(try problems().isEmpty)
  }

  @Test(arguments: [
    (
      "Car", "t.csv", "name,driver\nc3,Driver/2\nc4,Driver/1\n", "line 3, character 4",
      "a row whose car is nil", "Driver/1, whose car is Car/1"
    ),
    (
      "Car", "t.ndjson", "{\"name\":\"c3\",\"driver\":\"Driver/1\"}", "line 1, character 23",
      "a row whose car is nil", "Driver/1, whose car is Car/1"
    ),
    (
      "Driver", "t.csv", "name,points,car\nd,1,Car/1\n", "line 2, character 5",
      "a row whose driver is nil", "Car/1, whose driver is Driver/1"
    ),
    (
      "Car", "t.csv", "name,driver\nc3,Driver/2\nc4,\nc5,Driver/2\n", "line 4, character 4",
      "a row that no other row of the file names", "Driver/2, which line 2 names"
    ),
    (
      "Car", "t.csv", "name,driver\nc3,Driver/9\n", "line 2, character 4", "a row that exists",
      "Driver/9"
    ),
  ])
  func `is refused where the other is taken, or named twice`(
    entity: String,
    name: String,
    text: String,
    place: String,
    expected: String,
    found: String
  ) throws {
    let before = try rows("Car") + rows("Driver")
    for options in [["--dry-run"], [], ["--commit-every", "1"]] {
      let file = try disk.open(name, .create)
      _ = try file.write(Array(text.utf8).span.bytes, at: 0)
      let error = try #require(
        try session.run(["import", "t.store", entity, name] + options).error
      )
      #expect(error.place == "\(name), \(place)")
      #expect(error.expected?.hasPrefix(expected) ?? false, "\(error)")
      #expect(error.found == found)
      #expect(error.status == .usage)
      #expect(try rows("Car") + rows("Driver") == before)
    }
  }

  /// The partner was deleted by a program that did not know of the relationship, say.
  @Test func `takes an end that leads to a row that is gone for nil`() throws {
    let engine = try StorageEngine.open(at: "t.store", options: EngineOptions(), fileSystem: disk)
    var batch = engine.makeBatch()
    batch.delete(RowReference(table: 2, key: 1))
    try engine.commit(&batch)
    try engine.close()
    #expect(try `import`("Car", "t.csv", "name,driver\nc3,Driver/1\n").status == .success)
    #expect(try rows("Driver").first == "1,d1,10,Car/3")
    #expect(try problems().isEmpty)
  }

  @Test(arguments: ["csv", "ndjson"])
  func `brings an exported one-to-one back, if its entities come one after the other`(
    format: String
  ) throws {
    try Self.makeStore("u.store", on: disk).close()
    for (entity, columns) in [("Driver", "name,points"), ("Car", "name,driver")] {
      let text = try session.run(
        "export",
        "t.store",
        entity,
        "--columns",
        columns,
        "--format",
        format
      ).output
      let file = try disk.open("x.\(format)", .create)
      _ = try file.write(Array(text.utf8).span.bytes, at: 0)
      let result = try session.run("import", "u.store", entity, "x.\(format)")
      #expect(result.status == .success, "\(result.transcript)")
    }
    #expect(try rows("Driver", in: "u.store") == rows("Driver"))
    #expect(try rows("Car", in: "u.store") == rows("Car"))
  }
}
