import Foundation
import RowFormat

/// The sort keys of models as the store has them, for a fetch where the context may have others.
///
/// A store places a row by what is saved, also by what its relationships lead to. In the context, models there may have unsaved
/// values, or former ones. So the place of a model that has no unsaved changes itself follows from rows: otherwise the models that are
/// merged into the store's answer would be compared with others that are not in order, and a page would begin where none ends.
final class StoredKeys {
  private let ordering: RowOrdering
  private let rows: StoredRows
  /// Whether models that have unsaved changes have a place by these.
  private let includesUnsaved: Bool
  private var readers: [ObjectIdentifier: [RowReader<QueryValue>]] = [:]
  private let scope = QueryScope()

  fileprivate init(_ ordering: RowOrdering, _ rows: StoredRows, includesUnsaved: Bool) {
    self.ordering = ordering
    self.rows = rows
    self.includesUnsaved = includesUnsaved
  }

  /// The keys of a model's row; `nil` if the model has its place by its values in the context.
  ///
  /// - Throws: An error of reading rows.
  func values(of model: any PersistentModel, at row: RowReference?) throws -> [QueryValue]? {
    guard let row, !(includesUnsaved && model.hasChanges) else { return nil }
    let type = model.descriptor
    let readers =
      readers[ObjectIdentifier(type)] ?? ordering.makeReaders(for: type, rows)
    self.readers[ObjectIdentifier(type)] = readers
    var values: [QueryValue]?
    _ = try rows.withRow(row) { bytes in
      values = try readers.map { try $0(bytes, row, scope) }
    }
    return values
  }
}

extension ModelContext {
  /// The sort keys by which a store places the models of a fetch.
  ///
  /// - Returns: `nil` if they are those in the context: the order is about the models' own values, or the context itself tests the
  ///   models and orders them.
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

extension RowOrdering {
  /// Whether a key is of a model that relationships lead to.
  fileprivate var followsRelationships: Bool {
    keys.contains { key in
      switch key.source {
      case .column(let path, _), .identifier(let path): !path.steps.isEmpty
      }
    }
  }
}

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
