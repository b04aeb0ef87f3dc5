#if PostgreSQL
import Foundation

/// A date as the server keeps it: microseconds since 2000-01-01T00:00:00Z.
///
/// `Date` counts seconds since 2001 in a double. Near today it distinguishes dates a tenth of a microsecond
/// apart, so a date is rounded to the nearest microsecond; ``storedDate(_:)`` of a rounded date is that date.
enum PostgresDate {
  /// From the server's epoch to Foundation's: the year 2000 was a leap year.
  private static let epochDistance: Int64 = 366 * 86_400

  /// The range that the server accepts: from 4714-11-24 BC up to 294277-01-01.
  private static let earliest: Int64 = -211_813_488_000_000_000
  private static let end: Int64 = 9_223_371_331_200_000_000

  /// The microseconds of a time interval since 2001; `nil` for an interval that the server cannot keep.
  static func microseconds(since2001 seconds: Double) -> Int64? {
    // The server has a value for each infinity, at the ends of its range.
    if seconds == .infinity { return .max }
    if seconds == -.infinity { return .min }
    guard abs(seconds) < 1e13 else { return nil }
    // Split, because the product of the whole would be rounded itself.
    let whole = seconds.rounded(.down)
    let fraction = ((seconds - whole) * 1e6).rounded()
    let microseconds = (Int64(whole) + epochDistance) * 1_000_000 + Int64(fraction)
    return (earliest..<end).contains(microseconds) ? microseconds : nil
  }

  /// The time interval since 2001 of the server's microseconds.
  static func seconds(of microseconds: Int64) -> Double {
    if microseconds == .max { return .infinity }
    if microseconds == .min { return -.infinity }
    let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return Double(seconds - epochDistance) + Double(rest) / 1e6
  }

  /// The microseconds that read as one time interval, which may be none, or several far from today.
  ///
  /// - Returns: The first that reads as this interval or a later one, and the first that reads as a later one; `nil`
  ///   for intervals outside of the server's range.
  static func microseconds(around seconds: Double) -> (first: Int64, behind: Int64)? {
    guard seconds.isFinite, var first = microseconds(since2001: seconds) else { return nil }
    while self.seconds(of: first) >= seconds { first -= 1 }
    while self.seconds(of: first) < seconds { first += 1 }
    var behind = first
    while self.seconds(of: behind) <= seconds { behind += 1 }
    return (first, behind)
  }

  /// The date that a read returns after a save of this one; the date itself if it cannot be saved.
  static func storedDate(_ date: Date) -> Date {
    guard let microseconds = microseconds(since2001: date.timeIntervalSinceReferenceDate) else {
      return date
    }
    return Date(timeIntervalSinceReferenceDate: seconds(of: microseconds))
  }
}
#endif
