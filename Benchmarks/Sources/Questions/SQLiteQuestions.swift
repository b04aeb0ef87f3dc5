#if SQLITE
import Foundation
import Harness
import SQLitePeer

/// Flights in SQLite, which has no time zones: each row has New York's clock and month beside its instant.
final class SQLiteQuestions: QuestionStore {
  let contender = Contender.sqlite
  private let database: SQLiteDatabase

  init(_ file: URL, _ rows: FlightRows) throws {
    database = try SQLiteDatabase(
      file,
      schema: """
        CREATE TABLE plane (id INTEGER PRIMARY KEY, tailNumber TEXT NOT NULL, manufacturer TEXT NOT NULL);
        CREATE TABLE flight (
          id INTEGER PRIMARY KEY, carrier TEXT NOT NULL, origin TEXT NOT NULL, destination TEXT NOT NULL,
          tailNumber TEXT, scheduled INTEGER NOT NULL, local INTEGER NOT NULL, month INTEGER NOT NULL,
          departureDelay INTEGER, arrivalDelay INTEGER, airTime INTEGER, distance INTEGER NOT NULL,
          plane INTEGER REFERENCES plane (id)
        );
        """
    )
    try database.inTransaction {
      let plane = try database.statement("INSERT INTO plane VALUES (?, ?, ?)")
      var ids: [String: Int] = [:]
      for (index, row) in rows.planes.enumerated() {
        plane.bind(index, at: 1)
        plane.bind(row.tailNumber, at: 2)
        plane.bind(row.manufacturer, at: 3)
        try plane.run()
        ids[row.tailNumber] = index
      }
      let flight = try database.statement(
        "INSERT INTO flight VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
      )
      for row in rows.flights {
        flight.bind(row.carrier, at: 1)
        flight.bind(row.origin, at: 2)
        flight.bind(row.destination, at: 3)
        if let tail = row.tailNumber { flight.bind(tail, at: 4) } else { flight.bindNull(at: 4) }
        flight.bind(Int(row.scheduled), at: 5)
        flight.bind(row.local, at: 6)
        flight.bind(row.month, at: 7)
        let plane = row.tailNumber.flatMap { ids[$0] }
        let optionals = [row.departureDelay, row.arrivalDelay, row.airTime, row.distance, plane]
        for (place, value) in zip(CInt(8)..., optionals) {
          if let value { flight.bind(value, at: place) } else { flight.bindNull(at: place) }
        }
        try flight.run()
      }
    }
  }

  func settings(_: FlightQuestion) -> String { SQLiteDatabase.settings }

  func ask(_ question: FlightQuestion) throws -> [String] {
    let (types, sql) = question.sql
    var lines: [String] = []
    try database.statement(sql).run { row in
      let values = zip(CInt(0)..., types).map { column, type -> String in
        switch type {
        case .text: row.text(column)
        case .integer: "\(row.integer(column))"
        case .decimal: decimals(row.isNull(column) ? nil : row.double(column))
        }
      }
      lines.append(values.joined(separator: ","))
    }
    return lines
  }
}

private enum ResultType { case text, integer, decimal }

extension FlightQuestion {
  /// The question in SQL, and what its columns are.
  fileprivate var sql: ([ResultType], String) {
    switch self {
    case .delaysByCarrierAndHour:
      (
        [.text, .integer, .integer, .decimal],
        """
        SELECT carrier, local % 86400 / 3600 AS hour, count(*), avg(departureDelay)
        FROM flight GROUP BY 1, 2 ORDER BY 1, 2
        """
      )
    case .worstRoutes:
      (
        [.text, .text, .integer, .decimal],
        """
        SELECT origin, destination, count(*), avg(arrivalDelay) AS delay
        FROM flight WHERE arrivalDelay IS NOT NULL GROUP BY 1, 2 HAVING count(*) >= 15
        ORDER BY delay DESC, 1, 2 LIMIT 10
        """
      )
    case .planesByHours:
      (
        [.text, .integer, .decimal],
        """
        SELECT tailNumber, count(airTime), sum(airTime) / 60.0 AS hours
        FROM flight WHERE tailNumber IS NOT NULL GROUP BY 1 ORDER BY hours DESC, 1 LIMIT 10
        """
      )
    case .cancellationsByWeek:
      (
        [.text, .integer],
        """
        SELECT date((day - (day + 3) % 7) * 86400, 'unixepoch'), count
        FROM (
          SELECT max(local / 86400) AS day, count(*) AS count FROM flight
          WHERE departureDelay IS NULL GROUP BY (local / 86400 + 3) / 7 ORDER BY 1
        )
        """
      )
    case .longestChain:
      (
        [.text, .integer],
        """
        WITH step AS (
          SELECT tailNumber, scheduled,
            scheduled - lag(scheduled) OVER (PARTITION BY tailNumber ORDER BY scheduled) AS pause
          FROM flight WHERE tailNumber IS NOT NULL AND departureDelay IS NOT NULL
        ), chain AS (
          SELECT tailNumber, sum(pause > 86400) OVER (
            PARTITION BY tailNumber ORDER BY scheduled ROWS UNBOUNDED PRECEDING
          ) AS number FROM step
        )
        SELECT tailNumber, count(*) AS length FROM chain
        GROUP BY tailNumber, ifnull(number, 0) ORDER BY length DESC, tailNumber LIMIT 1
        """
      )
    case .busiestHours:
      (
        [.text, .integer, .integer],
        """
        SELECT origin, hour, count FROM (
          SELECT *, row_number() OVER (PARTITION BY origin ORDER BY count DESC, hour) AS place
          FROM (
            SELECT origin, local % 86400 / 3600 AS hour, count(*) AS count
            FROM flight GROUP BY 1, 2
          )
        ) WHERE place = 1 ORDER BY origin
        """
      )
    case .delayPercentiles:
      (
        [.text, .decimal, .decimal, .decimal],
        """
        WITH ranked AS (
          SELECT carrier, departureDelay AS delay,
            row_number() OVER (PARTITION BY carrier ORDER BY departureDelay) - 1 AS place,
            count(*) OVER (PARTITION BY carrier) - 1 AS last
          FROM flight WHERE departureDelay IS NOT NULL
        )
        SELECT carrier, \(["0.5", "0.9", "0.99"].map(Self.percentile).joined(separator: ", "))
        FROM ranked GROUP BY carrier ORDER BY carrier
        """
      )
    case .lateShareByMonth:
      (
        [.integer, .integer, .decimal],
        """
        SELECT month, count(*), avg(arrivalDelay > 15)
        FROM flight WHERE arrivalDelay IS NOT NULL GROUP BY 1 ORDER BY 1
        """
      )
    case .milesByManufacturer:
      (
        [.text, .integer, .integer],
        """
        SELECT manufacturer, count(*), sum(distance) AS miles
        FROM flight JOIN plane ON plane.id = flight.plane
        WHERE airTime IS NOT NULL GROUP BY 1 HAVING count(*) >= 50 ORDER BY miles DESC, 1 LIMIT 10
        """
      )
    case .bestWeekday:
      (
        [.integer, .integer, .decimal],
        """
        SELECT (local / 86400 + 4) % 7 + 1, count(*), avg(arrivalDelay) AS delay
        FROM flight WHERE arrivalDelay IS NOT NULL GROUP BY 1 ORDER BY delay LIMIT 1
        """
      )
    }
  }

  /// A percentile of ranked delays, between two neighbours by linear interpolation.
  private static func percentile(_ share: String) -> String {
    let place = "(last * \(share))"
    let lower = "CAST(\(place) AS INTEGER)"
    return """
      sum(CASE place WHEN \(lower) THEN delay * (1 - (\(place) - \(lower)))
        WHEN \(lower) + 1 THEN delay * (\(place) - \(lower)) END)
      """
  }
}
#endif
