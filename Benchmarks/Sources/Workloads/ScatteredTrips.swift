/// A million different trips made from ten thousand: each ten thousand start at other times.
///
/// Making a record costs more than storing it, and a million of them in memory would be what is measured.
public struct ScatteredTrips: Sendable {
  private let pool = TripGenerator().records(0..<10_000)
  /// Number of trips; their keys begin at 1.
  public let count: Int

  /// Creates trips.
  ///
  /// - Parameter count: The number of trips; a multiple of 10,000.
  public init(count: Int) { self.count = count }

  /// The trip of a key.
  public func record(_ key: UInt64) -> TripRecord {
    var record = pool[Int(key % 10_000)]
    record.id = key
    // A step that shares no factor with the span visits all of it; whole seconds keep sums exact.
    let shift = Double(key / 10_000) * 6_000_037
    record.startDate = (record.startDate + shift).truncatingRemainder(dividingBy: 600_000_000)
    return record
  }

  /// The trips in their order, ten thousand at a time.
  public var batches: some Sequence<(firstKey: UInt64, records: [TripRecord])> {
    stride(from: UInt64(1), to: UInt64(count), by: 10_000).lazy.map { first in
      (firstKey: first, records: (first..<first + 10_000).map(record))
    }
  }

  /// A destination some trips go to.
  public var wantedDestination: String { pool[17].destination }

  /// Number of trips to that destination with a rating above 3.
  public var matchCount: Int {
    let wanted = wantedDestination
    return pool.count { $0.destination == wanted && $0.rating > 3 } * (count / pool.count)
  }

  /// The checksums of some trips that start first, added up.
  public func earliestSum(_ number: Int) -> Int {
    var earliest = EarliestTrips(number)
    for key in 1...UInt64(count) { earliest.offer(key, start: record(key).startDate) }
    return earliest.keys.reduce(0) { $0 + record($1).checksum }
  }

  /// The checksums of the first trips by key, added up.
  public func firstSum(_ number: Int) -> Int {
    (1...UInt64(number)).reduce(0) { $0 + record($1).checksum }
  }
}
