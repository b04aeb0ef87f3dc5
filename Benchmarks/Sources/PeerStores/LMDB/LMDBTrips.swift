#if LMDB
import CLMDB
import Foundation
import Harness
import Workloads

/// Trips in LMDB: integer keys, appended in order as its documentation advises for sorted loads.
final class LMDBTrips: KeyValueTrips, RowStore {
  /// The way in which pages reach the file.
  enum Writing {
    case calls
    /// MDB_WRITEMAP: the map itself is written to.
    case map
  }

  /// The kernel's reading ahead beside a missing page.
  enum ReadAhead {
    case kernel
    /// MDB_NORDAHEAD, as its documentation advises for data larger than memory.
    case none
  }

  static func settings(
    _ durability: Durability,
    _ writing: Writing = .calls,
    _ readAhead: ReadAhead = .kernel
  ) -> String {
    let version = String(cString: mdb_version(nil, nil, nil))
    let map =
      (writing == .map ? ", MDB_WRITEMAP" : "") + (readAhead == .none ? ", MDB_NORDAHEAD" : "")
    return
      "\(version), MDB_INTEGERKEY, map 32 GiB, \(durability == .full ? "default" : "MDB_NOSYNC")\(map)"
  }

  private var environment: OpaquePointer?
  private var table: MDB_dbi = 0
  private var coding = PlainCoding()
  private let isOwner: Bool

  init(
    _ folder: URL,
    _ durability: Durability,
    _ writing: Writing = .calls,
    _ readAhead: ReadAhead = .kernel
  ) throws {
    isOwner = true
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try check(mdb_env_create(&environment))
    try check(mdb_env_set_mapsize(environment, 32 << 30))
    let flags =
      (durability == .full ? 0 : MDB_NOSYNC) | (writing == .map ? MDB_WRITEMAP : 0)
      | (readAhead == .none ? MDB_NORDAHEAD : 0)
    try check(mdb_env_open(environment, folder.path, UInt32(flags), 0o600))
    try inTransaction { transaction in
      try check(mdb_dbi_open(transaction, nil, UInt32(MDB_INTEGERKEY | MDB_CREATE), &table))
    }
  }

  /// Works on an environment that is open.
  private init(sharing other: LMDBTrips) {
    environment = other.environment
    table = other.table
    isOwner = false
  }

  func insert(_ records: ArraySlice<TripRecord>, firstKey: UInt64) throws {
    // Keys of several threads come in no order.
    let flags = isOwner ? MDB_APPEND : 0
    try inTransaction { transaction in
      for (offset, record) in records.enumerated() {
        try put(transaction, firstKey + UInt64(offset), coding.encode(record), flags)
      }
    }
  }

  func insert(_ rows: [KeyedRow]) throws {
    try inTransaction { transaction in
      for row in rows {
        try row.bytes.withUnsafeBytes { try put(transaction, row.key, $0, MDB_APPEND) }
      }
    }
  }

  func overwrite(_ records: ArraySlice<TripRecord>) throws {
    try inTransaction { transaction in
      for record in records { try put(transaction, record.id, coding.encode(record), 0) }
    }
  }

  func raiseRatings(_ keys: ArraySlice<UInt64>) throws {
    try inTransaction { transaction in
      for key in keys {
        try put(transaction, key, coding.raisingRating(try get(transaction, key)), 0)
      }
    }
  }

  func withRow<Result>(
    _ key: UInt64,
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result {
    try reading { transaction in try body(try get(transaction, key)) }
  }

  func makeHandle() throws -> any TripStore { LMDBTrips(sharing: self) }

  func close() throws {
    if isOwner { mdb_env_close(environment) }
    environment = nil
  }

  @inline(__always)
  func scan(from first: UInt64, upTo limit: Int, _ body: (UInt64, UnsafeRawBufferPointer) -> Void)
    throws
  {
    try reading { transaction in
      var cursor: OpaquePointer?
      try check(mdb_cursor_open(transaction, table, &cursor))
      defer { mdb_cursor_close(cursor) }
      var rest = limit
      var first = first
      withUnsafeMutableBytes(of: &first) { bytes in
        var key = MDB_val(mv_size: 8, mv_data: bytes.baseAddress)
        var value = MDB_val()
        var code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
        while rest > 0, code == 0 {
          rest -= 1
          let row = UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
          body(key.mv_data.loadUnaligned(as: UInt64.self), row)
          code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
        }
      }
    }
  }

  private func inTransaction(_ body: (OpaquePointer?) throws -> Void) throws {
    var transaction: OpaquePointer?
    try check(mdb_txn_begin(environment, nil, 0, &transaction))
    do {
      try body(transaction)
    } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    try check(mdb_txn_commit(transaction))
  }

  private func reading<Result>(_ body: (OpaquePointer?) throws -> Result) throws -> Result {
    var transaction: OpaquePointer?
    try check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
    defer { mdb_txn_abort(transaction) }
    return try body(transaction)
  }

  private func get(_ transaction: OpaquePointer?, _ key: UInt64) throws -> UnsafeRawBufferPointer {
    var key = key
    return try withUnsafeMutableBytes(of: &key) { bytes in
      var name = MDB_val(mv_size: 8, mv_data: bytes.baseAddress)
      var value = MDB_val()
      try check(mdb_get(transaction, table, &name, &value))
      return UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
    }
  }

  private func put(
    _ transaction: OpaquePointer?,
    _ key: UInt64,
    _ row: UnsafeRawBufferPointer,
    _ flags: CInt
  ) throws {
    var key = key
    try withUnsafeMutableBytes(of: &key) { bytes in
      var name = MDB_val(mv_size: 8, mv_data: bytes.baseAddress)
      var value = MDB_val(mv_size: row.count, mv_data: .init(mutating: row.baseAddress))
      try check(mdb_put(transaction, table, &name, &value, UInt32(flags)))
    }
  }

  private func check(_ code: CInt) throws {
    if code != 0 { throw PeerError(.lmdb, String(cString: mdb_strerror(code))) }
  }
}
#endif
