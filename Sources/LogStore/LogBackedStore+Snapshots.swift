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
    let snapshots = try tables.fetch(request.descriptor).compactMap { row in
      try tables.snapshot(of: row)
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
      let key = tables.engine.reserveKeys(1, in: table).lowerBound
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
          reference: reference,
          rank: { tables.ranks.reserve(1, after: tables.engine.lastCommit.rawValue).lowerBound },
          blob: sink.addBlob
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

extension DefaultSnapshot {
  /// Writes the snapshot's row as this store keeps it: references by their rows, and no list that its
  /// members tell.
  fileprivate func write(
    into writer: inout RowWriter,
    reference: (PersistentIdentifier) -> RowReference?,
    rank: () -> Int64,
    blob: (RawSpan) throws -> BlobReference?
  ) throws -> Range<Int> {
    let layout = descriptor.layout
    writer.begin(layout)
    try unsafe row.withUnsafeBytes { bytes in
      let row = unsafe bytes.bytes
      for property in descriptor.properties {
        let column = property.ordinal
        guard property.isRelationship else {
          if case .inline(let range) = layout.blob(column, in: row),
            let reference = try blob(row.extracting(range))
          {
            writer.append(column, blob: reference)
          } else {
            writer.copy(column, from: row, column: column, layout: layout)
          }
          continue
        }
        if layout.isNull(column, in: row) { continue }
        if property.isToMany {
          if property.isDerivable { continue }
          let targets = layout.references(column, in: row).compactMap {
            identifier(for: $0).flatMap(reference)
          }
          writer.append(column, references: targets)
        } else if let target = identifier(for: layout.reference(column, in: row))
          .flatMap(reference)
        {
          writer.set(column, reference: target)
          if let rankColumn = descriptor.rankColumns[column] {
            writer.set(rankColumn, integer: rank())
          }
        }
      }
    }
    return writer.finish()
  }
}

extension TableStore {
  /// The snapshot of a row, its lists filled from their members.
  fileprivate func snapshot(of fetched: FetchedRow) throws -> DefaultSnapshot? {
    guard let table = table(numbered: fetched.reference.table),
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
    let resolver = StoreResolver(self)
    try fetched.withBytes { row in
      for property in table.descriptor.properties {
        let column = property.ordinal
        if property.isDerivable {
          let members = try resolver.members(of: fetched.reference, property)
          writer.append(column, references: members.compactMap(number))
        } else if layout.isNull(column, in: row) {
          continue
        } else if property.isToMany {
          writer.append(
            column,
            references: layout.references(column, in: row).compactMap(number)
          )
        } else if property.isRelationship {
          if let target = number(layout.reference(column, in: row)) {
            writer.set(column, reference: target)
          }
        } else if let blob = layout.blob(column, in: row)?.reference {
          // A snapshot means the same in every store: it holds the value itself.
          let value = try readBlob(blob, of: fetched.reference, column: column)
          unsafe value?.withUnsafeBytes { unsafe writer.append(column, inlineBlob: $0.bytes) }
        } else {
          writer.copy(column, from: row, column: column, layout: layout)
        }
      }
    }
    let range = writer.finish()
    return unsafe DefaultSnapshot(
      persistentIdentifier: own,
      descriptor: table.descriptor,
      row: writer.bytes.extracting(range).withUnsafeBytes { unsafe Array($0) },
      references: references
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
