import Workloads

/// Trips in a log-structured merge tree: what is gathered in a batch is one commit.
protocol BatchTrips: KeyValueTrips, RowStore {
  /// Makes and changes the bytes of rows.
  var coding: PlainCoding { get set }

  /// Adds a row to the batch, in place of an older one.
  func put(_ key: UInt64, _ row: UnsafeRawBufferPointer)

  /// Commits the batch.
  ///
  /// - Throws: ``PeerError``.
  func write() throws
}

extension BatchTrips {
  func insert(_ records: ArraySlice<TripRecord>, firstKey: UInt64) throws {
    for (offset, record) in records.enumerated() {
      put(firstKey + UInt64(offset), coding.encode(record))
    }
    try write()
  }

  func overwrite(_ records: ArraySlice<TripRecord>) throws {
    for record in records { put(record.id, coding.encode(record)) }
    try write()
  }

  func raiseRatings(_ keys: ArraySlice<UInt64>) throws {
    for key in keys { try withRow(key) { put(key, coding.raisingRating($0)) } }
    try write()
  }

  func insert(_ rows: [KeyedRow]) throws {
    for row in rows { row.bytes.withUnsafeBytes { put(row.key, $0) } }
    try write()
  }
}
