public import ModelRuntime

/// The properties that a query has in a view of some framework: what an adapter declares.
///
/// ```swift
/// public struct ViewQueryProperties: QueryProperties, DynamicProperty {
///   @Environment(\.modelContext) public var modelContext
///   @State public var storage = QueryStorage()
///   public init() {}
/// }
/// ```
///
/// With these, and ``ModelQuery`` for `DynamicProperty`, a framework that is shaped as SwiftUI is has its `@Query`:
///
/// ```swift
/// public typealias Query<Element: PersistentModel> = ModelQuery<Element, ViewQueryProperties>
/// extension ModelQuery: @retroactive @preconcurrency DynamicProperty
/// where Properties: DynamicProperty {}
/// ```
///
/// A framework that tracks by Observation what it draws needs no more. The adapter of another one sets
/// ``QueryStorage/onChange``.
@MainActor
public protocol QueryProperties {
  /// Makes the properties of a view that is about to be drawn for the first time, or again.
  init()

  /// The context of the view's environment.
  var modelContext: ModelContext { get }

  /// A storage that is the same object each time the same view is drawn.
  var storage: QueryStorage { get }
}

/// The properties of a query where results that change can be animated.
@MainActor
public protocol AnimatedQueryProperties: QueryProperties {
  /// The description of an animation.
  associatedtype Animation
  /// A transaction of the framework, in which drawn results change.
  associatedtype Transaction

  /// The transaction that animates a change.
  static func transaction(animatedBy animation: Animation) -> Transaction

  /// Calls a closure that has views drawn again, as a part of a transaction.
  static func perform(_ transaction: Transaction, _ change: () -> Void)
}
