import LogEngine
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

@Suite struct `A comparison of stores` {
  @Test(arguments: [
    ("diff-commits", ["towns.store@3", "@9"]),
    ("diff-commits-all", ["towns.store@3", "towns.store@9", "--all"]),
    ("diff-entity", ["towns.store@4", "@6", "--entity", "Town"]),
    ("diff-brief", ["towns.store@3", "@9", "--brief"]),
    ("diff-brief-csv", ["towns.store@3", "@9", "--brief", "--format", "csv"]),
    ("diff-json", ["towns.store@3", "@9", "--format", "json"]),
    ("diff-ndjson", ["towns.store@3", "@9", "--format", "ndjson"]),
    ("diff-csv", ["towns.store@3", "@9", "--format", "csv"]),
    ("diff-same", ["towns.store", "copy.store"]),
    ("diff-same-json", ["towns.store", "copy.store", "--format", "json"]),
  ])
  func `says which rows differ, and how`(name: String, arguments: [String]) throws {
    let store = try TownStore()
    try store.copy(to: "copy.store")
    let session = Session(disk: store.disk)
    let result = try session.run(["diff"] + arguments)
    #expect(result.error == nil)
    try expectSnapshot(result.transcript, name)
    let strict = try session.run(["diff", "--exit-code"] + arguments)
    #expect(strict.status == (name.hasPrefix("diff-same") ? .success : .checkFailed))
  }

  @Test func `sees bytes that differ beyond those that are shown`() throws {
    let store = try TownStore()
    try store.copy(to: "copy.store")
    try store.write { engine in
      let note = TownStore.row(TownStore.notes) { row in
        row.append(0, references: [TownStore.town(2), TownStore.town(1)])
        let picture = [UInt8](repeating: 0xAB, count: 19) + [0xAC]
        row.append(1, bytes: picture.span.bytes)
      }
      var changed = ColumnSet()
      changed.insert(1)
      var batch = engine.makeBatch()
      note.map {
        batch.update(
          RowReference(table: 2, key: 1),
          layout: .init(1),
          changed: changed,
          row: $0
        )
      }
      try engine.commit(&batch)
    }
    let result = try Session(disk: store.disk).run("diff", "towns.store", "copy.store")
    #expect(result.output.contains("~ Note/1  picture 20 bytes"))
  }

  @Test func `compares references by what they name`() throws {
    let store = try TownStore()
    try store.copy(to: "copy.store")
    // Another order of tables, so that the same numbers name other tables.
    let other = try StorageEngine.open(
      at: "other.store",
      options: TownStore.options(),
      fileSystem: store.disk
    )
    try other.apply([
      .addTable(name: "Note"),
      .addColumn(table: 1, name: "towns", type: .references, isNullable: false),
      .addColumn(table: 1, name: "picture", type: .bytes, isNullable: true),
      .setLayout(table: 1, columns: [1, 2]), .addTable(name: "Town"),
    ])
    var batch = other.makeBatch()
    let note = TownStore.row(TownStore.notes) { row in
      row.append(
        0,
        references: [RowReference(table: 2, key: 2), RowReference(table: 2, key: 1)]
      )
      let picture = [UInt8](repeating: 0xAB, count: 20)
      row.append(1, bytes: picture.span.bytes)
    }
    note.map { batch.insert(RowReference(table: 1, key: 1), layout: .init(1), row: $0) }
    try other.commit(&batch)
    try other.close()
    let session = Session(disk: store.disk)
    let result = try session.run("diff", "towns.store", "other.store", "--entity", "Note")
    #expect(result.output.hasSuffix("no differences\n"), "\(result.transcript)")
  }
}
