import Foundation

/// Maps many values to one, so that their rows form one group.
///
/// Unchecked, because its closures hold calendars and ranges of the user's types, which never change.
package struct KeyBucket: @unchecked Sendable {
  /// The kind of the resulting values.
  package let kind: QueryKind
  /// Maps a value to the representative of its group.
  package let value: (QueryValue) -> QueryValue
  /// For doubles, the range around a value in which all values have the same key, if known.
  package let range: ((Double) -> Range<Double>?)?

  package init(
    kind: QueryKind,
    range: ((Double) -> Range<Double>?)? = nil,
    _ value: @escaping (QueryValue) -> QueryValue
  ) {
    self.kind = kind
    self.value = value
    self.range = range
  }

  /// The starts of a calendar's intervals.
  static func interval(_ component: Calendar.Component, _ calendar: Calendar) -> KeyBucket {
    KeyBucket(kind: .date, range: { calendar.sharedRange(component, around: $0) }) { value in
      guard case .double(let seconds) = value else { return .null }
      return calendar.range(component, around: seconds).map { .double($0.lowerBound) } ?? .null
    }
  }

  /// The numbers of a calendar's components.
  static func component(_ component: Calendar.Component, _ calendar: Calendar) -> KeyBucket {
    func number(_ seconds: Double) -> Int {
      calendar.component(component, from: Date(timeIntervalSinceReferenceDate: seconds))
    }
    // The week in which a month ends has one number in that month, and another in the next.
    func range(around seconds: Double) -> Range<Double>? {
      guard let range = calendar.sharedRange(component, around: seconds),
        number(range.lowerBound) == number(seconds),
        number(range.upperBound.nextDown) == number(seconds)
      else { return nil }
      return range
    }
    return KeyBucket(kind: .integer, range: range) { value in
      guard case .double(let seconds) = value, seconds.isFinite else { return .null }
      return .integer(Int64(number(seconds)))
    }
  }
}

extension Calendar {
  /// The interval that contains a moment, if every moment in it has that same interval.
  ///
  /// If a time zone skipped a day, the last days of that week can report another start than its first days.
  fileprivate func sharedRange(_ component: Component, around seconds: Double) -> Range<Double>? {
    guard let range = range(component, around: seconds),
      self.range(component, around: range.lowerBound) == range,
      self.range(component, around: range.upperBound.nextDown) == range
    else { return nil }
    return range
  }

  /// The interval that contains a moment, in seconds since the reference date.
  fileprivate func range(_ component: Component, around seconds: Double) -> Range<Double>? {
    // Calendars do not compute dates farther away.
    guard abs(seconds) < 1e13 else { return nil }
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    guard let interval = dateInterval(of: component == .weekday ? .day : component, for: date)
    else { return nil }
    let start = interval.start.timeIntervalSinceReferenceDate
    let end = interval.end.timeIntervalSinceReferenceDate
    return start <= seconds && seconds < end ? start..<end : nil
  }
}
