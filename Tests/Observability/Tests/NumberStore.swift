import LogEngine

/// A store in memory with one table of a number.
struct NumberStore {
  let engine: StorageEngine

  init(
    on disk: InMemoryFileSystem = InMemoryFileSystem(),
    onEvent: EngineEventHandler? = nil
  ) throws {
    var options = EngineOptions()
    options.background = .caller
    options.smallestSegment = 16 << 10
    options.largestSegment = 16 << 10
    engine = try StorageEngine.open(
      at: "store",
      options: options,
      fileSystem: disk,
      onEvent: onEvent
    )
    if engine.catalogue.tables.isEmpty {
      try engine.apply([
        .addTable(name: "numbers"),
        .addColumn(table: 1, name: "number", type: .integer, isNullable: false),
        .setLayout(table: 1, columns: [1]),
      ])
    }
  }

  /// Inserts rows, each in a commit of its own.
  func insert(_ count: Int) throws {
    var batch = engine.makeBatch()
    for key in engine.reserveKeys(count, in: 1) {
      var writer = RowWriter()
      writer.begin(RowLayout([.integer]))
      writer.set(0, integer: Int64(key))
      _ = writer.finish()
      batch.insert(RowReference(table: 1, key: key), layout: LayoutNumber(1), row: writer.bytes)
      try engine.commit(&batch)
    }
  }
}
