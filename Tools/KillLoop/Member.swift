import ArgumentParser
import Foundation
import LogEngine
import RowFormat

/// Commits in turns with others until it is killed.
///
/// The first row counts the commits of all; each commit adds one to it, and a row with the number. So a commit that was
/// lost, or was made from a row that another process had replaced meanwhile, shows in the numbers.
struct Member: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "member",
    abstract:
      "Commits durably beside other members and reports each commit on its output, in eight bytes.",
    shouldDisplay: false
  )

  @Argument var store: String

  func run() throws {
    let engine = try StorageEngine.open(
      at: store,
      options: MembersScript.options(.severalProcesses)
    )
    var batch = engine.makeBatch()
    while true {
      let number = try engine.inTurn {
        let number = try MembersScript.count(in: engine) + 1
        let key = try engine.takeKeys(1, in: MembersScript.table).lowerBound
        MembersScript.fill(&batch, number, key: key)
        try engine.commit(&batch)
        return number
      }
      Writer.report(number)
    }
  }
}

/// The script of the members.
enum MembersScript {
  static let table: UInt16 = 1
  private static let layout = LayoutNumber(1)
  private static let rowLayout = RowLayout([.integer, .text])
  private static let counter = RowReference(table: table, key: 1)

  static func options(_ writers: EngineOptions.Writers) -> EngineOptions {
    var options = KillScript.options(.readWrite)
    options.writers = writers
    return options
  }

  /// Makes the store, with the row that counts.
  static func make(_ path: String) throws {
    let engine = try StorageEngine.open(at: path, options: options(.oneProcess))
    try engine.apply([
      .addTable(name: "Row"),
      .addColumn(table: table, name: "number", type: .integer, isNullable: false),
      .addColumn(table: table, name: "text", type: .text, isNullable: false),
      .setLayout(table: table, columns: [1, 2]),
    ])
    _ = engine.reserveKeys(1, in: table)
    var batch = engine.makeBatch()
    batch.insert(counter, layout: layout, row: row(0).span.bytes)
    try engine.commit(&batch)
    try engine.close()
  }

  static func count(in engine: StorageEngine) throws -> Int {
    try engine.withRow(counter) { row, _ in Int(rowLayout.integer(0, in: row)) } ?? -1
  }

  static func fill(_ batch: inout CommitBatch, _ number: Int, key: UInt64) {
    var changed = ColumnSet()
    changed.insert(0)
    batch.update(counter, layout: layout, changed: changed, row: row(number).span.bytes)
    batch.insert(
      RowReference(table: table, key: key),
      layout: layout,
      row: row(number).span.bytes
    )
  }

  private static func row(_ number: Int) -> [UInt8] {
    var writer = RowWriter()
    writer.begin(rowLayout)
    writer.set(0, integer: Int64(number))
    let letter = UInt8(ascii: "a") + UInt8(number % 26)
    writer.append(1, bytes: [UInt8](repeating: letter, count: number * 37 % 300).span.bytes)
    let range = writer.finish()
    return writer.bytes.extracting(range).withUnsafeBytes { Array($0) }
  }

  /// The numbers of all commits there are, in no order, and what the first row counted.
  static func numbers(in engine: StorageEngine) throws -> (count: Int, all: [Int]) {
    var all: [Int] = []
    try engine.scan(table) { key, _, row in
      if key != counter.key { all.append(Int(rowLayout.integer(0, in: row))) }
      return .proceed
    }
    return (try count(in: engine), all)
  }
}
