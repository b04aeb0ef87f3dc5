@testable import SampleTrips

/// Rows of a `flights.csv` as tests need them.
enum FlightRows {
  static let header =
    "year,month,day,dep_time,sched_dep_time,dep_delay,arr_time,sched_arr_time,arr_delay,carrier,"
    + "flight,tailnum,origin,dest,air_time,distance,hour,minute,time_hour"

  static let first =
    "2013,1,1,517,515,2,830,819,11,UA,1545,N14228,EWR,IAH,227,1400,5,15,2013-01-01T10:00:00Z"

  /// The first row with another value in one column.
  static func first(_ column: Int, _ value: String) -> String {
    var fields = first.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    fields[column] = value
    return fields.joined(separator: ",")
  }

  /// A flight of New York's JFK to Chicago at ten, on a day of January.
  static func row(day: Int, number: Int, delay: Int?) -> String {
    let departure = delay.map { "\(1000 + $0 / 60 * 100 + $0 % 60),1000,\($0)" } ?? "NA,1000,NA"
    let date = day < 10 ? "0\(day)" : "\(day)"
    return "2013,1,\(day),\(departure),NA,1130,NA,AA,\(number),N3ALAA,JFK,ORD,NA,740,10,0,"
      + "2013-01-\(date)T15:00:00Z"
  }

  /// A file of `days` with three flights each: one on time, one late, one cancelled.
  static func file(days: Int) -> String {
    var lines = [header]
    for day in 1...days {
      lines.append(row(day: day, number: 1, delay: 0))
      lines.append(row(day: day, number: 2, delay: 60 + day))
      lines.append(row(day: day, number: 3, delay: nil))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  static func table(_ rows: String...) throws -> CSVTable<Flight> {
    let text = ([header] + rows).joined(separator: "\n")
    return try CSVTable(Array(text.utf8), path: "flights.csv")
  }
}
