import Workloads

/// Flights in an array: what the questions cost without a store.
final class PlainFlights: FlightStore {
  static let settings = "an array of structs in memory"

  private var flights: [FlightRecord] = []

  func save(_ flights: ArraySlice<FlightRecord>) throws { self.flights += flights }

  func countLate(origin: String, minutes: Int64) throws -> Int {
    flights.count { ($0.departureDelay ?? 0) > minutes && $0.origin == origin }
  }

  func delays() throws -> DelayTally {
    var tally = DelayTally()
    for flight in flights {
      if let delay = flight.arrivalDelay { tally.add(flight.carrier, minutes: delay) }
    }
    return tally
  }

  func close() throws {}
}
