package import Foundation

extension PersistentModel {
  /// Whether the object matches a predicate, by the rule that its row would.
  ///
  /// Where a predicate unwraps nil by force it has no answer, and the object does not match: so it makes no
  /// difference whether a store tests the row or a context the object.
  ///
  /// - Parameter predicate: The predicate.
  /// - Returns: Whether it matches.
  /// - Throws: What evaluating throws otherwise.
  package func matches(_ predicate: Predicate<Self>) throws -> Bool {
    do {
      return try predicate.evaluate(self)
    } catch let error as PredicateError where error == .forceUnwrapFailure {
      return false
    }
  }
}
