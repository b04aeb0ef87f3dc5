import LogEngine
import LogEngineTestSupport
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

@Suite struct `An import that ends before the file does` {
  private let disk = SimulatedFileSystem(seed: 4)

  init() throws {
    var options = EngineOptions()
    options.background = .caller
    let engine = try StorageEngine.open(at: "/t.store", options: options, fileSystem: disk)
    try engine.apply([
      .addTable(name: "Town"),
      .addColumn(table: 1, name: "name", type: .text, isNullable: false),
      .setLayout(table: 1, columns: [1]),
    ])
    try engine.close()
  }

  /// Rows of a line each, but for the first of which the name has two.
  private func write(_ rows: Int, to path: String) throws {
    let name = String(repeating: "x", count: 20_000)
    let text =
      "name\n\"a\nb\"\n" + (1..<rows).map { "\($0)\(name)\n" }.joined()
    let file = try disk.open(path, .create)
    _ = try file.write(Array(text.utf8).span.bytes, at: 0)
  }

  /// Imports with room for some more bytes.
  private func run(room: Int, _ arguments: String...) throws -> Session.Result {
    var faults = FaultPlan()
    faults.capacity = disk.disk.byteCount + room
    disk.setFaults(faults)
    defer { disk.setFaults(FaultPlan()) }
    return try Session(disk: disk).run(["import", "/t.store", "Town", "/rows.csv"] + arguments)
  }

  private func count() throws -> Int {
    let result = try Session(disk: disk).run("count", "/t.store", "Town", "--format", "csv")
    let last = try #require(result.output.split(separator: "\n").last)
    return try #require(Int(last.split(separator: ",").last ?? ""))
  }

  @Test func `says what is imported, and where the rest begins`() throws {
    try write(400, to: "/rows.csv")
    let result = try run(room: 4 << 20, "--commit-every", "10")
    let count = try count()
    #expect(10..<400 ~= count && count % 10 == 0, "\(result.transcript)")
    let error = try #require(result.error)
    #expect(error.what.contains("the disk is full"))
    #expect(error.what.contains("\(count) rows"), "\(error)")
    // The header, and the name of two lines.
    #expect(error.advice?.contains("line \(count + 3) ") ?? false, "\(error)")
  }

  @Test func `says no such thing where nothing is imported`() throws {
    try write(400, to: "/rows.csv")
    let result = try run(room: 1 << 20)
    #expect(try count() == 0)
    #expect(result.error?.what == "the disk is full", "\(result.transcript)")
  }
}
