import LogEngine
import RowFormat

/// A store with something of everything, which fuzzers change: rows in packs and in the log, in layouts of
/// different age, updated, deleted; dictionaries, lists, values in files of their own; a checkpoint.
package enum FuzzedStore {
  package static let path = "fuzzed.store"

  private static let types: [ColumnType] = [
    .integer, .double, .bool, .date, .uuid, .reference, .text, .bytes, .references, .structured,
    .blob,
  ]

  private static var options: EngineOptions {
    var options = EngineOptions()
    options.background = .caller
    options.smallestSegment = 16 << 10
    options.largestSegment = 32 << 10
    return options
  }

  /// Makes the store.
  package static func image() throws -> StoreImage {
    let disk = InMemoryFileSystem()
    let engine = try StorageEngine.open(at: path, options: options, fileSystem: disk)
    var changes: [CatalogueChange] = [.addTable(name: "Thing")]
    for (index, type) in types.enumerated() {
      changes.append(
        .addColumn(table: 1, name: "c\(index)", type: type, isNullable: index % 2 == 0)
      )
    }
    changes.append(.setLayout(table: 1, columns: (1...UInt16(types.count)).map { $0 }))
    changes.append(.setMetadata(key: "schema.version", value: Array("1.0.0".utf8)))
    try engine.apply(changes)
    try insert(40, into: engine, types)
    try update(engine)
    try engine.compact()
    try engine.apply([
      .addColumn(table: 1, name: "later", type: .text, isNullable: true),
      .setLayout(table: 1, columns: (1...UInt16(types.count + 1)).map { $0 }),
      .addTable(name: "_Other"),
      .addColumn(table: 2, name: "name", type: .text, isNullable: false),
      .setLayout(table: 2, columns: [1]),
    ])
    try insert(20, into: engine, types + [.text])
    try engine.compact()
    try insert(12, into: engine, types + [.text])
    try update(engine)
    try engine.checkpoint()
    try insert(6, into: engine, types + [.text])
    try engine.close()
    return try StoreImage(of: path, on: disk)
  }

  private static func insert(
    _ count: Int,
    into engine: StorageEngine,
    _ types: [ColumnType]
  ) throws {
    guard let layout = engine.catalogue.table(1)?.currentLayout else { return }
    let rowLayout = RowLayout(types)
    for start in stride(from: 0, to: count, by: 4) {
      var batch = engine.makeBatch()
      batch.author = "fuzzer"
      for _ in start..<(start + 4) {
        let key = engine.reserveKeys(1, in: 1).lowerBound
        var writer = RowWriter()
        writer.begin(rowLayout)
        try fill(&writer, key, types, &batch)
        let range = writer.finish()
        batch.insert(
          RowReference(table: 1, key: key),
          layout: layout,
          row: writer.bytes.extracting(range)
        )
      }
      try engine.commit(&batch)
      engine.performBackgroundWork()
    }
  }

  private static func fill(
    _ writer: inout RowWriter,
    _ key: UInt64,
    _ types: [ColumnType],
    _ batch: inout CommitBatch
  ) throws {
    writer.set(0, integer: Int64(key) * 1000)
    writer.set(1, double: Double(key) / 4)
    writer.set(2, bool: key % 3 == 0)
    if key % 5 != 0 { writer.set(3, double: Double(key) * 60) }
    writer.set(4, uuid: (key, ~key))
    if key % 3 != 0 { writer.set(5, reference: RowReference(table: 1, key: key)) }
    writer.append(6, text: key % 2 == 0 ? "even" : "odd, and a little longer")
    writer.append(7, bytes: [UInt8](repeating: 7, count: Int(key) % 50).span.bytes)
    writer.append(8, references: (0..<(key % 5)).map { RowReference(table: 1, key: $0 + 1) })
    // A map of one text to a list.
    writer.append(
      9,
      bytes: ([0xA1, 0x61, 0x78, 0x83, 1, 2, UInt8(key % 23)] as [UInt8]).span.bytes
    )
    if key % 7 == 0 {
      let value = [UInt8](repeating: UInt8(key), count: 300)
      writer.append(10, blob: try batch.addBlob(value.span.bytes))
    }
    if types.count > 11 { writer.append(11, text: "later \(key)") }
  }

  /// Changes a column of some rows, and deletes others.
  private static func update(_ engine: StorageEngine) throws {
    guard let table = engine.catalogue.table(1), let layout = table.layout(table.currentLayout)
    else { return }
    var rows: [(UInt64, [UInt8])] = []
    try engine.scan(1) { key, number, row in
      if number == layout.number { rows.append((key, row.withUnsafeBytes { Array($0) })) }
      return .proceed
    }
    var batch = engine.makeBatch()
    for (key, row) in rows where key % 2 == 0 {
      let reference = RowReference(table: 1, key: key)
      if key % 6 == 0 {
        batch.delete(reference)
        continue
      }
      var changed = ColumnSet()
      changed.insert(0)
      var row = row
      for byte in 0..<8 { row[layout.layout.offset(of: 0) + byte] = UInt8(key) }
      batch.update(reference, layout: layout.number, changed: changed, row: row.span.bytes)
    }
    try engine.commit(&batch)
  }
}
