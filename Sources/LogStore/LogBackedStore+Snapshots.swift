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
    var names: [PersistentIdentifier: RowReference] = [:]
    var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
    for snapshot in request.inserted {
      let entity = snapshot.persistentIdentifier.entityName
      guard let table = tables.table(forEntityNamed: entity) else {
        throw LogStoreError.schemaNotInStore(entity: entity, path: tables.path)
      }
      let key = try reserveKeys(1, inTable: table).lowerBound
      names[snapshot.persistentIdentifier] = RowReference(table: table, key: key)
      remapped[snapshot.persistentIdentifier] = try .identifier(
        for: identifier,
        entityName: entity,
        primaryKey: key
      )
    }
    func reference(_ identifier: PersistentIdentifier) -> RowReference? {
      names[identifier] ?? tables.reference(of: identifier)
    }
    let token = try tables.save(author: request.editingState.author) { sink in
      var writer = RowWriter()
      for snapshot in request.inserted + request.updated {
        guard let own = reference(snapshot.persistentIdentifier) else { continue }
        let tables = tables
        let row = try snapshot.write(
          into: &writer,
          lists: .atMembers {
            try tables.reserveRanks(1).lowerBound
          },
          reference: reference,
          sideFile: sink.addBlob
        )
        if names[snapshot.persistentIdentifier] != nil {
          sink.insert(own, row: writer.bytes.extracting(row))
        } else {
          sink.update(
            own,
            changed: .all,
            row: writer.bytes.extracting(row)
          )
        }
        writer.removeAll()
      }
      for snapshot in request.deleted {
        if let own = reference(snapshot.persistentIdentifier) { sink.delete(own) }
      }
    }
    return DataStoreSaveChangesResult(
      for: identifier,
      remappedIdentifiers: remapped,
      historyToken: token
    )
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
