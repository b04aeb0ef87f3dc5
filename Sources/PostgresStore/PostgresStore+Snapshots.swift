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
          reference: reference,
          rank: { try self.reserveRanks(1).lowerBound }
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
    let layout = table.layout
    var references: [PersistentIdentifier] = []
    func number(_ reference: RowReference) -> RowReference? {
      guard let identifier = identifier(of: reference) else { return nil }
      references.append(identifier)
      return DefaultSnapshot.reference(number: references.count)
    }
    var writer = RowWriter()
    writer.begin(layout)
    try fetched.withBytes { row in
      for property in table.descriptor.properties {
        let column = property.ordinal
        if property.isDerivable {
          let members = try members(of: fetched.reference, property)
          writer.append(column, references: members.compactMap(number))
        } else if layout.isNull(column, in: row) {
          continue
        } else if property.isToMany {
          writer.append(column, references: layout.references(column, in: row).compactMap(number))
        } else if property.isRelationship {
          if let target = number(layout.reference(column, in: row)) {
            writer.set(column, reference: target)
          }
        } else if let blob = layout.blob(column, in: row)?.reference {
          // A snapshot means the same in every store: it holds the value itself.
          let value = try readBlob(blob, of: fetched.reference, column: column)
          value?.withUnsafeBytes { writer.append(column, inlineBlob: $0.bytes) }
        } else {
          writer.copy(column, from: row, column: column, layout: layout)
        }
      }
    }
    let range = writer.finish()
    return DefaultSnapshot(
      persistentIdentifier: own,
      descriptor: table.descriptor,
      row: writer.bytes.extracting(range).withUnsafeBytes { Array($0) },
      references: references
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

extension DefaultSnapshot {
  /// Writes the snapshot's row as the store keeps it: references by their rows, and no list that its members tell.
  fileprivate func write(
    into writer: inout RowWriter,
    reference: (PersistentIdentifier) -> RowReference?,
    rank: () throws -> Int64
  ) throws -> Range<Int> {
    let layout = descriptor.layout
    writer.begin(layout)
    try row.withUnsafeBytes { bytes in
      let row = bytes.bytes
      for property in descriptor.properties {
        let column = property.ordinal
        if !property.isRelationship {
          writer.copy(column, from: row, column: column, layout: layout)
        } else if layout.isNull(column, in: row) || property.isDerivable {
          continue
        } else if property.isToMany {
          let targets = layout.references(column, in: row).compactMap {
            identifier(for: $0).flatMap(reference)
          }
          writer.append(column, references: targets)
        } else if let target = identifier(for: layout.reference(column, in: row))
          .flatMap(reference)
        {
          writer.set(column, reference: target)
          if let rankColumn = descriptor.rankColumns[column] {
            writer.set(rankColumn, integer: try rank())
          }
        }
      }
    }
    return writer.finish()
  }
}
#endif
