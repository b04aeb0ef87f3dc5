public import Foundation

/// A flight that left New York: what a traveller would ask about it.
public struct FlightRecord: Sendable, Hashable {
  public var carrier: String
  public var number: Int64
  public var origin: String
  public var destination: String
  public var tailNumber: String?
  /// Seconds since 2001.
  public var scheduled: Double
  /// Minutes; `nil` if the flight was cancelled.
  public var departureDelay: Int64?
  public var arrivalDelay: Int64?
  /// Miles.
  public var distance: Int64

  /// Reads the flights of a file.
  ///
  /// - Parameter file: Lines of values between commas, the columns' names in the first.
  /// - Returns: The flights, in the file's order; lines with too few values are left out.
  /// - Throws: What the file system throws.
  public static func flights(in file: URL) throws -> [FlightRecord] {
    let text = try String(contentsOf: file, encoding: .utf8)
    return text.split(separator: "\n").dropFirst().compactMap(FlightRecord.init)
  }

  /// The file that the environment names in `LOGSTORE_FLIGHTS`, or the one that comes with the sources.
  public static var file: URL {
    let bundled = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../../Tools/SampleTrips/Resources/flights-2013-01.csv")
    let named = ProcessInfo.processInfo.environment["LOGSTORE_FLIGHTS"]
    return named.map { URL(filePath: $0) } ?? bundled.standardizedFileURL
  }

  /// Reads a flight of a line.
  init?(_ line: Substring) {
    let fields = line.split(separator: ",", omittingEmptySubsequences: false)
    guard fields.count > 18, let number = Int64(fields[10]), let distance = Int64(fields[15]),
      let date = try? Date(String(fields[18]), strategy: .iso8601)
    else { return nil }
    carrier = String(fields[9])
    self.number = number
    origin = String(fields[12])
    destination = String(fields[13])
    tailNumber = fields[11] == "NA" || fields[11].isEmpty ? nil : String(fields[11])
    scheduled = date.timeIntervalSinceReferenceDate
    departureDelay = Int64(fields[5])
    arrivalDelay = Int64(fields[8])
    self.distance = distance
  }
}
