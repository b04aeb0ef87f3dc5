import EngineStore
import Foundation
import LogEngine
import RowFormat
import Workloads

/// A store in memory whose rows are packed: what a compactor would be given.
struct PackSource {
  let engine: StorageEngine
  let table: TableDefinition
  let layout: LayoutDefinition
  let store: StoreIdentifier
  let rowCount: Int

  /// Takes the one table of a store.
  ///
  /// - Parameters:
  ///   - engine: The store.
  ///   - name: The table's name.
  init(_ engine: StorageEngine, table name: String) {
    guard let table = engine.catalogue.table(named: name),
      let layout = table.layout(table.currentLayout)
    else { preconditionFailure("a store without a table \(name)") }
    self.engine = engine
    self.table = table
    self.layout = layout
    store = .random(from: PosixFileSystem())
    rowCount = engine.rowCount(of: table.number)
  }

  /// A store of so many trips, no two alike.
  ///
  /// - Parameter count: The number of trips; a multiple of 10,000.
  /// - Returns: The store.
  /// - Throws: ``StorageError``.
  static func trips(_ count: Int) throws -> PackSource {
    let trips = try EngineTrips(sharing: Self.makeEngine())
    let generator = TripGenerator()
    for first in stride(from: 1, through: UInt64(count), by: 10_000) {
      try trips.insert(generator.records(first..<(first + 10_000))[...])
    }
    return PackSource(trips.engine, table: "Trip")
  }

  /// A new store in memory.
  ///
  /// - Returns: The store.
  /// - Throws: ``StorageError``.
  static func makeEngine() throws -> StorageEngine {
    var options = EngineOptions()
    options.durability = .memory
    options.background = .caller
    return try StorageEngine.open(at: "memory", options: options, fileSystem: InMemoryFileSystem())
  }

  /// Writes the rows into a pack.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - options: The options.
  /// - Returns: The pack's summary.
  /// - Throws: ``StorageError``.
  func pack(to file: URL, options: PackOptions = .init()) throws -> PackSummary {
    var writer = try PackWriter(
      path: file.path,
      on: PosixFileSystem(),
      pack: PackID(rawValue: 1),
      of: store,
      options: options
    )
    try engine.scan(table.number) { key, _, row in
      try writer.append(row, key: key, table: table.number, layout: layout)
      return .proceed
    }
    return try writer.finish()
  }

  /// Opens such a pack.
  ///
  /// - Parameters:
  ///   - file: The file of the pack.
  ///   - cache: Keeps decoded blocks.
  /// - Returns: The pack.
  /// - Throws: ``StorageError``.
  func open(_ file: URL, cache: BlockCache? = nil) throws -> PackReader {
    try PackReader.open(
      file.path,
      on: PosixFileSystem(),
      pack: PackID(rawValue: 1),
      of: store,
      cache: cache
    )
  }

  /// The rows one behind the other.
  ///
  /// - Returns: Their bytes.
  /// - Throws: ``StorageError``.
  func rowBytes() throws -> ByteBuffer {
    var buffer = ByteBuffer(capacity: 1 << 20)
    try engine.scan(table.number) { _, _, row in
      buffer.append(row)
      return .proceed
    }
    return buffer
  }
}
