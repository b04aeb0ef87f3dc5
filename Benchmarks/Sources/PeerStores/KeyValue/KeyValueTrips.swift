import Workloads

/// Trips in a store of bytes under keys: the work that such stores leave to their users, the same for all.
protocol KeyValueTrips: MixedTripStore {
  /// Lends the bytes of a row.
  ///
  /// - Throws: ``PeerError`` if there is none.
  func withRow<Result>(
    _ key: UInt64,
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result

  /// Visits rows in the order of their keys.
  ///
  /// - Parameters:
  ///   - first: The first key.
  ///   - limit: The greatest number.
  ///   - body: Is lent each row's bytes.
  /// - Throws: ``PeerError``.
  func scan(from first: UInt64, upTo limit: Int, _ body: (UInt64, UnsafeRawBufferPointer) -> Void)
    throws
}

extension KeyValueTrips {
  func read(_ key: UInt64) throws -> Int {
    try withRow(key) { PlainCoding.decode($0).checksum }
  }

  func count(destination: String, ratingAbove rating: Int64) throws -> Int {
    let wanted = Array(destination.utf8)
    var count = 0
    try scan(from: 0, upTo: .max) { _, row in
      if PlainCoding.rating(row) > rating, PlainCoding.destination(row).elementsEqual(wanted) {
        count += 1
      }
    }
    return count
  }

  func readEarliest(_ count: Int) throws -> Int {
    var earliest = EarliestTrips(count)
    try scan(from: 0, upTo: .max) { key, row in
      earliest.offer(key, start: PlainCoding.startDate(row))
    }
    return try earliest.keys.reduce(0) { try $0 + read($1) }
  }

  func readFirst(_ count: Int) throws -> Int { try read(count, from: 0) }

  func read(_ count: Int, from first: UInt64) throws -> Int {
    var sum = 0
    try scan(from: first, upTo: count) { _, row in sum += PlainCoding.decode(row).checksum }
    return sum
  }
}
