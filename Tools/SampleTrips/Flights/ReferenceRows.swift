import Terminal

/// One row of `airlines.csv`.
struct AirlineRow: CSVRow, Sendable {
  var code: String
  var name: String

  static func columns(in header: CSVHeader) throws(ToolError) -> (CSVColumn, CSVColumn) {
    (try header.column("carrier"), try header.column("name"))
  }

  static func read(
    _ record: borrowing CSVReader,
    _ columns: (CSVColumn, CSVColumn)
  ) throws(RowProblem) -> AirlineRow {
    AirlineRow(code: try record.name(columns.0), name: try record.name(columns.1))
  }
}

/// One row of `airports.csv`.
struct AirportRow: CSVRow, Sendable {
  var code: String
  var name: String
  var latitude: Double
  var longitude: Double
  /// Feet.
  var altitude: Int
  /// Hours by which the clocks are ahead of UTC in winter.
  var hoursAheadOfUTC: Int
  /// Whether the clocks follow New York's into summer time.
  var hasSummerTime: Bool

  struct Columns {
    let code, name, latitude, longitude, altitude, offset, summerTime: CSVColumn
  }

  static func columns(in header: CSVHeader) throws(ToolError) -> Columns {
    Columns(
      code: try header.column("faa"),
      name: try header.column("name"),
      latitude: try header.column("lat"),
      longitude: try header.column("lon"),
      altitude: try header.column("alt"),
      offset: try header.column("tz"),
      summerTime: try header.column("dst")
    )
  }

  static func read(
    _ record: borrowing CSVReader,
    _ columns: Columns
  ) throws(RowProblem) -> AirportRow {
    AirportRow(
      code: try record.name(columns.code),
      name: try record.name(columns.name),
      latitude: try record.double(columns.latitude),
      longitude: try record.double(columns.longitude),
      altitude: try record.integer(columns.altitude),
      hoursAheadOfUTC: try record.integer(columns.offset),
      hasSummerTime: record.text(columns.summerTime.index) == "A"
    )
  }
}

/// One row of `planes.csv`.
struct PlaneRow: CSVRow, Sendable {
  var tailNumber: String
  var year: Int?
  var manufacturer: String
  var model: String
  var seats: Int

  struct Columns {
    let tailNumber, year, manufacturer, model, seats: CSVColumn
  }

  static func columns(in header: CSVHeader) throws(ToolError) -> Columns {
    Columns(
      tailNumber: try header.column("tailnum"),
      year: try header.column("year"),
      manufacturer: try header.column("manufacturer"),
      model: try header.column("model"),
      seats: try header.column("seats")
    )
  }

  static func read(
    _ record: borrowing CSVReader,
    _ columns: Columns
  ) throws(RowProblem) -> PlaneRow {
    PlaneRow(
      tailNumber: try record.name(columns.tailNumber),
      year: try record.optionalInteger(columns.year),
      manufacturer: try record.name(columns.manufacturer),
      model: try record.name(columns.model),
      seats: try record.integer(columns.seats)
    )
  }
}
