import LogEngine
import ModelRuntime
import RowFormat

/// A store as an expirer needs it.
protocol ExpiringStore: AnyObject, Sendable {
  /// The name of the store in its models' identifiers.
  var identifier: String { get }

  /// The rows of a class and its subclasses that meet a test, table by table.
  ///
  /// - Throws: What the store throws.
  /// - Complexity: O(log *n* + *m*) for *m* of *n* rows with an index that begins with the tested attribute, which may be made;
  ///   otherwise the attribute's column is scanned, but for blocks whose bounds say that none of their rows does.
  func rows(of model: ModelDescriptor, thatMeet test: QueryExpression) throws -> [RowReference]

  /// Reports the outcome for rows to the receivers of the store's events; called without locks.
  func report(_ report: ExpirationReport)
}
