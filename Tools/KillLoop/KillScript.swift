import LogEngine
import RowFormat

/// The writer's script, in which the whole store follows from the number of the last
/// commit, so that any process can tell a prefix of the commits from anything else.
///
/// Commit 1 makes the table. Each later commit *n* inserts row *n*, changes row *n* - 8 and deletes
/// row *n* - 64.
enum KillScript {
  static let table: UInt16 = 1
  static let layout = LayoutNumber(1)
  static let rowLayout = RowLayout([.integer, .text, .integer])
  static let catalogue: [CatalogueChange] = [
    .addTable(name: "Row"),
    .addColumn(table: table, name: "changedIn", type: .integer, isNullable: false),
    .addColumn(table: table, name: "text", type: .text, isNullable: false),
    .addColumn(table: table, name: "key", type: .integer, isNullable: false),
    .setLayout(table: table, columns: [1, 2, 3]),
  ]

  /// The keys of the rows there are after a commit.
  static func keys(after commit: Int) -> ClosedRange<Int>? {
    commit < 2 ? nil : max(2, commit - 63)...commit
  }

  /// The row of a key after a commit.
  static func row(_ key: Int, after commit: Int) -> [UInt8] {
    var writer = RowWriter()
    writer.begin(rowLayout)
    writer.set(0, integer: Int64(key + 8 <= commit ? key + 8 : key))
    let letter = UInt8(ascii: "a") + UInt8(key % 26)
    // Most rows are short; some do not fit into what is left of a segment.
    let count = key % 50 == 0 ? 20_000 : key * 37 % 400
    writer.append(1, bytes: [UInt8](repeating: letter, count: count).span.bytes)
    writer.set(2, integer: Int64(key))
    let range = writer.finish()
    return writer.bytes.extracting(range).withUnsafeBytes { Array($0) }
  }

  /// Small files, so that they change often, and are packed behind the writer's back.
  static func options(_ mode: EngineOptions.Mode) -> EngineOptions {
    var options = EngineOptions()
    options.mode = mode
    options.smallestSegment = 64 << 10
    options.largestSegment = 256 << 10
    options.checkpointInterval = 128 << 10
    options.compaction = .automatic
    return options
  }
}
