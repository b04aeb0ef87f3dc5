public import Foundation
public import ModelRuntime

extension ModelQuery {
  /// Finds what a descriptor asks for.
  public init(_ descriptor: FetchDescriptor<Element>) {
    self.init(descriptor, transition: nil)
  }

  /// Finds the models that match, in an order.
  ///
  /// - Parameters:
  ///   - filter: The condition that models must meet; `nil` matches all.
  ///   - sort: The order; without any, that in which they were first saved.
  public init(filter: Predicate<Element>? = nil, sort: [SortDescriptor<Element>] = []) {
    self.init(FetchDescriptor(predicate: filter, sortBy: sort))
  }

  /// Finds the models that match, in the order of a property.
  ///
  /// - Parameters:
  ///   - filter: The condition that models must meet; `nil` matches all.
  ///   - keyPath: The property.
  ///   - order: Whether the smallest value comes first or last.
  public init<Value: Comparable>(
    filter: Predicate<Element>? = nil,
    sort keyPath: any KeyPath<Element, Value> & Sendable,
    order: SortOrder = .forward
  ) {
    self.init(filter: filter, sort: [SortDescriptor(keyPath, order: order)])
  }

  /// Finds the models that match, in the order of a property that may be missing.
  ///
  /// - Parameters:
  ///   - filter: The condition that models must meet; `nil` matches all.
  ///   - keyPath: The property; `nil` comes before every value.
  ///   - order: Whether the smallest value comes first or last.
  public init<Value: Comparable>(
    filter: Predicate<Element>? = nil,
    sort keyPath: any KeyPath<Element, Value?> & Sendable,
    order: SortOrder = .forward
  ) {
    self.init(filter: filter, sort: [SortDescriptor(keyPath, order: order)])
  }
}
