import Foundation
import Terminal
import Testing

@testable import SampleTrips

@Suite struct `A row of flights.csv` {
  @Test func `becomes a flight with the instants its clocks mean`() throws {
    let flight = try #require(try FlightRows.table(FlightRows.first).rows.first)
    #expect(flight.identity.name == "UA 1545")
    #expect(flight.identity.origin == "EWR")
    #expect(flight.identity.day.ISO8601Format() == "2013-01-01T05:00:00Z")
    #expect(flight.scheduledDeparture.ISO8601Format() == "2013-01-01T10:15:00Z")
    #expect(flight.actualDeparture?.ISO8601Format() == "2013-01-01T10:17:00Z")
    #expect(flight.departureDelay == 2)
    #expect(flight.tailNumber == "N14228")
    #expect(flight.distance == 1400)
    #expect(!flight.isCancelled)
  }

  @Test(arguments: ["", "NA"])
  func `without a departure time is a cancelled flight`(missing: String) throws {
    let flight = try #require(try FlightRows.table(FlightRows.first(3, missing)).rows.first)
    #expect(flight.isCancelled)
    #expect(flight.actualDeparture == nil)
  }

  @Test(arguments: [
    (9, "NA", "carrier: expected a name, found “NA”"),
    (10, "x", "flight: expected a number, found “x”"),
    (5, "NA", "dep_delay: expected a number, found “NA”"),
    (3, "2465", "dep_time: expected a time of day as hhmm, found “2465”"),
    (7, "-5", "sched_arr_time: expected a time of day as hhmm, found “-5”"),
    (18, "2013-01-01", "time_hour: expected a time as 2013-01-31T10:00:00Z, found “2013-01-01”"),
    (
      18, "2013-13-01T10:00:00Z",
      "time_hour: expected a time as 2013-01-31T10:00:00Z, found “2013-13-01T10:00:00Z”"
    ),
    (
      2, "9",
      "time_hour: expected the hour of departure in UTC, on the day of the row, found “2013-01-01T10:00:00Z”"
    ),
  ])
  func `that cannot be used is skipped and reported with its line`(
    column: Int,
    value: String,
    reason: String
  ) throws {
    let table = try FlightRows.table(FlightRows.first, FlightRows.first(column, value))
    #expect(table.rows.count == 1)
    #expect(
      table.badRows.notices == ["flights.csv:3: \(reason)", "flights.csv: skipped 1 bad row"]
    )
  }

  @Test func `with too few fields is skipped`() throws {
    let table = try FlightRows.table("2013,1", FlightRows.first)
    #expect(table.rows.count == 1)
    #expect(table.badRows.notices.first == "flights.csv:2: expected 19 fields, found 2")
  }
}

@Suite struct `Bad rows` {
  @Test func `are listed up to the tenth, and then counted`() {
    var rows = BadRows(path: "f.csv")
    for line in 2...1235 { rows.append("bad", line: line) }
    #expect(rows.notices.count == 12)
    #expect(rows.notices[9] == "f.csv:11: bad")
    #expect(rows.notices[10] == "f.csv: … and 1,224 more")
    #expect(rows.notices[11] == "f.csv: skipped 1,234 bad rows")
  }

  @Test func `that are none say nothing`() {
    #expect(BadRows(path: "f.csv").notices.isEmpty)
  }
}

@Suite struct `A file of flights` {
  @Test func `must name its columns`() {
    let bytes = Array("year,month\n2013,1\n".utf8)
    let error = #expect(throws: ToolError.self) {
      try CSVTable<Flight>(bytes, path: "flights.csv")
    }
    #expect(error?.expected == "day")
    #expect(error?.found == "year, month")
    #expect(error?.place == "flights.csv:1")
    #expect(error?.status == .usage)
  }

  @Test func `may not be empty`() {
    #expect(throws: ToolError.self) { try CSVTable<Flight>([], path: "flights.csv") }
  }

  @Test func `must be there`() {
    let error = #expect(throws: ToolError.self) {
      try CSVTable<Flight>(contentsOf: "/nowhere/flights.csv")
    }
    #expect(error?.found == "nothing of that name")
  }

  @Test func `names each flight once`() throws {
    let folder = try TemporaryFolder()
    let rows = [FlightRows.header, FlightRows.first, FlightRows.first, ""]
    let file = try folder.write(rows.joined(separator: "\n"), to: "twice.csv")
    var notices: [String] = []
    let timetable = try Timetable(csv: file) { notices.append($0) }
    #expect(timetable.flights.count == 1)
    #expect(notices.first == "\(file):3: the same flight as line 2")
  }

  @Test func `is bundled, and all its rows are good`() throws {
    var notices: [String] = []
    let timetable = try Timetable(csv: nil) { notices.append($0) }
    #expect(notices.isEmpty)
    #expect(timetable.flights.count == 27_004)
    #expect(timetable.flights.count(where: \.isCancelled) == 521)
    #expect(Set(timetable.flights.map(\.identity)).count == timetable.flights.count)
    #expect(timetable.airlines.count == 16)
  }
}

@Suite struct `The clocks of the airports` {
  private func airport(_ code: String, _ hours: Int, _ hasSummerTime: Bool) -> AirportRow {
    AirportRow(
      code: code,
      name: code,
      latitude: 0,
      longitude: 0,
      altitude: 0,
      hoursAheadOfUTC: hours,
      hasSummerTime: hasSummerTime
    )
  }

  @Test(arguments: [
    // Houston's clocks are an hour behind New York's: 08:19 there is 14:19 in UTC.
    ("IAH", 499, 5, "2013-01-01T14:19:00Z"),
    // In summer both go forward, Phoenix stays.
    ("IAH", 499, 4, "2013-01-01T13:19:00Z"),
    ("PHX", 600, 4, "2013-01-01T17:00:00Z"),
    // Due before it leaves: the next day is meant.
    ("IAH", 60, 5, "2013-01-02T07:00:00Z"),
    // Not in the file: New York's time.
    ("SJU", 600, 5, "2013-01-01T15:00:00Z"),
  ])
  func `tell when a flight is due`(
    destination: String,
    arrival: Int,
    behind: Int,
    expected: String
  ) throws {
    let clocks = ArrivalClocks([airport("IAH", -6, true), airport("PHX", -7, false)])
    var flight = try #require(try FlightRows.table(FlightRows.first).rows.first)
    flight.destination = destination
    flight.scheduledArrival = arrival
    flight.hoursBehindUTC = behind
    flight.identity.day = Date(timeIntervalSince1970: 1_356_998_400 + Double(behind) * 3600)
    #expect(clocks.arrival(of: flight).ISO8601Format() == expected)
  }
}

@Suite struct `A civil day` {
  @Test(arguments: [
    (1970, 1, 1, 0), (2000, 2, 29, 11_016), (2000, 3, 1, 11_017), (2013, 1, 1, 15_706),
    (1969, 12, 31, -1), (2100, 3, 1, 47_541),
  ])
  func `has the number of days since 1970`(year: Int, month: Int, day: Int, number: Int) {
    #expect(CivilDay(year: year, month: month, day: day).number == number)
  }
}
