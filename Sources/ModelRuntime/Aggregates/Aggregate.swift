public import Foundation

/// A figure about many models: their number, or the sum, mean, extreme or spread of a property.
///
/// Ask a context for one or several at once; each costs one pass over the columns it names, and no objects.
///
///     let (flights, delay) = try context.aggregate(january, .count, .average(\.departureDelay))
///
/// A property that is nil counts for nothing: not in a sum, nor in a mean, nor as an extreme.
/// A value that is not a number makes a sum and a mean NaN; as an extreme it counts only where there is nothing else.
public struct Aggregate<Model: PersistentModel, Value> {
  let measure: Measure<Model>
  let finish: (MeasuredGroup) throws -> Value
}

/// A property to be measured, before its column is known.
struct Measure<Model: PersistentModel> {
  let function: MeasureFunction
  /// `nil` where models are counted, whatever they hold.
  let value: MeasuredValue<Model>?
  /// The value that decides whose value the measure takes; `nil` where each model counts.
  let order: MeasuredValue<Model>?
  /// The share of the values below a percentile.
  let share: Double?

  init(
    function: MeasureFunction,
    _ value: MeasuredValue<Model>?,
    by order: MeasuredValue<Model>? = nil
  ) {
    self.function = function
    self.value = value
    self.order = order
    share = nil
  }

  /// Measures all values, for a percentile of them.
  init(share: Double, of value: MeasuredValue<Model>) {
    function = .distribution
    self.value = value
    order = nil
    self.share = share
  }

  /// - Throws: ``SwiftDataError/invalidPercentile`` for a share that is none.
  func checkShare() throws {
    guard let share, !(0...1).contains(share) else { return }
    throw SwiftDataError.invalidPercentile.explained(
      "the share of a percentile: expected a number from 0 to 1, found \(share)",
      entity: Schema.entityName(for: Model.self)
    )
  }

  init(function: MeasureFunction, keyPath: PartialKeyPath<Model>?) {
    self.init(function: function, keyPath.map { MeasuredValue($0) })
  }
}

// MARK: Counting

extension Aggregate where Value == Int {
  /// The number of models.
  public static var count: Self {
    Self(measure: Measure(function: .count, keyPath: nil)) { $0.count }
  }

  /// The number of models with a value in an optional property.
  public static func count<Property>(_ property: KeyPath<Model, Property?>) -> Self {
    Self(measure: Measure(function: .count, keyPath: property)) { $0.count }
  }

  /// The number of distinct values of a property; nil does not count.
  ///
  /// Needs memory in proportion to the number of distinct values.
  public static func countDistinct<Property>(_ property: KeyPath<Model, Property>) -> Self {
    Self(measure: Measure(function: .distinct, keyPath: property)) { $0.distinctCount }
  }
}

// MARK: Sums

extension Aggregate where Value: FixedWidthInteger {
  /// The sum of an integer property; 0 if there is no model.
  ///
  /// Asking for it throws ``SwiftDataError/aggregateOverflow`` if the sum does not fit the property's type. Sums on
  /// the way to it may exceed the type.
  public static func sum(_ property: KeyPath<Model, Value>) -> Self {
    Self(measure: Measure(function: .sum, keyPath: property)) { try $0.integerSum(as: Value.self) }
  }

  /// The sum of the values that an integer property has; 0 if there is none.
  ///
  /// Asking for it throws ``SwiftDataError/aggregateOverflow`` if the sum does not fit the property's type.
  public static func sum(_ property: KeyPath<Model, Value?>) -> Self {
    Self(measure: Measure(function: .sum, keyPath: property)) { try $0.integerSum(as: Value.self) }
  }
}

extension Aggregate where Value: BinaryFloatingPoint {
  /// The sum of a floating-point property; 0 if there is no model.
  ///
  /// Rounding errors of single additions are carried along, so that the sum hardly depends on the order of the rows.
  public static func sum(_ property: KeyPath<Model, Value>) -> Self {
    Self(measure: Measure(function: .sum, keyPath: property)) { Value($0.doubleSum) }
  }

  /// The sum of the values that a floating-point property has; 0 if there is none.
  public static func sum(_ property: KeyPath<Model, Value?>) -> Self {
    Self(measure: Measure(function: .sum, keyPath: property)) { Value($0.doubleSum) }
  }
}

// MARK: Means and spread

extension Aggregate where Value == Double? {
  /// The arithmetic mean of an integer property; nil if there is no model.
  public static func average(_ property: KeyPath<Model, some FixedWidthInteger>) -> Self {
    mean(property)
  }

  /// The arithmetic mean of the values that an integer property has; nil if there is none.
  public static func average(_ property: KeyPath<Model, (some FixedWidthInteger)?>) -> Self {
    mean(property)
  }

  /// The arithmetic mean of a floating-point property; nil if there is no model.
  public static func average(_ property: KeyPath<Model, some BinaryFloatingPoint>) -> Self {
    mean(property)
  }

  /// The arithmetic mean of the values that a floating-point property has; nil if there is none.
  public static func average(_ property: KeyPath<Model, (some BinaryFloatingPoint)?>) -> Self {
    mean(property)
  }

  private static func mean(_ property: PartialKeyPath<Model>) -> Self {
    Self(measure: Measure(function: .sum, keyPath: property)) { $0.mean }
  }

  /// The standard deviation of a property, with the models as the whole population; nil if there is none.
  public static func standardDeviation(_ property: KeyPath<Model, some Numeric>) -> Self {
    deviation(property)
  }

  /// The standard deviation of the values that a property has, taken as the whole population; nil if there is none.
  public static func standardDeviation(_ property: KeyPath<Model, (some Numeric)?>) -> Self {
    deviation(property)
  }

  private static func deviation(_ property: PartialKeyPath<Model>) -> Self {
    Self(measure: Measure(function: .moments, keyPath: property)) { $0.standardDeviation }
  }

  /// The value below which a share of the values of a property lies, between two neighbours by linear interpolation.
  ///
  /// Needs eight bytes of memory for each value. Values that are not a number are left out.
  ///
  /// - Parameters:
  ///   - share: From 0, which is the least value, through 0.5, the median, to 1, the greatest. With another one the
  ///     measurement throws ``SwiftDataError/invalidPercentile``.
  ///   - property: The property.
  /// - Returns: An aggregate whose value is nil if there is no model.
  public static func percentile(_ share: Double, _ property: KeyPath<Model, some Numeric>) -> Self {
    percentile(share, of: property)
  }

  /// The value below which a share of the values lies that a property has; nil if there is none.
  public static func percentile(
    _ share: Double,
    _ property: KeyPath<Model, (some Numeric)?>
  ) -> Self {
    percentile(share, of: property)
  }

  private static func percentile(_ share: Double, of property: PartialKeyPath<Model>) -> Self {
    Self(measure: Measure(share: share, of: MeasuredValue(property))) { $0.percentile(share) }
  }
}

extension Aggregate where Value == Date? {
  /// The mean of a date property; nil if there is no model.
  public static func average(_ property: KeyPath<Model, Date>) -> Self { mean(property) }

  /// The mean of the dates that a property has; nil if there is none.
  public static func average(_ property: KeyPath<Model, Date?>) -> Self { mean(property) }

  private static func mean(_ property: PartialKeyPath<Model>) -> Self {
    Self(measure: Measure(function: .sum, keyPath: property)) {
      $0.mean.map(Date.init(timeIntervalSinceReferenceDate:))
    }
  }
}

// MARK: Extremes

extension Aggregate {
  /// The least value of a property; nil if there is no model.
  ///
  /// Values compare as they do in a sort of the property. A property whose order only its type knows is refused
  /// with ``SwiftDataError/unsupportedKeyPath``.
  public static func minimum<Property: Comparable>(
    _ property: KeyPath<Model, Property>
  ) -> Self where Value == Property? { extreme(.minimum, property) }

  /// The least value that a property has; nil if there is none.
  public static func minimum<Property: Comparable>(
    _ property: KeyPath<Model, Property?>
  ) -> Self where Value == Property? { extreme(.minimum, property) }

  /// The greatest value of a property; nil if there is no model.
  public static func maximum<Property: Comparable>(
    _ property: KeyPath<Model, Property>
  ) -> Self where Value == Property? { extreme(.maximum, property) }

  /// The greatest value that a property has; nil if there is none.
  public static func maximum<Property: Comparable>(
    _ property: KeyPath<Model, Property?>
  ) -> Self where Value == Property? { extreme(.maximum, property) }

  private static func extreme<Property>(
    _ function: MeasureFunction,
    _ property: PartialKeyPath<Model>
  ) -> Self where Value == Property? {
    Self(measure: Measure(function: function, keyPath: property)) { group in
      group.extreme.flatMap { $0.typed(as: Property.self) }
    }
  }
}
