public import Foundation

/// Which models to fetch, in what order, and how many.
public struct FetchDescriptor<T> where T: PersistentModel {
  /// Which models; `nil` means all.
  public var predicate: Predicate<T>?
  /// In what order; without any, in the order the models were first saved.
  public var sortBy: [SortDescriptor<T>]
  /// At most how many.
  public var fetchLimit: Int?
  /// How many of the first to leave out.
  public var fetchOffset: Int?
  /// Whether unsaved changes of the context count: on unless switched off.
  public var includePendingChanges = true
  /// The properties that will be read; a hint that is not needed here, where every property is decoded
  /// when it is first read.
  public var propertiesToFetch: [PartialKeyPath<T>] = []
  /// The relationships that will be followed: the models at their other ends are fetched together, and
  /// are at hand until another fetch that prefetches.
  public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = []

  /// Asks for the models that match, in an order; without arguments, for all models of the class.
  public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
    self.predicate = predicate
    self.sortBy = sortBy
  }
}

extension FetchDescriptor: @unchecked Sendable {}

extension FetchDescriptor: Equatable {
  /// Predicates have no equality of their own: they are compared by their printed expression.
  public static func == (lhs: FetchDescriptor<T>, rhs: FetchDescriptor<T>) -> Bool {
    lhs.predicate.map { "\($0)" } == rhs.predicate.map { "\($0)" } && lhs.sortBy == rhs.sortBy
      && lhs.fetchLimit == rhs.fetchLimit && lhs.fetchOffset == rhs.fetchOffset
      && lhs.includePendingChanges == rhs.includePendingChanges
      && lhs.propertiesToFetch == rhs.propertiesToFetch
      && lhs.relationshipKeyPathsForPrefetching == rhs.relationshipKeyPathsForPrefetching
  }
}
