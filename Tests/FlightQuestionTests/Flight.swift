import Foundation
import SwiftData

/// A flight that left New York.
@Model
final class Flight {
  var carrier: String
  var origin: String
  var destination: String
  var tailNumber: String?
  var scheduled: Date
  /// Minutes; nil if the flight was cancelled.
  var departureDelay: Int?
  var arrivalDelay: Int?
  /// Minutes.
  var airTime: Int?
  /// Miles.
  var distance: Int
  var plane: Plane?

  init(_ row: FlightRow, _ plane: Plane?) {
    carrier = row.carrier
    origin = row.origin
    destination = row.destination
    tailNumber = row.tailNumber
    scheduled = Date(timeIntervalSinceReferenceDate: row.scheduled)
    departureDelay = row.departureDelay
    arrivalDelay = row.arrivalDelay
    airTime = row.airTime
    distance = row.distance
    self.plane = plane
  }
}

@Model
final class Plane {
  @Attribute(.unique) var tailNumber: String
  var manufacturer: String

  init(_ row: PlaneRow) {
    tailNumber = row.tailNumber
    manufacturer = row.manufacturer
  }
}

/// A line of `flights.csv`.
struct FlightRow {
  let carrier: String
  let origin: String
  let destination: String
  let tailNumber: String?
  /// Seconds since 2001.
  let scheduled: Double
  /// The time of day in New York that is printed on the ticket, as seconds since 1970 if it were UTC.
  let local: Int
  let month: Int
  let departureDelay: Int?
  let arrivalDelay: Int?
  let airTime: Int?
  let distance: Int

  /// Reads the flights of a file, in its order.
  static func rows(in file: URL) throws -> [FlightRow] {
    try lines(of: file).compactMap(FlightRow.init)
  }

  private init?(_ fields: [Substring]) {
    guard fields.count == 19, let month = Int(fields[1]), let hour = Int(fields[16]),
      let minute = Int(fields[17]), let distance = Int(fields[15]),
      let date = try? Date(String(fields[18]), strategy: .iso8601)
    else { return nil }
    carrier = String(fields[9])
    origin = String(fields[12])
    destination = String(fields[13])
    tailNumber = fields[11] == "NA" || fields[11].isEmpty ? nil : String(fields[11])
    scheduled = date.timeIntervalSinceReferenceDate + Double(minute) * 60
    let utc = Int(date.timeIntervalSince1970) + minute * 60
    let hoursBehind = (utc / 3600 - hour + 24) % 24
    local = utc - hoursBehind * 3600
    self.month = month
    departureDelay = Int(fields[5])
    arrivalDelay = Int(fields[8])
    airTime = Int(fields[14])
    self.distance = distance
  }
}

/// A line of `planes.csv`.
struct PlaneRow {
  let tailNumber: String
  let manufacturer: String

  /// Reads the planes of a file, in its order.
  static func rows(in file: URL) throws -> [PlaneRow] {
    try lines(of: file).map { PlaneRow(tailNumber: String($0[0]), manufacturer: String($0[3])) }
  }
}

/// The fields of the lines of a file whose values have no commas, without the first line.
private func lines(of file: URL) throws -> some Sequence<[Substring]> {
  let text = try String(contentsOf: file, encoding: .utf8)
  return text.split(separator: "\n").dropFirst().lazy
    .map { $0.split(separator: ",", omittingEmptySubsequences: false) }
}

/// The flights of a file, and the planes they were made with.
struct FlightRows {
  let flights: [FlightRow]
  let planes: [PlaneRow]

  init(flights: URL, planes: URL) throws {
    self.flights = try FlightRow.rows(in: flights)
    self.planes = try PlaneRow.rows(in: planes)
  }

  /// Inserts all models, and saves some of the flights, a thousand at a time; the others stay unsaved.
  func insert(into context: ModelContext, savingUpTo savedCount: Int) throws {
    var byTail: [String: Plane] = [:]
    for row in planes {
      let plane = Plane(row)
      context.insert(plane)
      byTail[row.tailNumber] = plane
    }
    for (index, row) in flights.enumerated() {
      context.insert(Flight(row, row.tailNumber.flatMap { byTail[$0] }))
      let count = index + 1
      if count <= savedCount, count % 1000 == 0 || count == savedCount { try context.save() }
    }
  }
}
