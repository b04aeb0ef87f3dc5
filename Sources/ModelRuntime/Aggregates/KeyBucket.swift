import Foundation

/// What makes one value of many, so that rows with any of them fall into one group.
///
/// Unchecked, because its closures hold calendars and ranges of the user's types, which never change.
package struct KeyBucket: @unchecked Sendable {
  /// What the values it makes are.
  package let kind: QueryKind
  /// The value that stands for the group of another.
  package let value: (QueryValue) -> QueryValue
  /// For doubles, the range around a value in which all values have the same key, where that is known.
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

  /// The beginnings of a calendar's intervals.
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
  /// The interval that a moment lies in, if it is that of all moments in it.
  ///
  /// Where a time zone left out a day, a week begins for its last days where it did not for its first.
  fileprivate func sharedRange(_ component: Component, around seconds: Double) -> Range<Double>? {
    guard let range = range(component, around: seconds),
      self.range(component, around: range.lowerBound) == range,
      self.range(component, around: range.upperBound.nextDown) == range
    else { return nil }
    return range
  }

  /// The interval that a moment lies in, in seconds since the reference date.
  fileprivate func range(_ component: Component, around seconds: Double) -> Range<Double>? {
    // Farther away calendars do not reckon.
    guard abs(seconds) < 1e13 else { return nil }
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    guard let interval = dateInterval(of: component == .weekday ? .day : component, for: date)
    else { return nil }
    let start = interval.start.timeIntervalSinceReferenceDate
    let end = interval.end.timeIntervalSinceReferenceDate
    return start <= seconds && seconds < end ? start..<end : nil
  }
}
