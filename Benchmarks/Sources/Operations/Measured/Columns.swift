import LogEngine

extension Operation {
  /// Columns out of a pack in memory, without a cache: an operation is a row.
  static var columns: [Operation] {
    [
      Operation("column decode, integers") {
        let (reader, column) = try makePack(column: 2)
        return { count in
          var sum: Int64 = 0
          for _ in 0..<count / packedRows {
            try reader.scanColumns(SampleStore.table, [column]) { block in
              // Not `try block.column(0).integers`: Swift 6.3 stops at a span of what has no name.
              let vector = try block.column(0)
              for row in 0..<vector.count { sum &+= vector.integers[row] }
              return .proceed
            }
          }
          use(sum)
        }
      },
      Operation("column decode, texts") {
        let (reader, column) = try makePack(column: 6)
        return { count in
          var sum = 0
          for _ in 0..<count / packedRows {
            try reader.scanColumns(SampleStore.table, [column]) { block in
              let vector = try block.column(0)
              for row in 0..<vector.count { sum += vector.bytes(at: row).byteCount }
              return .proceed
            }
          }
          use(sum)
        }
      },
    ]
  }

  private static let packedRows = 1000

  private static func makePack(column: Int) throws -> (PackReader, UInt16) {
    let store = try SampleStore(rows: packedRows)
    guard let table = store.engine.catalogue.table(SampleStore.table),
      let layout = table.layout(store.layout)
    else { throw StorageError.unknownTable(SampleStore.table) }
    let files = InMemoryFileSystem()
    let name = StoreIdentifier.random(from: files)
    var writer = try PackWriter(path: "pack", on: files, pack: PackID(rawValue: 1), of: name)
    try store.engine.scan(table.number) { key, _, row in
      try writer.append(row, key: key, table: table.number, layout: layout)
      return .proceed
    }
    _ = try writer.finish()
    let reader = try PackReader.open("pack", on: files, pack: PackID(rawValue: 1), of: name)
    return (reader, table.columns[column].number)
  }
}
