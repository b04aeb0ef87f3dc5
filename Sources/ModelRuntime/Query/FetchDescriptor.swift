public import Foundation

/// The models to fetch, their order, and their number.
public struct FetchDescriptor<T> where T: PersistentModel {
  /// The condition that models must meet; `nil` matches all.
  public var predicate: Predicate<T>? {
    didSet { translation = nil }
  }
  /// The predicate's translation, if already made: making one costs as much as looking a model up.
  package var translation: QueryExpression?
  /// The order of the models; without any, the order in which they were first saved, those of each subclass together.
  public var sortBy: [SortDescriptor<T>]
  /// The maximum number of models; `nil` without a limit.
  public var fetchLimit: Int?
  /// The number of matching models to skip at the start.
  public var fetchOffset: Int?
  /// Whether unsaved changes of the context count; on by default.
  public var includePendingChanges = true
  /// The properties that will be read; a hint that is not needed here, where every property is decoded
  /// on its first read.
  public var propertiesToFetch: [PartialKeyPath<T>] = []
  /// The relationships that will be followed: the models at their other ends are fetched together, and
  /// stay in memory until another prefetching fetch.
  public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = [] {
    didSet { prefetches = !relationshipKeyPathsForPrefetching.isEmpty }
  }
  /// Whether there are relationships to follow: in generic code an array is expensive to inspect.
  @usableFromInline private(set) var prefetches = false

  /// Fetches the models that match, in an order; without arguments, all models of the class.
  @inlinable
  public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
    self.predicate = predicate
    self.sortBy = sortBy
  }
}

extension FetchDescriptor {
  /// Whether models are wanted in the order of the store, from the first one on, and nothing else.
  @usableFromInline var asksForNoMoreThanModels: Bool {
    @inlinable get { sortBy.isEmpty && (fetchOffset ?? 0) <= 0 && !prefetches }
  }

  /// The descriptor with the translation of its predicate.
  func translated(_ translation: QueryExpression?) -> FetchDescriptor {
    guard let translation else { return self }
    var descriptor = self
    descriptor.translation = translation
    return descriptor
  }
}

/// Unchecked, because key paths of stored properties are sendable but not declared so.
extension FetchDescriptor: @unchecked Sendable {}

extension FetchDescriptor: Equatable {
  /// Predicates have no equality of their own: two are equal if they have the same operators around the same key paths
  /// and equal captured values.
  ///
  /// A captured value that is not `Equatable` is compared by its stored properties, and an object by identity.
  public static func == (lhs: FetchDescriptor<T>, rhs: FetchDescriptor<T>) -> Bool {
    lhs.sortBy == rhs.sortBy
      && lhs.fetchLimit == rhs.fetchLimit && lhs.fetchOffset == rhs.fetchOffset
      && lhs.includePendingChanges == rhs.includePendingChanges
      && lhs.propertiesToFetch == rhs.propertiesToFetch
      && lhs.relationshipKeyPathsForPrefetching == rhs.relationshipKeyPathsForPrefetching
      && areSame(lhs.predicate, rhs.predicate)
  }

  private static func areSame(_ lhs: Predicate<T>?, _ rhs: Predicate<T>?) -> Bool {
    guard let lhs, let rhs else { return lhs == nil && rhs == nil }
    return lhs.asksTheSame(as: rhs)
  }
}
