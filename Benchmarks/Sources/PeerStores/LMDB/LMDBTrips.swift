#if LMDB
import CLMDB
import Foundation
import Harness
import Workloads

/// Trips in LMDB: integer keys, appended in order as its documentation advises for sorted loads.
final class LMDBTrips: TripStore {
  static func settings(_ durability: Durability) -> String {
    let version = String(cString: mdb_version(nil, nil, nil))
    return
      "\(version), MDB_INTEGERKEY, map 32 GiB, \(durability == .full ? "default" : "MDB_NOSYNC")"
  }

  private var environment: OpaquePointer?
  private var table: MDB_dbi = 0
  private var coding = PlainCoding()

  init(_ folder: URL, _ durability: Durability) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try check(mdb_env_create(&environment))
    try check(mdb_env_set_mapsize(environment, 32 << 30))
    let flags = durability == .full ? 0 : MDB_NOSYNC
    try check(mdb_env_open(environment, folder.path, UInt32(flags), 0o600))
    try inTransaction { transaction in
      try check(mdb_dbi_open(transaction, nil, UInt32(MDB_INTEGERKEY | MDB_CREATE), &table))
    }
  }

  func insert(_ records: ArraySlice<TripRecord>, firstKey: UInt64) throws {
    try inTransaction { transaction in
      for (offset, record) in records.enumerated() {
        try put(transaction, firstKey + UInt64(offset), coding.encode(record), MDB_APPEND)
      }
    }
  }

  func read(_ key: UInt64) throws -> Int {
    try reading { transaction in PlainCoding.decode(try get(transaction, key)).checksum }
  }

  func raiseRatings(_ keys: ArraySlice<UInt64>) throws {
    try inTransaction { transaction in
      for key in keys {
        try put(transaction, key, coding.raisingRating(try get(transaction, key)), 0)
      }
    }
  }

  func count(destination: String, ratingAbove rating: Int64) throws -> Int {
    let wanted = Array(destination.utf8)
    var count = 0
    try scan { _, row in
      if PlainCoding.rating(row) > rating, PlainCoding.destination(row).elementsEqual(wanted) {
        count += 1
      }
    }
    return count
  }

  func readEarliest(_ count: Int) throws -> Int {
    var earliest = EarliestTrips(count)
    try scan { key, row in earliest.offer(key, start: PlainCoding.startDate(row)) }
    return try earliest.keys.reduce(0) { try $0 + read($1) }
  }

  func readFirst(_ count: Int) throws -> Int {
    var sum = 0
    try scan(upTo: count) { _, row in sum += PlainCoding.decode(row).checksum }
    return sum
  }

  func close() throws {
    mdb_env_close(environment)
    environment = nil
  }

  @inline(__always)
  private func scan(
    upTo limit: Int = .max,
    _ body: (UInt64, UnsafeRawBufferPointer) -> Void
  ) throws {
    try reading { transaction in
      var cursor: OpaquePointer?
      try check(mdb_cursor_open(transaction, table, &cursor))
      defer { mdb_cursor_close(cursor) }
      var rest = limit
      var key = MDB_val()
      var value = MDB_val()
      while rest > 0, mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0 {
        rest -= 1
        let row = UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
        body(key.mv_data.loadUnaligned(as: UInt64.self), row)
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
