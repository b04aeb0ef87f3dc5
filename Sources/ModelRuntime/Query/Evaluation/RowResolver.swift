package import Foundation
package import RowFormat

/// The store's answers about other rows while an expression is evaluated on one row.
///
/// All answers of one evaluation come from one state of the store.
package protocol RowResolver: AnyObject {
  /// Passes a row to a closure, in the layout of its entity's descriptor.
  ///
  /// - Returns: Whether the row exists; if not, the closure is not called.
  func withRow(_ reference: RowReference, _ body: (RawSpan) throws -> Void) throws -> Bool

  /// Whether a row exists; it may be unreadable.
  func contains(_ reference: RowReference) throws -> Bool

  /// The class of the rows of a reference's table, or `nil` for a table the store does not know.
  func descriptor(of reference: RowReference) -> ModelDescriptor?

  /// The row of an identifier, or `nil` if it is not of this store.
  func reference(of identifier: PersistentIdentifier) -> RowReference?

  /// The members of a list that is derived from its other end, in order.
  func members(of owner: RowReference, _ property: ModelProperty) throws -> [RowReference]

  /// Reads a value that is in a side file, or returns `nil` if its row is gone.
  func readBlob(_ blob: BlobReference, of row: RowReference, column: Int) throws -> Data?
}

extension RowResolver {
  /// For stores that find rows only by reading them.
  package func contains(_ reference: RowReference) throws -> Bool {
    try withRow(reference) { _ in }
  }

  /// For stores that keep all values in rows.
  package func readBlob(
    _ blob: BlobReference,
    of row: RowReference,
    column: Int
  ) throws -> Data? { nil }
}
