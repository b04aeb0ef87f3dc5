import LogEngine

/// A store in memory with one table of sample rows.
final class SampleStore {
  let engine: StorageEngine
  let layout: LayoutNumber
  private var batch: CommitBatch
  private var writer = RowWriter()

  static let table: UInt16 = 1

  init(rows: Int) throws {
    var options = EngineOptions()
    options.durability = .memory
    options.background = .caller
    engine = try StorageEngine.open(at: "store", options: options, fileSystem: InMemoryFileSystem())
    let columns = SampleRow.layout.types.enumerated().map { number, type in
      CatalogueChange.addColumn(
        table: Self.table,
        name: "column\(number)",
        type: type,
        isNullable: number == 7
      )
    }
    let order = CatalogueChange.setLayout(
      table: Self.table,
      columns: columns.indices.map { UInt16($0 + 1) }
    )
    let catalogue = try engine.apply([.addTable(name: "Sample")] + columns + [order])
    guard let layout = catalogue.table(Self.table)?.currentLayout else {
      throw StorageError.unknownTable(Self.table)
    }
    self.layout = layout
    batch = engine.makeBatch()
    try append(rows, perCommit: 1000)
  }

  /// Appends rows, so many a commit.
  func append(_ count: Int, perCommit: Int) throws {
    for number in 0..<count {
      writer.removeAll()
      let place = SampleRow.write(number, to: &writer)
      batch.insert(
        RowReference(table: Self.table, key: engine.reserveKeys(1, in: Self.table).lowerBound),
        layout: layout,
        row: writer.bytes.extracting(place)
      )
      if (number + 1) % perCommit == 0 { _ = try engine.commit(&batch) }
    }
  }

  /// One of the first thousand rows.
  static func reference(_ number: Int) -> RowReference {
    RowReference(table: table, key: UInt64(number % 1000 + 1))
  }
}

extension Operation {
  /// Records into the log, and keys out of the index.
  static var engine: [Operation] {
    [
      Operation("record append, 100 a commit") {
        let store = try SampleStore(rows: 1000)
        return { count in try store.append(count, perCommit: 100) }
      },
      Operation("index lookup") {
        let store = try SampleStore(rows: 1000)
        return { count in
          for number in 0..<count { use(try store.engine.contains(SampleStore.reference(number))) }
        }
      },
      Operation("point read of one column") {
        let store = try SampleStore(rows: 1000)
        let layout = SampleRow.layout
        return { count in
          for number in 0..<count {
            use(
              try store.engine.withRow(SampleStore.reference(number)) { row, _ in
                layout.integer(2, in: row)
              }
            )
          }
        }
      },
    ]
  }
}
