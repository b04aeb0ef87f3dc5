/// An instant as a date column holds it, in ISO 8601.
struct Timestamp: CustomStringConvertible, Equatable {
  /// Seconds since 2001-01-01T00:00:00Z.
  let seconds: Double

  /// The text after the seconds of an instant that is of no year that ISO 8601 has.
  static let secondsSuffix = " s since 2001"

  /// The number of digits after the second.
  private let fraction: Fraction

  private enum Fraction { case exact, microseconds }

  init(seconds: Double) {
    self.seconds = seconds
    fraction = .exact
  }

  /// From microseconds since 1970-01-01T00:00:00Z, as commits and files have it; prints all of them, so
  /// that lines can be compared.
  init(microseconds: Int64) {
    seconds = Double(microseconds) / 1e6 - 978_307_200
    fraction = .microseconds
  }

  /// The instant in UTC, with as many digits after the second as it takes to read it as the same: a shown value can be asked
  /// for, and two dates that differ look different.
  ///
  /// A number that is no instant of the years 0 to 9999 prints as the seconds it is.
  var description: String {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends the description.
  func write(to bytes: inout [UInt8]) {
    let years0To9999 = -63_145_526_400.0...252_423_993_599
    guard years0To9999.contains(seconds) else {
      return bytes.append(contentsOf: "\(seconds)\(Timestamp.secondsSuffix)".utf8)
    }
    let whole = seconds.rounded(.down)
    var micros = Int(((seconds - whole) * 1e6).rounded())
    var second = Int(whole)
    if micros == 1_000_000 {
      micros = 0
      second += 1
    }
    if fraction == .exact, TimestampFraction.seconds(second, microseconds: micros) != seconds {
      let (second, digits) = TimestampFraction.split(seconds)
      Timestamp(seconds: Double(second)).write(to: &bytes)
      bytes[bytes.count - 1] = UInt8(ascii: ".")
      bytes += digits
      return bytes.append(UInt8(ascii: "Z"))
    }
    let days = Int((Double(second) / 86_400).rounded(.down))
    let ofDay = second - days * 86_400
    let (year, month, day) = Self.civil(days + 11_323)
    // Digit by digit into a place of known size: an export writes millions.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 27) { text in
      var end = 0
      func write(_ number: Int, width: Int, before mark: Unicode.Scalar) {
        var rest = number
        for place in (end..<end + width).reversed() {
          text[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
          rest /= 10
        }
        text[end + width] = UInt8(ascii: mark)
        end += width + 1
      }
      write(year, width: 4, before: "-")
      write(month, width: 2, before: "-")
      write(day, width: 2, before: "T")
      write(ofDay / 3600, width: 2, before: ":")
      write(ofDay / 60 % 60, width: 2, before: ":")
      let hasFraction = micros > 0 || fraction == .microseconds
      write(ofDay % 60, width: 2, before: hasFraction ? "." : "Z")
      if hasFraction {
        write(micros, width: 6, before: "Z")
        if fraction != .microseconds {
          while text[end - 2] == UInt8(ascii: "0") { end -= 1 }
          text[end - 1] = UInt8(ascii: "Z")
        }
      }
      bytes.append(contentsOf: text[..<end])
    }
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
}
