import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

/// A row as it goes into a pack and has to come out again.
struct TestRow: Hashable {
  var table: UInt16 = 1
  var key: UInt64
  var layout = LayoutNumber(1)
  var bytes: [UInt8]

  var reference: RowReference { RowReference(table: table, key: key) }
}

extension LayoutDefinition {
  /// A layout whose columns are numbered 1, 2, 3 and so on, or as given.
  init(_ types: [ColumnType], number: UInt16 = 1, columns: [UInt16]? = nil) {
    self.init(
      number: LayoutNumber(number),
      columns: columns ?? types.indices.map { UInt16($0 + 1) },
      layout: RowLayout(types)
    )
  }
}

/// A pack in memory.
struct TestPack {
  let fileSystem = InMemoryFileSystem()
  let store = StoreIdentifier(low: 0x1234, high: 0x5678)
  let path = "test.pack"
  let id = PackID(rawValue: 7)
  let summary: PackSummary

  /// Writes a pack.
  ///
  /// - Parameters:
  ///   - rows: By table and key.
  ///   - layouts: The layouts of all tables, by number.
  ///   - options: How it is written.
  ///   - describe: Tells the writer more than rows.
  /// - Throws: What writing throws.
  init(
    _ rows: [TestRow],
    _ layouts: [LayoutDefinition],
    options: PackOptions = .init(),
    describe: (inout PackWriter) -> Void = { _ in }
  ) throws {
    var writer = try PackWriter(path: path, on: fileSystem, pack: id, of: store, options: options)
    describe(&writer)
    for row in rows {
      let layout = try #require(layouts.first { $0.number == row.layout })
      try writer.append(row.bytes.span.bytes, key: row.key, table: row.table, layout: layout)
    }
    summary = try writer.finish()
  }

  func open(
    _ reads: EngineOptions.ReadMethod = .mapped,
    cache: BlockCache? = nil
  ) throws -> PackReader {
    try PackReader.open(path, on: fileSystem, pack: id, of: store, reads: reads, cache: cache)
  }

  var bytes: [UInt8] {
    get throws {
      let buffer = try fileSystem.open(path, .read).readAll()
      return buffer.bytes.withUnsafeBytes { Array($0) }
    }
  }

  /// Replaces the file.
  func write(_ bytes: [UInt8]) throws {
    let file = try fileSystem.open(path, .create)
    try file.writeAll(bytes.span.bytes, at: 0)
  }
}

extension PackReader {
  /// All rows, in the order of the file.
  func rows() throws -> [TestRow] {
    var addresses: [(RowReference, PackAddress)] = []
    try forEachAddress { addresses.append(($0, $1)) }
    var writer = RowWriter()
    return try addresses.map { reference, address in
      writer.removeAll()
      let (found, layout, range) = try appendRow(at: address, to: &writer)
      #expect(found == reference)
      let bytes = writer.bytes.extracting(range).withUnsafeBytes { Array($0) }
      return TestRow(table: found.table, key: found.key, layout: layout, bytes: bytes)
    }
  }

  func row(_ reference: RowReference) throws -> TestRow? {
    try withRow(reference) { row, layout in
      TestRow(
        table: reference.table,
        key: reference.key,
        layout: layout,
        bytes: row.withUnsafeBytes { Array($0) }
      )
    }
  }
}

/// Writes one row; `body` sets its columns.
func makeRow(
  _ layout: LayoutDefinition,
  key: UInt64,
  table: UInt16 = 1,
  _ body: (inout RowWriter) -> Void
) -> TestRow {
  var writer = RowWriter()
  writer.begin(layout.layout)
  body(&writer)
  let range = writer.finish()
  let bytes = writer.bytes.extracting(range).withUnsafeBytes { Array($0) }
  return TestRow(table: table, key: key, layout: layout.number, bytes: bytes)
}
