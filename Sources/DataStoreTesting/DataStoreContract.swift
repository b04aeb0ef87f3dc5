import Foundation
public import ModelRuntime

/// What every ``/ModelRuntime/DataStore`` must do, clause by clause, for the author of a store to run.
///
/// It needs no test framework: a clause throws a ``ContractViolation`` that says what was expected and
/// what was found. With Swift Testing:
///
///     @Test(arguments: DataStoreContract.clauses)
///     func `keeps the contract`(clause: DataStoreContract.Clause) throws {
///       let file = makeTemporaryFile()
///       try clause.check { JSONStoreConfiguration(name: "contract", url: file) }
///     }
public enum DataStoreContract {
  /// One thing a store must do.
  public struct Clause: Sendable, CustomStringConvertible {
    /// The clause, in a sentence that begins "A store".
    public let description: String
    private let body: @Sendable (Stage) throws -> Void

    init(_ description: String, _ body: @escaping @Sendable (Stage) throws -> Void) {
      self.description = description
      self.body = body
    }

    /// Checks that a store keeps the clause.
    ///
    /// - Parameter configuration: Describes the store, empty at first; every call must describe the same
    ///   one, for a clause may open it again to see what was kept.
    /// - Throws: ``ContractViolation``, or what the store throws.
    public func check(_ configuration: @escaping () -> any DataStoreConfiguration) throws {
      try body(Stage(configuration: configuration))
    }
  }

  /// Every clause.
  public static let clauses: [Clause] =
    values + saving + calls + uniqueness + relationships + fetching
}

/// What a store did other than its contract says.
public struct ContractViolation: Error, CustomStringConvertible {
  public let description: String
}

/// Opens the store under test, again and again.
struct Stage {
  let configuration: () -> any DataStoreConfiguration

  /// A context over the store as it is now.
  func open() throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Schema([Owner.self, Item.self, Part.self, Label.self, Member.self]),
        configurations: [configuration()]
      )
    )
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
