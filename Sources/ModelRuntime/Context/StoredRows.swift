import Foundation
import RowFormat

/// Rows of a store, each of which is read once.
private final class StoredRows: RowResolver {
  private let connection: StoreConnection
  private let editingState: EditingState
  private var rows: [RowReference: FetchedRow?] = [:]

  init(_ connection: StoreConnection, for editingState: EditingState) {
    self.connection = connection
    self.editingState = editingState
  }

  func withRow(_ reference: RowReference, _ body: (RawSpan) throws -> Void) throws -> Bool {
    let row: FetchedRow?
    if let known = rows[reference] {
      row = known
    } else {
      row = try connection.store.row(at: reference, for: editingState)
      rows[reference] = .some(row)
    }
    guard let row else { return false }
    try row.withBytes(body)
    return true
  }

  func descriptor(of reference: RowReference) -> ModelDescriptor? {
    connection.descriptor(of: reference)
  }

  func reference(of identifier: PersistentIdentifier) -> RowReference? {
    connection.store.reference(of: identifier)
  }

  /// No sort key is of a list.
  func members(of owner: RowReference, _ property: ModelProperty) throws -> [RowReference] { [] }

  func readBlob(_ blob: BlobReference, of row: RowReference, column: Int) throws -> Data? {
    try connection.store.blob(blob, of: row, column: column)
  }
}

extension ModelContext {
  /// The sort keys by which a store places the models of a fetch.
  ///
  /// - Returns: `nil` if values in the context decide: the keys are the models' own attributes, or the context tests and sorts the
  ///   models itself.
  func storedKeys<T: PersistentModel>(
    of descriptor: FetchDescriptor<T>,
    _ ordering: RowOrdering?,
    in connection: StoreConnection
  ) -> StoredKeys? {
    guard let ordering, connection.store.ordersRowsByReference,
      hidesStoredValues(from: descriptor) || ordering.followsRelationships,
      descriptor.translation != nil
        || descriptor.predicate.map({ (try? QueryExpression($0)) != nil }) ?? true
    else { return nil }
    return StoredKeys(
      ordering,
      StoredRows(connection, for: editingState),
      includesUnsaved: descriptor.includePendingChanges
    )
  }
}
