import Foundation
import LogEngine
import ModelRuntime
import RowFormat

// A context hands rows to this store. Code that calls it as any other DataStore (a store that wraps it,
// say) is served here with snapshots.

extension LogBackedStore {
  public func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> where T: PersistentModel {
    let tables = try openTables()
    try tables.follow()
    // The lists are as of the commit that the rows are of.
    let resolver = StoreResolver(tables, request.editingState.trace)
    let snapshots = try tables.fetch(request.descriptor, resolver).compactMap { row in
      try tables.perform(.fetching) { try tables.snapshot(of: row, resolver) }
    }
    return DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: snapshots)
  }

  public func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    let tables = try openTables()
    return try saveSnapshots(request, reference: tables.reference(of:)) {
      LogStoreError.schemaNotInStore(entity: $0, path: tables.path)
    }
  }
}

extension TableStore {
  /// The snapshot of a row, its lists filled from their members.
  fileprivate func snapshot(
    of fetched: FetchedRow,
    _ resolver: StoreResolver
  ) throws -> DefaultSnapshot? {
    guard let table = table(numbered: fetched.reference.table),
      let own = identifier(of: fetched.reference)
    else { return nil }
    return try DefaultSnapshot(
      of: fetched,
      own,
      table.descriptor,
      identifier: identifier(of:),
      members: { try resolver.members(of: fetched.reference, $0) },
      value: { try readBlob($0, of: fetched.reference, column: $1) }
    )
  }

  private func identifier(of reference: RowReference) -> PersistentIdentifier? {
    guard let table = table(numbered: reference.table) else { return nil }
    return try? .identifier(
      for: identifier,
      entityName: table.descriptor.entityName,
      primaryKey: reference.key
    )
  }
}
