/// An instant as a date column holds it, in ISO 8601.
struct Timestamp: CustomStringConvertible, Equatable {
  /// Seconds since 2001-01-01T00:00:00Z.
  let seconds: Double

  /// How many digits follow the second.
  private let fraction: Fraction

  private enum Fraction { case shortest, microseconds }

  init(seconds: Double) {
    self.seconds = seconds
    fraction = .shortest
  }

  /// From microseconds since 1970-01-01T00:00:00Z, as commits and files have it; prints all of them, so
  /// that lines can be compared.
  init(microseconds: Int64) {
    seconds = Double(microseconds) / 1e6 - 978_307_200
    fraction = .microseconds
  }

  /// The instant in UTC, with microseconds only where there are some.
  ///
  /// A number that is no instant of the years 0 to 9999 prints as the seconds it is.
  var description: String {
    let years0To9999 = -63_145_526_400.0...252_423_993_599
    guard years0To9999.contains(seconds) else { return "\(seconds) s since 2001" }
    let whole = seconds.rounded(.down)
    var micros = Int(((seconds - whole) * 1e6).rounded())
    var second = Int(whole)
    if micros == 1_000_000 {
      micros = 0
      second += 1
    }
    let days = Int((Double(second) / 86_400).rounded(.down))
    let ofDay = second - days * 86_400
    let (year, month, day) = Self.civil(days + 11_323)
    let date = "\(Self.digits(year, 4))-\(Self.digits(month, 2))-\(Self.digits(day, 2))"
    let hour = Self.digits(ofDay / 3600, 2)
    let minute = Self.digits(ofDay / 60 % 60, 2)
    var time = "\(hour):\(minute):\(Self.digits(ofDay % 60, 2))"
    if fraction == .microseconds { return "\(date)T\(time).\(Self.digits(micros, 6))Z" }
    if micros > 0 {
      time += "." + Self.digits(micros, 6)
      while time.last == "0" { time.removeLast() }
    }
    return "\(date)T\(time)Z"
  }

  /// The day of the Gregorian calendar from the days since 1970-01-01.
  private static func civil(_ number: Int) -> (year: Int, month: Int, day: Int) {
    // Years are counted from March, so that the leap day is the last of its year; 400 years repeat.
    let shifted = number + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
    return (year, month < 10 ? month + 3 : month - 9, dayOfYear - (153 * month + 2) / 5 + 1)
  }

  private static func digits(_ value: Int, _ width: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }
}
