import Foundation
import Terminal

/// The real input of a run: the flights, and the airlines, airports and planes they refer to.
struct Timetable: Sendable {
  let flights: [Flight]
  let airlines: [AirlineRow]
  let airports: [AirportRow]
  let planes: [PlaneRow]

  /// Reads the bundled reference data and a file of flights.
  ///
  /// - Parameters:
  ///   - csv: The path of a `flights.csv`; without one, the bundled January of 2013.
  ///   - notice: Receives the reports of bad rows.
  /// - Throws: ``ToolError`` if a file cannot be read or holds no flight.
  init(csv: String?, notice: (String) -> Void) throws {
    var lines: [FlightIdentity: Int] = [:]
    let table = try CSVTable<Flight>(contentsOf: try csv ?? Self.bundled("flights-2013-01")) {
      flight,
      line in
      if let first = lines[flight.identity] { return "the same flight as line \(first)" }
      lines[flight.identity] = line
      return nil
    }
    table.badRows.notices.forEach(notice)
    guard !table.rows.isEmpty else {
      throw ToolError(
        "the CSV file holds no flights",
        place: csv,
        expected: "at least one good row",
        found: "\(table.badRows.count.grouped) bad ones"
      )
    }
    flights = table.rows
    airlines = try CSVTable(contentsOf: Self.bundled("airlines")).rows
    airports = try CSVTable(contentsOf: Self.bundled("airports")).rows
    planes = try CSVTable(contentsOf: Self.bundled("planes")).rows
  }

  /// The path of a file of `Resources`.
  private static func bundled(_ name: String) throws -> String {
    guard let path = Bundle.module.path(forResource: "Resources/\(name)", ofType: "csv") else {
      throw ToolError(
        "the bundled flights are missing",
        place: "\(Bundle.module.bundlePath)/Resources/\(name).csv",
        expected: "the resources that were built with this command",
        found: "nothing of that name",
        advice: "build again with Tools/swift build"
      )
    }
    return path
  }
}

extension Timetable {
  /// The same timetable with its first flights only.
  func prefix(_ count: Int) -> Timetable {
    Timetable(
      flights: Array(flights.prefix(count)),
      airlines: airlines,
      airports: airports,
      planes: planes
    )
  }

  private init(
    flights: [Flight],
    airlines: [AirlineRow],
    airports: [AirportRow],
    planes: [PlaneRow]
  ) {
    self.flights = flights
    self.airlines = airlines
    self.airports = airports
    self.planes = planes
  }
}
