public import Foundation

// Measures of what an expression makes of each model.
//
//     let miles = #Expression<Flight, Int> { $0.distance * $0.legs }
//     let (total, mean) = try context.aggregate(january, .sum(miles), .average(miles))
//
// An expression that is nil counts for nothing. Where its code would trap, as in a division by zero, the aggregate
// throws ``SwiftDataError/expressionFailure``.

// MARK: Counting

extension Aggregate where Value == Int {
  /// The number of models for which an expression has a value.
  public static func count<Output>(_ expression: Foundation.Expression<Model, Output?>) -> Self {
    Self(measure: Measure(function: .count, MeasuredValue(expression))) { $0.count }
  }

  /// The number of distinct values of an expression; nil does not count.
  ///
  /// Needs memory in proportion to the number of distinct values.
  public static func countDistinct<Output>(
    _ expression: Foundation.Expression<Model, Output>
  ) -> Self {
    Self(measure: Measure(function: .distinct, MeasuredValue(expression))) { $0.distinctCount }
  }
}

// MARK: Sums

extension Aggregate where Value: FixedWidthInteger {
  /// The sum of an integer expression; 0 if there is no model.
  ///
  /// Asking for it throws ``SwiftDataError/aggregateOverflow`` if the sum does not fit the expression's type.
  public static func sum(_ expression: Foundation.Expression<Model, Value>) -> Self {
    integerSum(MeasuredValue(expression))
  }

  /// The sum of the values that an integer expression has; 0 if there is none.
  ///
  /// Asking for it throws ``SwiftDataError/aggregateOverflow`` if the sum does not fit the expression's type.
  public static func sum(_ expression: Foundation.Expression<Model, Value?>) -> Self {
    integerSum(MeasuredValue(expression))
  }

  private static func integerSum(_ value: MeasuredValue<Model>) -> Self {
    Self(measure: Measure(function: .sum, value)) { try $0.integerSum(as: Value.self) }
  }
}

extension Aggregate where Value: BinaryFloatingPoint {
  /// The sum of a floating-point expression; 0 if there is no model.
  public static func sum(_ expression: Foundation.Expression<Model, Value>) -> Self {
    Self(measure: Measure(function: .sum, MeasuredValue(expression))) { Value($0.doubleSum) }
  }

  /// The sum of the values that a floating-point expression has; 0 if there is none.
  public static func sum(_ expression: Foundation.Expression<Model, Value?>) -> Self {
    Self(measure: Measure(function: .sum, MeasuredValue(expression))) { Value($0.doubleSum) }
  }
}

// MARK: Means and spread

extension Aggregate where Value == Double? {
  /// The arithmetic mean of an expression; nil if there is no model.
  public static func average(_ expression: Foundation.Expression<Model, some Numeric>) -> Self {
    Self(measure: Measure(function: .sum, MeasuredValue(expression))) { $0.mean }
  }

  /// The arithmetic mean of the values that an expression has; nil if there is none.
  public static func average(_ expression: Foundation.Expression<Model, (some Numeric)?>) -> Self {
    Self(measure: Measure(function: .sum, MeasuredValue(expression))) { $0.mean }
  }

  /// The standard deviation of an expression, with the models as the whole population.
  ///
  /// Nil if there is no model.
  public static func standardDeviation(
    _ expression: Foundation.Expression<Model, some Numeric>
  ) -> Self {
    Self(measure: Measure(function: .moments, MeasuredValue(expression))) { $0.standardDeviation }
  }

  /// The standard deviation of the values that an expression has, taken as the whole population.
  public static func standardDeviation(
    _ expression: Foundation.Expression<Model, (some Numeric)?>
  ) -> Self {
    Self(measure: Measure(function: .moments, MeasuredValue(expression))) { $0.standardDeviation }
  }

  /// The value below which a share of an expression's values lies; nil if there is no model.
  ///
  /// Interpolates linearly between two neighbours, as for a property.
  public static func percentile(
    _ share: Double,
    _ expression: Foundation.Expression<Model, some Numeric>
  ) -> Self {
    percentile(share, of: MeasuredValue(expression))
  }

  /// The value below which a share of the values lies that an expression has; nil if there is none.
  public static func percentile(
    _ share: Double,
    _ expression: Foundation.Expression<Model, (some Numeric)?>
  ) -> Self {
    percentile(share, of: MeasuredValue(expression))
  }

  private static func percentile(_ share: Double, of value: MeasuredValue<Model>) -> Self {
    Self(measure: Measure(share: share, of: value)) { $0.percentile(share) }
  }
}

// MARK: Extremes

extension Aggregate {
  /// The least value of an expression; nil if there is no model.
  public static func minimum<Output: Comparable>(
    _ expression: Foundation.Expression<Model, Output>
  ) -> Self where Value == Output? { extreme(.minimum, MeasuredValue(expression)) }

  /// The least value that an expression has; nil if there is none.
  public static func minimum<Output: Comparable>(
    _ expression: Foundation.Expression<Model, Output?>
  ) -> Self where Value == Output? { extreme(.minimum, MeasuredValue(expression)) }

  /// The greatest value of an expression; nil if there is no model.
  public static func maximum<Output: Comparable>(
    _ expression: Foundation.Expression<Model, Output>
  ) -> Self where Value == Output? { extreme(.maximum, MeasuredValue(expression)) }

  /// The greatest value that an expression has; nil if there is none.
  public static func maximum<Output: Comparable>(
    _ expression: Foundation.Expression<Model, Output?>
  ) -> Self where Value == Output? { extreme(.maximum, MeasuredValue(expression)) }

  private static func extreme<Output>(
    _ function: MeasureFunction,
    _ value: MeasuredValue<Model>
  ) -> Self where Value == Output? {
    Self(measure: Measure(function: function, value)) { group in
      group.extreme.flatMap { $0.typed(as: Output.self) }
    }
  }
}
