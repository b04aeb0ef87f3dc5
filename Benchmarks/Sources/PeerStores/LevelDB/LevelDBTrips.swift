#if LEVELDB
import CLevelDB
import Foundation
import Harness
import Workloads

/// Trips in LevelDB: big-endian keys, one write batch a commit.
final class LevelDBTrips: BatchTrips {
  static func settings(_ durability: Durability) -> String {
    """
    LevelDB \(leveldb_major_version()).\(leveldb_minor_version()), Snappy, write buffer 64 MiB, \
    block cache 256 MiB, bloom filter 10 bits, sync \(durability == .full)
    """
  }

  private let database: OpaquePointer?
  private let writeOptions = leveldb_writeoptions_create()
  private let readOptions = leveldb_readoptions_create()
  private let batch = leveldb_writebatch_create()
  private var cache: OpaquePointer?
  private var filter: OpaquePointer?
  private let isOwner: Bool
  private let durability: Durability
  var coding = PlainCoding()

  init(_ folder: URL, _ durability: Durability) throws {
    isOwner = true
    self.durability = durability
    cache = leveldb_cache_create_lru(256 << 20)
    filter = leveldb_filterpolicy_create_bloom(10)
    let options = leveldb_options_create()
    defer { leveldb_options_destroy(options) }
    leveldb_options_set_create_if_missing(options, 1)
    leveldb_options_set_write_buffer_size(options, 64 << 20)
    leveldb_options_set_cache(options, cache)
    leveldb_options_set_filter_policy(options, filter)
    leveldb_writeoptions_set_sync(writeOptions, durability == .full ? 1 : 0)
    var message: UnsafeMutablePointer<CChar>?
    database = leveldb_open(options, folder.path, &message)
    try Self.check(message)
  }

  /// Works on a database that is open.
  private init(sharing other: LevelDBTrips, _ durability: Durability) {
    isOwner = false
    database = other.database
    self.durability = durability
    leveldb_writeoptions_set_sync(writeOptions, durability == .full ? 1 : 0)
  }

  func compact() throws -> Bool {
    leveldb_compact_range(database, nil, 0, nil, 0)
    return true
  }

  func makeHandle() throws -> any TripStore { LevelDBTrips(sharing: self, durability) }

  func close() throws {
    leveldb_writebatch_destroy(batch)
    leveldb_writeoptions_destroy(writeOptions)
    leveldb_readoptions_destroy(readOptions)
    guard isOwner else { return }
    leveldb_close(database)
    leveldb_cache_destroy(cache)
    leveldb_filterpolicy_destroy(filter)
  }

  @inline(__always)
  func scan(from first: UInt64, upTo limit: Int, _ body: (UInt64, UnsafeRawBufferPointer) -> Void) {
    let iterator = leveldb_create_iterator(database, readOptions)
    defer { leveldb_iter_destroy(iterator) }
    var rest = limit
    withBytes(ofKey: first) { leveldb_iter_seek(iterator, $0, 8) }
    while rest > 0, leveldb_iter_valid(iterator) != 0 {
      rest -= 1
      var length = 0
      let name = UnsafeRawPointer(leveldb_iter_key(iterator, &length))
      let key = name?.loadUnaligned(as: UInt64.self) ?? 0
      let value = leveldb_iter_value(iterator, &length)
      body(UInt64(bigEndian: key), UnsafeRawBufferPointer(start: value, count: length))
      leveldb_iter_next(iterator)
    }
  }

  func put(_ key: UInt64, _ row: UnsafeRawBufferPointer) {
    withBytes(ofKey: key) { name in
      let bytes = row.baseAddress?.assumingMemoryBound(to: CChar.self)
      leveldb_writebatch_put(batch, name, 8, bytes, row.count)
    }
  }

  func write() throws {
    var message: UnsafeMutablePointer<CChar>?
    leveldb_write(database, writeOptions, batch, &message)
    leveldb_writebatch_clear(batch)
    try Self.check(message)
  }

  func withRow<Result>(
    _ key: UInt64,
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result {
    var message: UnsafeMutablePointer<CChar>?
    var length = 0
    let value = withBytes(ofKey: key) {
      leveldb_get(database, readOptions, $0, 8, &length, &message)
    }
    defer { leveldb_free(value) }
    try Self.check(message)
    guard value != nil else { throw PeerError(.leveldb, "no trip \(key)") }
    return try body(UnsafeRawBufferPointer(start: value, count: length))
  }

  private static func check(_ message: UnsafeMutablePointer<CChar>?) throws {
    guard let message else { return }
    defer { leveldb_free(message) }
    throw PeerError(.leveldb, String(cString: message))
  }
}
#endif
