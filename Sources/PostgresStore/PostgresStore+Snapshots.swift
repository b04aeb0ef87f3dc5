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
    var names: [PersistentIdentifier: RowReference] = [:]
    var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
    for snapshot in request.inserted {
      let entity = snapshot.persistentIdentifier.entityName
      guard let table = tables.table(forEntityNamed: entity) else {
        throw PostgresStoreError.schemaNotInStore(
          entity: entity,
          namespace: configuration.namespace
        )
      }
      let key = try reserveKeys(1, inTable: table.number).lowerBound
      names[snapshot.persistentIdentifier] = RowReference(table: table.number, key: key)
      remapped[snapshot.persistentIdentifier] = try .identifier(
        for: identifier,
        entityName: entity,
        primaryKey: key
      )
    }
    func reference(_ identifier: PersistentIdentifier) -> RowReference? {
      names[identifier] ?? self.reference(of: identifier)
    }
    let token = try saveRows(for: request.editingState) { sink in
      var writer = RowWriter()
      for snapshot in request.inserted + request.updated {
        guard let own = reference(snapshot.persistentIdentifier) else { continue }
        let row = try snapshot.write(
          into: &writer,
          lists: .atMembers { try self.reserveRanks(1).lowerBound },
          reference: reference
        )
        if names[snapshot.persistentIdentifier] != nil {
          sink.insert(own, row: writer.bytes.extracting(row))
        } else {
          sink.update(own, changed: .all, row: writer.bytes.extracting(row))
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
