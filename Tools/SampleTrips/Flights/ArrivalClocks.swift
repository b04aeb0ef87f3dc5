import Foundation

/// The clocks of the airports, which tell when a flight is due from the time printed on its ticket.
struct ArrivalClocks {
  private let airports: [String: AirportRow]

  init(_ rows: [AirportRow]) {
    airports = Dictionary(rows.map { ($0.code, $0) }) { first, _ in first }
  }

  /// The time at which a flight is due.
  ///
  /// An airport that is not in the file is taken to keep New York's time.
  func arrival(of flight: Flight) -> Date {
    let isSummer = flight.hoursBehindUTC == 4
    let ahead =
      airports[flight.destination].map { airport in
        airport.hoursAheadOfUTC + (isSummer && airport.hasSummerTime ? 1 : 0)
      } ?? -flight.hoursBehindUTC
    let shift = Double(-flight.hoursBehindUTC - ahead) * 3600
    let due = flight.identity.day.addingTimeInterval(Double(flight.scheduledArrival) * 60 + shift)
    return due < flight.scheduledDeparture ? due.addingTimeInterval(86_400) : due
  }
}
