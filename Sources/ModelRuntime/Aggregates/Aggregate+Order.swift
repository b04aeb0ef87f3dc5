import Foundation

// Values of the model that comes first, or last, by another property.
//
//     for (device, value) in try context.aggregate(all, by: \.device, .last(\.value, by: \.at)) { … }

extension Aggregate {
  /// The value of a property in the model that is first by another property; nil if there is no model.
  ///
  /// Of models that are equal there, the one whose row was created first counts; unsaved models come last. Rows
  /// of one class come before those of another, independently of their creation.
  ///
  /// - Parameters:
  ///   - property: The property whose value is wanted.
  ///   - order: The property that selects the model, ordered as by ``minimum(_:)-(KeyPath<Model,Property>)``.
  /// - Returns: An aggregate of the value.
  public static func first<Property>(
    _ property: KeyPath<Model, Property>,
    by order: KeyPath<Model, some Comparable>
  ) -> Self where Value == Property? { chosen(.first, property, by: order) }

  /// The value of a property in the model that is first by another property; nil if it has none there.
  public static func first<Property>(
    _ property: KeyPath<Model, Property?>,
    by order: KeyPath<Model, some Comparable>
  ) -> Self where Value == Property? { chosen(.first, property, by: order) }

  /// The value of a property in the model that is first by another property; nil if there is no model.
  ///
  /// A model in which the other property is nil does not count.
  public static func first<Property>(
    _ property: KeyPath<Model, Property>,
    by order: KeyPath<Model, (some Comparable)?>
  ) -> Self where Value == Property? { chosen(.first, property, by: order) }

  /// The value of a property in the model that is first by another property; nil if it has none there.
  ///
  /// A model in which the other property is nil does not count.
  public static func first<Property>(
    _ property: KeyPath<Model, Property?>,
    by order: KeyPath<Model, (some Comparable)?>
  ) -> Self where Value == Property? { chosen(.first, property, by: order) }

  /// The value of a property in the model that is last by another property; nil if there is no model.
  ///
  /// Of models that are equal there, the one whose row was created last counts; unsaved models come last. Rows
  /// of one class come before those of another, independently of their creation.
  ///
  /// - Parameters:
  ///   - property: The property whose value is wanted.
  ///   - order: The property that selects the model, ordered as by ``maximum(_:)-(KeyPath<Model,Property>)``.
  /// - Returns: An aggregate of the value.
  public static func last<Property>(
    _ property: KeyPath<Model, Property>,
    by order: KeyPath<Model, some Comparable>
  ) -> Self where Value == Property? { chosen(.last, property, by: order) }

  /// The value of a property in the model that is last by another property; nil if it has none there.
  public static func last<Property>(
    _ property: KeyPath<Model, Property?>,
    by order: KeyPath<Model, some Comparable>
  ) -> Self where Value == Property? { chosen(.last, property, by: order) }

  /// The value of a property in the model that is last by another property; nil if there is no model.
  ///
  /// A model in which the other property is nil does not count.
  public static func last<Property>(
    _ property: KeyPath<Model, Property>,
    by order: KeyPath<Model, (some Comparable)?>
  ) -> Self where Value == Property? { chosen(.last, property, by: order) }

  /// The value of a property in the model that is last by another property; nil if it has none there.
  ///
  /// A model in which the other property is nil does not count.
  public static func last<Property>(
    _ property: KeyPath<Model, Property?>,
    by order: KeyPath<Model, (some Comparable)?>
  ) -> Self where Value == Property? { chosen(.last, property, by: order) }

  private static func chosen<Property>(
    _ function: MeasureFunction,
    _ property: PartialKeyPath<Model>,
    by order: PartialKeyPath<Model>
  ) -> Self where Value == Property? {
    Self(measure: Measure(function: function, MeasuredValue(property), by: MeasuredValue(order))) {
      $0.chosen.flatMap { $0.typed(as: Property.self) }
    }
  }
}
