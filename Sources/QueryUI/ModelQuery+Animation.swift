public import Foundation
public import ModelRuntime

// The same again for frameworks that animate, with a transaction or an animation.

extension ModelQuery where Properties: AnimatedQueryProperties {
  private init(_ descriptor: FetchDescriptor<Element>, _ transaction: Properties.Transaction?) {
    self.init(descriptor, transition: Self.transition(transaction))
  }

  private static func transition(
    _ transaction: Properties.Transaction?
  ) -> (@MainActor (() -> Void) -> Void)? {
    guard let transaction else { return nil }
    return { Properties.perform(transaction, $0) }
  }

  private static func transaction(_ animation: Properties.Animation) -> Properties.Transaction {
    Properties.transaction(animatedBy: animation)
  }

  /// Finds what a descriptor asks for.
  ///
  /// - Parameters:
  ///   - descriptor: The fetch.
  ///   - transaction: The transaction in which changes of the results are drawn.
  public init(_ descriptor: FetchDescriptor<Element>, transaction: Properties.Transaction?) {
    self.init(descriptor, transaction)
  }

  /// Finds what a descriptor asks for.
  ///
  /// - Parameters:
  ///   - descriptor: The fetch; without any, all models of the class.
  ///   - animation: The animation of changes of the results.
  public init(
    _ descriptor: FetchDescriptor<Element> = FetchDescriptor(),
    animation: Properties.Animation
  ) {
    self.init(descriptor, Self.transaction(animation))
  }

  /// Finds the models that match, in an order.
  ///
  /// - Parameters:
  ///   - filter: The condition that models must meet; `nil` matches all.
  ///   - sort: The order; without any, that in which they were first saved.
  ///   - transaction: The transaction in which changes of the results are drawn.
  public init(
    filter: Predicate<Element>? = nil,
    sort: [SortDescriptor<Element>] = [],
    transaction: Properties.Transaction?
  ) {
    self.init(FetchDescriptor(predicate: filter, sortBy: sort), transaction)
  }

  /// Finds the models that match, in an order.
  ///
  /// - Parameters:
  ///   - filter: The condition that models must meet; `nil` matches all.
  ///   - sort: The order; without any, that in which they were first saved.
  ///   - animation: The animation of changes of the results.
  public init(
    filter: Predicate<Element>? = nil,
    sort: [SortDescriptor<Element>] = [],
    animation: Properties.Animation
  ) {
    self.init(filter: filter, sort: sort, transaction: Self.transaction(animation))
  }

  /// Finds the models that match, in the order of a property.
  ///
  /// - Parameters:
  ///   - filter: The condition that models must meet; `nil` matches all.
  ///   - keyPath: The property.
  ///   - order: Whether the smallest value comes first or last.
  ///   - transaction: The transaction in which changes of the results are drawn.
  public init<Value: Comparable>(
    filter: Predicate<Element>? = nil,
    sort keyPath: any KeyPath<Element, Value> & Sendable,
    order: SortOrder = .forward,
    transaction: Properties.Transaction?
  ) {
    let sort = [SortDescriptor(keyPath, order: order)]
    self.init(filter: filter, sort: sort, transaction: transaction)
  }

  /// Finds the models that match, in the order of a property.
  ///
  /// - Parameters:
  ///   - filter: The condition that models must meet; `nil` matches all.
  ///   - keyPath: The property.
  ///   - order: Whether the smallest value comes first or last.
  ///   - animation: The animation of changes of the results.
  public init<Value: Comparable>(
    filter: Predicate<Element>? = nil,
    sort keyPath: any KeyPath<Element, Value> & Sendable,
    order: SortOrder = .forward,
    animation: Properties.Animation
  ) {
    self.init(
      filter: filter,
      sort: keyPath,
      order: order,
      transaction: Self.transaction(animation)
    )
  }

  /// Finds the models that match, in the order of a property that may be missing.
  ///
  /// - Parameters:
  ///   - filter: The condition that models must meet; `nil` matches all.
  ///   - keyPath: The property; `nil` comes before every value.
  ///   - order: Whether the smallest value comes first or last.
  ///   - transaction: The transaction in which changes of the results are drawn.
  public init<Value: Comparable>(
    filter: Predicate<Element>? = nil,
    sort keyPath: any KeyPath<Element, Value?> & Sendable,
    order: SortOrder = .forward,
    transaction: Properties.Transaction?
  ) {
    let sort = [SortDescriptor(keyPath, order: order)]
    self.init(filter: filter, sort: sort, transaction: transaction)
  }

  /// Finds the models that match, in the order of a property that may be missing.
  ///
  /// - Parameters:
  ///   - filter: The condition that models must meet; `nil` matches all.
  ///   - keyPath: The property; `nil` comes before every value.
  ///   - order: Whether the smallest value comes first or last.
  ///   - animation: The animation of changes of the results.
  public init<Value: Comparable>(
    filter: Predicate<Element>? = nil,
    sort keyPath: any KeyPath<Element, Value?> & Sendable,
    order: SortOrder = .forward,
    animation: Properties.Animation
  ) {
    self.init(
      filter: filter,
      sort: keyPath,
      order: order,
      transaction: Self.transaction(animation)
    )
  }
}
