import LogEngine
import RowFormat
import Testing

@Suite struct `An engine that is opened again` {
  @Test(arguments: [false, true])
  func `finds what was committed`(closes: Bool) throws {
    let disk = InMemoryFileSystem()
    var options = EngineOptions()
    options.background = .caller
    let layout = RowLayout([.integer, .text])
    do {
      let engine = try StorageEngine.open(at: "store", options: options, fileSystem: disk)
      let catalogue = try engine.apply([
        .addTable(name: "Trip"),
        .addColumn(table: 1, name: "count", type: .integer, isNullable: false),
        .addColumn(table: 1, name: "name", type: .text, isNullable: true),
        .setLayout(table: 1, columns: [1, 2]),
      ])
      #expect(catalogue.table(named: "Trip")?.currentLayout == LayoutNumber(1))
      var batch = engine.makeBatch()
      var writer = RowWriter()
      for key in engine.reserveKeys(1000, in: 1) {
        writer.removeAll()
        writer.begin(layout)
        writer.set(0, integer: Int64(key))
        writer.append(1, text: "row \(key)")
        _ = writer.finish()
        batch.insert(RowReference(table: 1, key: key), layout: LayoutNumber(1), row: writer.bytes)
      }
      batch.author = "me"
      #expect(try engine.commit(&batch) == CommitSequence(2))
      let view = engine.makeReadView()
      for key in 1...10 as ClosedRange<UInt64> {
        for step in 1...12 {
          writer.removeAll()
          writer.begin(layout)
          writer.set(0, integer: Int64(step))
          writer.append(1, text: "row \(key)")
          _ = writer.finish()
          var changed = ColumnSet()
          changed.insert(0)
          batch.update(
            RowReference(table: 1, key: key),
            layout: LayoutNumber(1),
            changed: changed,
            row: writer.bytes
          )
          try engine.commit(&batch)
        }
      }
      batch.delete(RowReference(table: 1, key: 20))
      try engine.commit(&batch)
      #expect(view.rowCount(of: 1) == 1000)
      #expect(
        try view.withRow(RowReference(table: 1, key: 20)) { row, _ in layout.integer(0, in: row) }
          == 20
      )
      #expect(
        try view.withRow(RowReference(table: 1, key: 2)) { row, _ in layout.integer(0, in: row) }
          == 2
      )
      #expect(
        try engine.withRow(RowReference(table: 1, key: 2)) { row, _ in layout.integer(0, in: row) }
          == 12
      )
      if closes { try engine.close() }
    }
    for _ in 0..<2 {
      let engine = try StorageEngine.open(at: "store", options: options, fileSystem: disk)
      #expect(engine.recovery.wasClosedCleanly == closes)
      #expect(engine.rowCount(of: 1) == 999)
      #expect(engine.lastCommit == CommitSequence(123))
      #expect(
        try engine.withRow(RowReference(table: 1, key: 2)) { row, _ in layout.integer(0, in: row) }
          == 12
      )
      #expect(try !engine.contains(RowReference(table: 1, key: 20)))
      var count = 0
      try engine.scan(1) { key, number, row in
        #expect(layout.text(1, in: row) == "row \(key)")
        count += 1
        return .proceed
      }
      #expect(count == 999)
    }
  }
}
