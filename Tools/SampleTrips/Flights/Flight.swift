import Foundation
import Terminal

/// One row of `flights.csv`: a flight that was scheduled, and how late it left if it did.
struct Flight: Hashable, Sendable {
  var identity: FlightIdentity
  var carrier: String
  var number: Int
  var destination: String
  var tailNumber: String?
  /// Miles.
  var distance: Int
  var scheduledDeparture: Date
  /// Minutes after midnight, on the clocks of the destination.
  var scheduledArrival: Int
  /// Hours the clocks of New York were behind UTC that day: 5, or 4 in summer.
  var hoursBehindUTC: Int
  /// Minutes, negative when it left early; `nil` if it was cancelled.
  var departureDelay: Int?

  /// A flight without a departure time never left.
  var isCancelled: Bool { departureDelay == nil }

  var actualDeparture: Date? {
    departureDelay.map { scheduledDeparture.addingTimeInterval(Double($0) * 60) }
  }
}

/// The identity of a flight: no airline uses a number twice a day at one airport.
struct FlightIdentity: Hashable, Sendable {
  /// The airline's code and the flight's number: `UA 1545`.
  var name: String
  var origin: String
  /// The midnight, on the clocks of New York, with which the day of departure begins.
  var day: Date
}

extension Flight: CSVRow {
  struct Columns {
    let year, month, day, hour, minute, instant: CSVColumn
    let departure, departureDelay, scheduledArrival: CSVColumn
    let carrier, number, tailNumber, origin, destination, distance: CSVColumn
  }

  static func columns(in header: CSVHeader) throws(ToolError) -> Columns {
    Columns(
      year: try header.column("year"),
      month: try header.column("month"),
      day: try header.column("day"),
      hour: try header.column("hour"),
      minute: try header.column("minute"),
      instant: try header.column("time_hour"),
      departure: try header.column("dep_time"),
      departureDelay: try header.column("dep_delay"),
      scheduledArrival: try header.column("sched_arr_time"),
      carrier: try header.column("carrier"),
      number: try header.column("flight"),
      tailNumber: try header.column("tailnum"),
      origin: try header.column("origin"),
      destination: try header.column("dest"),
      distance: try header.column("distance")
    )
  }

  static func read(
    _ record: borrowing CSVReader,
    _ columns: Columns
  ) throws(RowProblem) -> Flight {
    let carrier = try record.name(columns.carrier)
    let number = try record.integer(columns.number)
    let hour = try record.integer(columns.hour)
    // `time_hour` is the hour of departure in UTC; the local hour beside it tells the day's midnight.
    let instant = try record.instant(columns.instant)
    let midnight = instant - hour * 3600
    let day = CivilDay(
      year: try record.integer(columns.year),
      month: try record.integer(columns.month),
      day: try record.integer(columns.day)
    )
    let behind = midnight - day.number * 86_400
    guard behind % 3600 == 0, -14 * 3600...12 * 3600 ~= behind else {
      throw RowProblem(
        column: columns.instant.name,
        expected: "the hour of departure in UTC, on the day of the row",
        found: record.text(columns.instant.index)
      )
    }
    let minute = try record.integer(columns.minute)
    return Flight(
      identity: FlightIdentity(
        name: "\(carrier) \(number)",
        origin: try record.name(columns.origin),
        day: Date(timeIntervalSince1970: Double(midnight))
      ),
      carrier: carrier,
      number: number,
      destination: try record.name(columns.destination),
      tailNumber: record.optionalText(columns.tailNumber),
      distance: try record.integer(columns.distance),
      scheduledDeparture: Date(timeIntervalSince1970: Double(instant + minute * 60)),
      scheduledArrival: try record.clock(columns.scheduledArrival),
      hoursBehindUTC: behind / 3600,
      departureDelay: try delay(record, columns)
    )
  }

  private static func delay(
    _ record: borrowing CSVReader,
    _ columns: Columns
  ) throws(RowProblem) -> Int? {
    if record.isMissing(columns.departure.index) { return nil }
    _ = try record.clock(columns.departure)
    return try record.integer(columns.departureDelay)
  }
}
