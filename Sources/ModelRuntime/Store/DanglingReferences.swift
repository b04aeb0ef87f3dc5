public import Foundation
public import RowFormat

/// Thrown by ``RowStore/saveRows(for:_:)`` for a save that would leave references to rows that do not exist.
///
/// Only relationships with an inverse count: the others cannot be mended. The store has checked against
/// every save that was committed before, in the order of the commits; nothing of this one is written. Delete
/// rules, which a store does not know, decide about the references: save again once they are applied.
public struct DanglingReferences: Error, Hashable, Sendable {
  /// A row that refers to another through a to-one relationship.
  public struct Reference: Hashable, Sendable {
    /// The row that refers.
    public let row: RowReference
    /// The position of the relationship's column in the row.
    public let column: Int
    /// The row it refers to.
    public let target: RowReference

    /// Makes a description of a reference.
    public init(row: RowReference, column: Int, target: RowReference) {
      self.row = row
      self.column = column
      self.target = target
    }
  }

  /// Stored references to rows that the save deletes, unless it deletes the referring rows or sets them elsewhere.
  public let toDeletedRows: [Reference]
  /// References that the save writes to rows that another save has deleted, or that it deletes itself.
  public let toMissingRows: [Reference]

  /// Makes the error; at least one of the lists has an element.
  public init(toDeletedRows: [Reference], toMissingRows: [Reference]) {
    self.toDeletedRows = toDeletedRows
    self.toMissingRows = toMissingRows
  }
}

extension DanglingReferences: CustomStringConvertible, LocalizedError {
  public var description: String {
    let all = toDeletedRows + toMissingRows
    guard let first = all.first else { return "no references dangle" }
    let more = all.count > 1 ? ", and \(all.count - 1) more references like it" : ""
    return
      "column \(first.column) of row \(first.row.key) in table \(first.row.table) would refer to row "
      + "\(first.target.key) of table \(first.target.table), which would not exist\(more)"
  }
  public var errorDescription: String? { description }
}
