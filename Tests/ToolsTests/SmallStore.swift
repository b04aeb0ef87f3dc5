import Foundation
import LogEngine
import RowFormat

/// A store of three towns and a note about two of them, written through the engine alone.
struct SmallStore {
  let folder: TemporaryFolder
  var path: String { folder.path("towns.store") }

  init() throws {
    folder = try TemporaryFolder()
    let engine = try StorageEngine.open(at: path, options: EngineOptions())
    _ = try engine.apply([
      .setMetadata(key: "store.identifier", value: Array("TOWNS".utf8)),
      .addTable(name: "Town"),
      .addColumn(table: 1, name: "name", type: .text, isNullable: false),
      .addColumn(table: 1, name: "founded", type: .date, isNullable: true),
      .addColumn(table: 1, name: "_rank", type: .integer, isNullable: true),
      .setLayout(table: 1, columns: [1, 2, 3]),
      .addTable(name: "Note"),
      .addColumn(table: 2, name: "towns", type: .references, isNullable: false),
      .addColumn(table: 2, name: "picture", type: .bytes, isNullable: true),
      .setLayout(table: 2, columns: [1, 2]),
      .addTable(name: "_Keys"),
      .addColumn(table: 3, name: "next", type: .integer, isNullable: false),
      .setLayout(table: 3, columns: [1]),
    ])
    var batch = engine.makeBatch()
    for (key, name) in [(1, "Lisbon"), (2, "Porto"), (3, "Faro")] as [(UInt64, String)] {
      insert(1, key, of: [.text, .date, .integer], into: &batch) { row in
        if key == 1 { row.set(1, double: -1_000_000_000) }
        row.set(2, integer: Int64(key))
        row.append(0, text: name)
      }
    }
    insert(2, 1, of: [.references, .bytes], into: &batch) { row in
      row.append(0, references: [RowReference(table: 1, key: 2), RowReference(table: 1, key: 1)])
      let picture = [UInt8](repeating: 0xAB, count: 20)
      row.append(1, bytes: picture.span.bytes)
    }
    insert(3, 1, of: [.integer], into: &batch) { $0.set(0, integer: 9) }
    _ = try engine.commit(&batch)
    var second = engine.makeBatch()
    second.delete(RowReference(table: 1, key: 3))
    _ = try engine.commit(&second)
    try engine.close()
  }

  private func insert(
    _ table: UInt16,
    _ key: UInt64,
    of types: [ColumnType],
    into batch: inout CommitBatch,
    _ fill: (inout RowWriter) -> Void
  ) {
    var writer = RowWriter()
    writer.begin(RowLayout(types))
    fill(&writer)
    let range = writer.finish()
    batch.insert(
      RowReference(table: table, key: key),
      layout: LayoutNumber(1),
      row: writer.bytes.extracting(range)
    )
  }
}
