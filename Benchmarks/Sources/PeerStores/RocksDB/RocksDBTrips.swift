#if ROCKSDB
import CRocksDB
import Foundation
import Harness
import Workloads

/// Trips in RocksDB: big-endian keys, one write batch a commit, values pinned rather than copied.
final class RocksDBTrips: BatchTrips {
  /// The compression of blocks.
  enum Compression: String {
    /// The default of RocksDB.
    case snappy = "Snappy"
    /// The compression that its documentation advises, if it is available.
    case lz4 = "LZ4"

    fileprivate var code: CInt {
      switch self {
      case .snappy: CInt(rocksdb_snappy_compression)
      case .lz4: CInt(rocksdb_lz4_compression)
      }
    }
  }

  /// Limits of its own memory, in MiB.
  struct Memory {
    var cache = 256
    var writeBuffer = 64
  }

  static func settings(
    _ durability: Durability,
    _ compression: Compression = .snappy,
    _ memory: Memory = Memory()
  ) -> String {
    """
    RocksDB as the system ships it (Debian keeps its assertions in), \(compression.rawValue), block cache \(memory.cache) MiB, \
    bloom filter 10 bits, max_background_jobs 2, write buffer \(memory.writeBuffer) MiB, sync \(durability == .full)
    """
  }

  private let database: OpaquePointer?
  private let writeOptions = rocksdb_writeoptions_create()
  private let readOptions = rocksdb_readoptions_create()
  private let batch = rocksdb_writebatch_create()
  private let isOwner: Bool
  private let durability: Durability
  var coding = PlainCoding()

  init(
    _ folder: URL,
    _ durability: Durability,
    _ compression: Compression = .snappy,
    _ memory: Memory = Memory()
  ) throws {
    isOwner = true
    self.durability = durability
    let options = rocksdb_options_create()
    defer { rocksdb_options_destroy(options) }
    rocksdb_options_set_create_if_missing(options, 1)
    rocksdb_options_set_write_buffer_size(options, memory.writeBuffer << 20)
    rocksdb_options_set_max_background_jobs(options, 2)
    rocksdb_options_set_compression(options, compression.code)
    let tables = rocksdb_block_based_options_create()
    rocksdb_block_based_options_set_block_cache(
      tables,
      rocksdb_cache_create_lru(memory.cache << 20)
    )
    rocksdb_block_based_options_set_filter_policy(
      tables,
      rocksdb_filterpolicy_create_bloom_full(10)
    )
    rocksdb_options_set_block_based_table_factory(options, tables)
    rocksdb_writeoptions_set_sync(writeOptions, durability == .full ? 1 : 0)
    var message: UnsafeMutablePointer<CChar>?
    database = rocksdb_open(options, folder.path, &message)
    try Self.check(message)
  }

  /// Works on a database that is open.
  private init(sharing other: RocksDBTrips, _ durability: Durability) {
    isOwner = false
    self.durability = durability
    database = other.database
    rocksdb_writeoptions_set_sync(writeOptions, durability == .full ? 1 : 0)
  }

  func compact() throws -> Bool {
    rocksdb_compact_range(database, nil, 0, nil, 0)
    return true
  }

  func makeHandle() throws -> any TripStore { RocksDBTrips(sharing: self, durability) }

  func close() throws {
    rocksdb_writebatch_destroy(batch)
    rocksdb_writeoptions_destroy(writeOptions)
    rocksdb_readoptions_destroy(readOptions)
    if isOwner { rocksdb_close(database) }
  }

  @inline(__always)
  func scan(from first: UInt64, upTo limit: Int, _ body: (UInt64, UnsafeRawBufferPointer) -> Void) {
    let iterator = rocksdb_create_iterator(database, readOptions)
    defer { rocksdb_iter_destroy(iterator) }
    var rest = limit
    withBytes(ofKey: first) { rocksdb_iter_seek(iterator, $0, 8) }
    while rest > 0, rocksdb_iter_valid(iterator) != 0 {
      rest -= 1
      var length = 0
      let name = UnsafeRawPointer(rocksdb_iter_key(iterator, &length))
      let key = name?.loadUnaligned(as: UInt64.self) ?? 0
      let value = rocksdb_iter_value(iterator, &length)
      body(UInt64(bigEndian: key), UnsafeRawBufferPointer(start: value, count: length))
      rocksdb_iter_next(iterator)
    }
  }

  func put(_ key: UInt64, _ row: UnsafeRawBufferPointer) {
    withBytes(ofKey: key) { name in
      let bytes = row.baseAddress?.assumingMemoryBound(to: CChar.self)
      rocksdb_writebatch_put(batch, name, 8, bytes, row.count)
    }
  }

  func write() throws {
    var message: UnsafeMutablePointer<CChar>?
    rocksdb_write(database, writeOptions, batch, &message)
    rocksdb_writebatch_clear(batch)
    try Self.check(message)
  }

  func withRow<Result>(
    _ key: UInt64,
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result {
    var message: UnsafeMutablePointer<CChar>?
    let pinned = withBytes(ofKey: key) {
      rocksdb_get_pinned(database, readOptions, $0, 8, &message)
    }
    defer { rocksdb_pinnableslice_destroy(pinned) }
    try Self.check(message)
    var length = 0
    guard let value = rocksdb_pinnableslice_value(pinned, &length) else {
      throw PeerError(.rocksdb, "no trip \(key)")
    }
    return try body(UnsafeRawBufferPointer(start: value, count: length))
  }

  private static func check(_ message: UnsafeMutablePointer<CChar>?) throws {
    guard let message else { return }
    defer { rocksdb_free(message) }
    throw PeerError(.rocksdb, String(cString: message))
  }
}
#endif
