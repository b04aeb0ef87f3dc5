import Foundation

/// Values of one field, read from its bytes without a string in between.
extension CSVReader {
  /// An integer that must be there.
  func integer(_ column: CSVColumn) throws(RowProblem) -> Int {
    guard let value = Self.integer(raw(column.index)) else { throw problem(column, "a number") }
    return value
  }

  /// An integer that may be missing.
  func optionalInteger(_ column: CSVColumn) throws(RowProblem) -> Int? {
    isMissing(column.index) ? nil : try integer(column)
  }

  /// A number that may have a fraction.
  func double(_ column: CSVColumn) throws(RowProblem) -> Double {
    guard let value = Double(text(column.index)) else { throw problem(column, "a number") }
    return value
  }

  /// A text that must be there.
  func name(_ column: CSVColumn) throws(RowProblem) -> String {
    guard !isMissing(column.index) else { throw problem(column, "a name") }
    return text(column.index)
  }

  /// A text that may be missing.
  func optionalText(_ column: CSVColumn) -> String? {
    isMissing(column.index) ? nil : text(column.index)
  }

  /// A time of day written as hhmm, in minutes after midnight; 2400 is the day's end.
  func clock(_ column: CSVColumn) throws(RowProblem) -> Int {
    guard let value = Self.integer(raw(column.index)), (0...2400).contains(value), value % 100 < 60
    else { throw problem(column, "a time of day as hhmm") }
    return value / 100 * 60 + value % 100
  }

  /// An instant written as `2013-01-01T10:00:00Z`, in seconds since 1970.
  func instant(_ column: CSVColumn) throws(RowProblem) -> Int {
    guard let value = Self.instant(raw(column.index)) else {
      throw problem(column, "a time as 2013-01-31T10:00:00Z")
    }
    return value
  }

  private func problem(_ column: CSVColumn, _ expected: String) -> RowProblem {
    RowProblem(column: column.name, expected: expected, found: text(column.index))
  }
}

extension CSVReader {
  static func integer(_ digits: ArraySlice<UInt8>) -> Int? {
    let isNegative = digits.first == UInt8(ascii: "-")
    let magnitude = isNegative ? digits.dropFirst() : digits
    // Eighteen digits fit an Int whatever they are, so the loop needs no check for overflow.
    guard 1...18 ~= magnitude.count else { return nil }
    var value = 0
    for byte in magnitude {
      let digit = Int(byte) - 48
      guard 0...9 ~= digit else { return nil }
      value = value * 10 + digit
    }
    return isNegative ? -value : value
  }

  private static func instant(_ text: ArraySlice<UInt8>) -> Int? {
    let pattern: StaticString = "0000-00-00T00:00:00Z"
    guard text.count == pattern.utf8CodeUnitCount else { return nil }
    let start = text.startIndex
    func separator(_ offset: Int, _ byte: Unicode.Scalar) -> Bool {
      text[start + offset] == UInt8(ascii: byte)
    }
    func number(_ range: Range<Int>) -> Int? {
      integer(text[(start + range.lowerBound)..<(start + range.upperBound)])
    }
    guard separator(4, "-"), separator(7, "-"), separator(10, "T"), separator(13, ":"),
      separator(16, ":"), separator(19, "Z"),
      let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
      let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
      1...12 ~= month, 1...31 ~= day, 0...23 ~= hour, 0...59 ~= minute, 0...59 ~= second
    else { return nil }
    return CivilDay(year: year, month: month, day: day).number * 86_400 + hour * 3600
      + minute * 60 + second
  }
}

/// A day of the Gregorian calendar as a number: a calendar is far too slow for a million dates.
struct CivilDay: Hashable {
  /// Days since 1970-01-01.
  let number: Int

  init(year: Int, month: Int, day: Int) {
    // Years are counted from March, so that the leap day is the last of its year; 400 years repeat.
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    number =
      era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
