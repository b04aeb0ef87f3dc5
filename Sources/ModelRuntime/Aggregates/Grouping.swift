public import Foundation
import RowFormat

/// A rule that puts models into groups when a context measures them.
///
///     let months = try context.aggregate(
///       FetchDescriptor<Flight>(), by: .calendar(\.departure, .month, in: newYork), .count)
public struct Grouping<Model: PersistentModel, Key> {
  let value: MeasuredValue<Model>
  /// Maps a value to the representative of its group; `nil` if each value is a group of its own.
  let bucket: KeyBucket?
  let finish: (QueryValue) -> Key?

  private init(
    _ keyPath: PartialKeyPath<Model>,
    _ bucket: KeyBucket? = nil,
    finish: @escaping (QueryValue) -> Key?
  ) {
    self.init(MeasuredValue(keyPath), bucket, finish: finish)
  }

  private init(
    _ value: MeasuredValue<Model>,
    _ bucket: KeyBucket?,
    finish: @escaping (QueryValue) -> Key?
  ) {
    self.value = value
    self.bucket = bucket
    self.finish = finish
  }

  /// Groups by the values of a property, or of one at the end of to-one relationships.
  ///
  /// Nil is a group of its own. Texts that are equal are one group, whatever their bytes.
  public static func value(_ property: KeyPath<Model, Key>) -> Self {
    Self(property) { $0.typed(as: Key.self) }
  }

  /// Groups by the result of an expression for each model.
  ///
  ///     let route = #Expression<Flight, String> { $0.origin + "-" + $0.destination }
  ///     let routes = try context.aggregate(FetchDescriptor<Flight>(), by: .value(route), .count)
  ///
  /// Nil is a group of its own.
  public static func value(_ expression: Foundation.Expression<Model, Key>) -> Self {
    Self(MeasuredValue(expression), nil) { $0.typed(as: Key.self) }
  }
}

// MARK: Parts of dates

extension Grouping where Key == Date {
  /// Groups by the hour, day, week, month or any other interval of a calendar that a date lies in.
  ///
  /// - Parameters:
  ///   - property: A date.
  ///   - component: The length of the intervals.
  ///   - calendar: Determines the start of intervals: by its time zone and its first day of the week.
  /// - Returns: A grouping whose keys are the starts of the intervals.
  public static func calendar(
    _ property: KeyPath<Model, Date>,
    _ component: Calendar.Component,
    in calendar: Calendar
  ) -> Self {
    Self(property, .interval(component, calendar)) { $0.date }
  }
}

extension Grouping where Key == Date? {
  /// Groups by the interval of a calendar that a date lies in; nil is a group of its own.
  public static func calendar(
    _ property: KeyPath<Model, Date?>,
    _ component: Calendar.Component,
    in calendar: Calendar
  ) -> Self {
    Self(property, .interval(component, calendar)) { .some($0.date) }
  }
}

extension Grouping where Key == Int {
  /// Groups by a component of a date, such as the hour of the day or the day of the week.
  public static func component(
    _ component: Calendar.Component,
    of property: KeyPath<Model, Date>,
    in calendar: Calendar
  ) -> Self {
    Self(property, .component(component, calendar)) { $0.int }
  }
}

extension Grouping where Key == Int? {
  /// Groups by a component of a date; nil is a group of its own.
  public static func component(
    _ component: Calendar.Component,
    of property: KeyPath<Model, Date?>,
    in calendar: Calendar
  ) -> Self {
    Self(property, .component(component, calendar)) { .some($0.int) }
  }
}

// MARK: Ranges

extension Grouping {
  /// Groups by the first of several ranges that contains a value; values outside all of them, and nil, form the group nil.
  public static func ranges<Bound: Comparable>(
    of property: KeyPath<Model, Bound>,
    _ ranges: [Range<Bound>]
  ) -> Self where Key == Range<Bound>? { among(ranges, property) }

  /// Groups by the first of several ranges that contains a value; values outside all of them, and nil, form the group nil.
  public static func ranges<Bound: Comparable>(
    of property: KeyPath<Model, Bound?>,
    _ ranges: [Range<Bound>]
  ) -> Self where Key == Range<Bound>? { among(ranges, property) }

  private static func among<Bound: Comparable>(
    _ ranges: [Range<Bound>],
    _ property: PartialKeyPath<Model>
  ) -> Self where Key == Range<Bound>? {
    let search = RangeSearch(ranges)
    let bucket = KeyBucket(kind: .integer) { value in
      guard let value = value.typed(as: Bound.self), let index = search.index(of: value) else {
        return .null
      }
      return .integer(Int64(index))
    }
    return Self(property, bucket) { value in
      guard case .integer(let index) = value else { return .some(nil) }
      return .some(ranges[Int(index)])
    }
  }
}

/// Finds the first of several ranges that contains a value.
private struct RangeSearch<Bound: Comparable> {
  private let ranges: [Range<Bound>]
  /// Whether each range ends before the next one begins.
  private let areInOrder: Bool

  init(_ ranges: [Range<Bound>]) {
    self.ranges = ranges
    areInOrder = zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound }
  }

  /// - Complexity: O(log *n*) for *n* ranges in order, otherwise O(*n*).
  func index(of value: Bound) -> Int? {
    guard areInOrder else { return ranges.firstIndex { $0.contains(value) } }
    let index = ranges.partitionPoint { $0.lowerBound <= value } - 1
    return index >= 0 && ranges[index].contains(value) ? index : nil
  }
}

extension QueryValue {
  // Not `typed(as:)`: the optimizer of Swift 6.3 crashes when it specializes that for an optional date.

  fileprivate var date: Date? {
    guard case .double(let seconds) = self else { return nil }
    return Date(timeIntervalSinceReferenceDate: seconds)
  }

  fileprivate var int: Int? {
    if case .integer(let number) = self { Int(number) } else { nil }
  }
}
