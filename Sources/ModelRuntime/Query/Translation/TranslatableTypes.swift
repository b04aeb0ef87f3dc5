import Foundation
import Synchronization

/// The types of predicates' roots that have a form over rows, by their identity.
///
/// Each type is cast once: a cast of a predicate costs as much as translating a comparison.
enum TranslatableTypes {
  private static let known = Mutex<[ObjectIdentifier: (any QueryTranslatable.Type)?]>([:])

  /// Maximum number of types remembered: a program may compose predicates without end.
  private static let limit = 1024

  /// The type of an expression, or `nil` if it cannot be translated.
  static func type(
    of expression: any StandardPredicateExpression<Bool>
  ) -> (any QueryTranslatable.Type)? {
    let type = Swift.type(of: expression)
    if let known = known.withLock({ $0[ObjectIdentifier(type)] }) { return known }
    // It may have the runtime load metadata, so the lock is not held.
    let found = type as? any QueryTranslatable.Type
    known.withLock { known in
      if known.count < limit { known[ObjectIdentifier(type)] = .some(found) }
    }
    return found
  }
}
