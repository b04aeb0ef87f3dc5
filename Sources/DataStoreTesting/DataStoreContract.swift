public import Foundation
public import ModelRuntime

/// The duties of every ``/ModelRuntime/DataStore``, clause by clause, for the author of a store to check.
///
/// It needs no test framework: a clause throws a ``ContractViolation`` that says what was expected and
/// what was found. With Swift Testing:
///
///     @Test(arguments: DataStoreContract.clauses)
///     func `keeps the contract`(clause: DataStoreContract.Clause) throws {
///       let file = makeTemporaryFile()
///       try clause.check(
///         unsupported: [.history: "the file holds what is, not what was"],
///         killed: { JSONStoreConfiguration(name: "contract", url: try copy(of: file)) }
///       ) {
///         JSONStoreConfiguration(name: "contract", url: file)
///       }
///     }
public enum DataStoreContract {
  /// The subject of a clause.
  public enum Feature: String, Sendable, CaseIterable {
    /// Attributes of every type, and what they are after a save.
    case values
    /// Inserts, updates and deletes, and what other contexts see of them.
    case saving
    /// The number of requests of the runtime to the store, and their purposes.
    case calls
    /// `#Unique`: an insert with a value that is taken is an update.
    case uniqueness
    /// References, lists, and delete rules.
    case relationships
    /// Predicates, orders, limits, counts and identifiers.
    case fetching
    /// Two contexts that change one model.
    case contexts
    /// Threads that save and fetch at once.
    case threads
    /// Threads that insert one unique value.
    case concurrentUniqueness
    /// Threads that change one value in turn.
    case updates
    /// Texts and data of megabytes.
    case largeValues
    /// Two containers of one configuration: each notices what the other saves.
    case containers
    /// Opening again after ``/ModelRuntime/DataStoreClosing/close()``.
    case closing
    /// Opening again after the process was killed.
    case recovery
    /// ``/ModelRuntime/HistoryProviding``.
    case history
    /// ``/ModelRuntime/DataStoreBatching``.
    case batching
    /// Opening under a newer version of the schema.
    case migration
  }

  /// The end of a check that found no violation.
  public enum Outcome: Sendable, Equatable {
    /// The store keeps the clause.
    case kept
    /// The store was declared not to support the clause's feature, for a reason.
    case unsupported(reason: String)
  }

  /// One thing a store must do.
  public struct Clause: Sendable, CustomStringConvertible {
    /// The clause, in a sentence that begins "A store".
    public let description: String
    /// The subject of the clause.
    public let feature: Feature
    private let body: @Sendable (Stage) throws -> Void

    init(
      _ description: String,
      of feature: Feature,
      _ body: @escaping @Sendable (Stage) throws -> Void
    ) {
      self.description = description
      self.feature = feature
      self.body = body
    }

    /// Checks that a store keeps the clause.
    ///
    /// - Parameters:
    ///   - unsupported: The features that the store does not support, each with the reason. Clauses about them are not
    ///     checked; but a store must not conform to the protocol of a feature that it is said not to support.
    ///   - killed: Copies what the store has written so far, while it is open, and describes a store of the copy: the store
    ///     that a process finds after this one was killed. Without it, ``Feature/recovery`` has to be
    ///     declared unsupported.
    ///   - configuration: Describes the store, empty at first; every call must describe the same one, for a clause may
    ///     open it again to see what was kept.
    /// - Returns: Whether the clause was kept, or not checked.
    /// - Throws: ``ContractViolation``, or what the store throws.
    @discardableResult
    public func check(
      unsupported: [Feature: String] = [:],
      killed: (() throws -> any DataStoreConfiguration)? = nil,
      _ configuration: @escaping () -> any DataStoreConfiguration
    ) throws -> Outcome {
      let stage = Stage(configuration: configuration, killed: killed)
      if let reason = unsupported[feature] {
        if let name = feature.protocolName, stage.conforms(to: feature) {
          throw ContractViolation(
            description:
              "the store is declared not to support \(feature) (\(reason)), and conforms to \(name): "
              + "expected one or the other"
          )
        }
        return .unsupported(reason: reason)
      }
      if let name = feature.protocolName, !stage.conforms(to: feature) {
        throw ContractViolation(
          description:
            "\(feature): expected a store that conforms to \(name), found one that does not; "
            + "declare it unsupported, with the reason, if that is meant"
        )
      }
      try body(stage)
      return .kept
    }
  }

  /// Every clause.
  public static let clauses: [Clause] =
    values + saving + calls + uniqueness + relationships + fetching + contexts + threads + keeping
    + history + batching + migration
}

extension DataStoreContract.Feature {
  /// The protocol by which a store offers the feature, if there is one.
  fileprivate var protocolName: String? {
    switch self {
    case .history: "HistoryProviding"
    case .batching: "DataStoreBatching"
    case .closing: "DataStoreClosing"
    default: nil
    }
  }
}

/// A violation of the contract by a store.
public struct ContractViolation: LocalizedError, CustomStringConvertible {
  public let description: String
  public var errorDescription: String? { description }
}

/// Opens the store under test, again and again.
struct Stage {
  let configuration: () -> any DataStoreConfiguration
  /// Describes a store of a copy of all that the store has written.
  var killed: (() throws -> any DataStoreConfiguration)?

  /// A context over the store as it is now.
  func open() throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Schema([Owner.self, Item.self, Part.self, Label.self, Member.self]),
        configurations: [configuration()]
      )
    )
  }

  /// The store that a context is over.
  func store(of context: ModelContext) throws -> any DataStore {
    func find<C: DataStoreConfiguration>(_: C) -> (any DataStore)? {
      context.container.stores(of: C.Store.self).first
    }
    return try require(find(configuration()), "the container's store")
  }

  /// Whether the store conforms to the protocol of a feature.
  func conforms(to feature: DataStoreContract.Feature) -> Bool {
    func conforms<C: DataStoreConfiguration>(_: C) -> Bool {
      switch feature {
      case .history: C.Store.self is any HistoryProviding.Type
      case .batching: C.Store.self is any DataStoreBatching.Type
      case .closing: C.Store.self is any DataStoreClosing.Type
      default: true
      }
    }
    return conforms(configuration())
  }

  /// Hands a context to each of several steps, the store opened anew for each.
  func steps(_ steps: ((ModelContext) throws -> Void)...) throws {
    for step in steps { try step(try open()) }
  }
}

/// Checks that two values are equal.
///
/// - Throws: ``ContractViolation`` if they are not.
func expect<T: Equatable>(_ found: T, _ expected: T, _ what: String) throws {
  if found != expected {
    throw ContractViolation(description: "\(what): expected \(expected), found \(found)")
  }
}

/// Unwraps a value that must be there.
///
/// - Throws: ``ContractViolation`` if it is not.
func require<T>(_ value: T?, _ what: String) throws -> T {
  guard let value else { throw ContractViolation(description: "\(what): expected one, found none") }
  return value
}
