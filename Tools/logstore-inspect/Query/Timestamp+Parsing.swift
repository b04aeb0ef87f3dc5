extension Timestamp {
  /// Reads a date in ISO 8601: `2024-02-29`, `2024-02-29T12:00`, `2024-02-29 12:00:00.5+02:00`; UTC if it names no zone.
  ///
  /// One beyond the years 0 to 9999 is read as it is printed, as seconds.
  init?(_ text: String) {
    if text.hasSuffix(Timestamp.secondsSuffix) {
      guard let seconds = Double(text.dropLast(Timestamp.secondsSuffix.count)) else { return nil }
      self.init(seconds: seconds)
      return
    }
    var cursor = DateCursor(text)
    guard let year = cursor.number(digits: 4), cursor.take("-"),
      let month = cursor.number(digits: 2), 1...12 ~= month, cursor.take("-"),
      let day = cursor.number(digits: 2), 1...Timestamp.dayCount(year, month) ~= day
    else { return nil }
    var second = (Timestamp.dayNumber(year, month, day) - 11_323) * 86_400
    var digits: [UInt8] = []
    if cursor.take("T") || cursor.take("t") || cursor.take(" ") {
      guard let hour = cursor.number(digits: 2), 0...23 ~= hour, cursor.take(":"),
        let minute = cursor.number(digits: 2), 0...59 ~= minute
      else { return nil }
      second += hour * 3600 + minute * 60
      if cursor.take(":") {
        guard let ofMinute = cursor.number(digits: 2), 0...60 ~= ofMinute else { return nil }
        second += ofMinute
        if cursor.take(".") {
          digits = cursor.digits()
          if digits.isEmpty { return nil }
        }
      }
      guard let offset = cursor.zone() else { return nil }
      second -= offset
    }
    guard cursor.isAtEnd else { return nil }
    self.init(seconds: TimestampFraction.seconds(second, digits: digits))
  }

  private static func dayCount(_ year: Int, _ month: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  }

  /// The days since 1970-01-01, of the Gregorian calendar.
  private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
    // Years are counted from March, so that the leap day is the last of its year; 400 years repeat.
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}

/// Reads the parts of a date.
private struct DateCursor {
  private let bytes: [UInt8]
  private var position = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  var isAtEnd: Bool { position == bytes.count }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func digit() -> Int? {
    guard position < bytes.count, 48...57 ~= bytes[position] else { return nil }
    defer { position += 1 }
    return Int(bytes[position]) - 48
  }

  mutating func number(digits: Int) -> Int? {
    var value = 0
    for _ in 0..<digits {
      guard let digit = digit() else { return nil }
      value = value * 10 + digit
    }
    return value
  }

  /// The digits that follow, as they are.
  mutating func digits() -> [UInt8] {
    let start = position
    while digit() != nil {}
    return Array(bytes[start..<position])
  }

  /// The seconds by which a zone is ahead of UTC; 0 if none is named.
  mutating func zone() -> Int? {
    if isAtEnd || take("Z") || take("z") { return 0 }
    let sign = take("-") ? -1 : take("+") ? 1 : 0
    guard sign != 0, let hours = number(digits: 2), hours <= 23 else { return nil }
    _ = take(":")
    guard let minutes = number(digits: 2), minutes <= 59 else { return nil }
    return sign * (hours * 3600 + minutes * 60)
  }
}
