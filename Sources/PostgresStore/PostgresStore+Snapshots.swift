#if PostgreSQL
import Foundation
public import ModelRuntime
import RowFormat

// A context hands rows to this store. A caller that uses it as any other DataStore (a store that wraps it, say) is served
// here with snapshots.

extension PostgresStore {
  public func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> where T: PersistentModel {
    let snapshots = try fetchRows(request).compactMap { try snapshot(of: $0) }
    return DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: snapshots)
  }

  public func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    try saveSnapshots(request, reference: reference(of:)) {
      PostgresStoreError.schemaNotInStore(entity: $0, namespace: configuration.namespace)
    }
  }

  /// The snapshot of a row, its lists filled from their members.
  private func snapshot(of fetched: FetchedRow) throws -> DefaultSnapshot? {
    guard let table = tables.table(numbered: fetched.reference.table),
      let own = identifier(of: fetched.reference)
    else { return nil }
    return try DefaultSnapshot(
      of: fetched,
      own,
      table.descriptor,
      identifier: identifier(of:),
      members: { try members(of: fetched.reference, $0) },
      value: { try readBlob($0, of: fetched.reference, column: $1) }
    )
  }

  private func members(of owner: RowReference, _ property: ModelProperty) throws -> [RowReference] {
    guard let inverse = property.inverse, let destination = property.destination else { return [] }
    return try tables.tables(for: destination).flatMap {
      try rows(referringTo: owner, inTable: $0.number, column: inverse.ordinal)
    }.sorted().map(\.reference)
  }

  private func identifier(of reference: RowReference) -> PersistentIdentifier? {
    guard let table = tables.table(numbered: reference.table) else { return nil }
    return try? .identifier(
      for: identifier,
      entityName: table.descriptor.entityName,
      primaryKey: reference.key
    )
  }
}
#endif
