import Foundation
import LogEngine
import ModelRuntime
import RowFormat

/// Answers what a filter asks about other rows than the one it tests.
final class StoreResolver: RowResolver {
  private let store: TableStore

  init(_ store: TableStore) { self.store = store }

  func withRow(_ reference: RowReference, _ body: (RawSpan) throws -> Void) throws -> Bool {
    try store.withRow(at: reference, body) != nil
  }

  func descriptor(of reference: RowReference) -> ModelDescriptor? {
    store.table(numbered: reference.table)?.descriptor
  }

  func reference(of identifier: PersistentIdentifier) -> RowReference? {
    store.reference(of: identifier)
  }

  func readBlob(_ blob: BlobReference, of row: RowReference, column: Int) throws -> Data? {
    try store.readBlob(blob, of: row, column: column)
  }

  func members(of owner: RowReference, _ property: ModelProperty) throws -> [RowReference] {
    guard let inverse = property.inverse, let destination = property.destination else { return [] }
    return try store.tables(for: destination).flatMap { table in
      try store.rows(
        referringTo: owner,
        inTable: table.number,
        column: inverse.ordinal
      ).map(\.reference)
    }
  }
}
