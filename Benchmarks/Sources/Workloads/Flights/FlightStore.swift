/// A store of flights, as thin over a contender's own calls as can be.
public protocol FlightStore: AnyObject {
  /// Adds flights in one commit.
  ///
  /// - Parameter flights: The new flights.
  /// - Throws: What the contender reports.
  func save(_ flights: ArraySlice<FlightRecord>) throws

  /// Counts the flights from an airport that left later than so many minutes after their time.
  func countLate(origin: String, minutes: Int64) throws -> Int

  /// Adds up the delays at arrival, carrier by carrier.
  func delays() throws -> DelayTally

  /// Writes out what is not yet, and closes.
  func close() throws
}

/// Delays at arrival by carrier: sums and counts, from which come the means.
public struct DelayTally: Sendable, Equatable {
  public private(set) var carriers: [String: (minutes: Int64, flights: Int64)] = [:]

  public init() {}

  @inlinable
  public mutating func add(_ carrier: String, minutes: Int64, flights: Int64 = 1) {
    merge(carrier, minutes, flights)
  }

  @usableFromInline
  mutating func merge(_ carrier: String, _ minutes: Int64, _ flights: Int64) {
    carriers[carrier, default: (0, 0)].minutes += minutes
    carriers[carrier, default: (0, 0)].flights += flights
  }

  /// A number every carrier's sum and count have a part in.
  public var checksum: Int {
    carriers.reduce(0) { sum, entry in
      let name = entry.key.utf8.reduce(0) { $0 &* 31 &+ Int($1) }
      return sum &+ name &* (Int(entry.value.minutes) &* 1009 &+ Int(entry.value.flights))
    }
  }

  public static func == (left: DelayTally, right: DelayTally) -> Bool {
    left.carriers.mapValues(\.minutes) == right.carriers.mapValues(\.minutes)
      && left.carriers.mapValues(\.flights) == right.carriers.mapValues(\.flights)
  }
}
