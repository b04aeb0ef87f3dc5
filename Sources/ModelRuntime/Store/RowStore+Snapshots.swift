package import RowFormat

// A context passes rows to a store of rows. Code that calls it as any other DataStore, such as a store in front of it,
// passes snapshots; and as it names rows in its own way, no error with the store's row names may reach it.

extension RowStore where Snapshot == DefaultSnapshot {
  /// Saves snapshots as rows.
  ///
  /// - Parameters:
  ///   - request: The snapshots.
  ///   - reference: Returns the row of a model that is stored.
  ///   - missing: Makes the error for a class without a table in the store.
  /// - Returns: The permanent identifiers of inserted models, and the bookmark after the save.
  /// - Throws: ``SwiftDataError/modelValidationFailure`` for a save that conflicts with saves of others; or an error of
  ///   the store.
  package func saveSnapshots(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>,
    reference: @escaping (PersistentIdentifier) -> RowReference?,
    missing: (_ entity: String) -> any Error
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    try SnapshotSave(of: request, to: self, reference, missing).run()
  }
}

/// A save of snapshots to a store of rows.
private struct SnapshotSave<Store: RowStore> where Store.Snapshot == DefaultSnapshot {
  private let store: Store
  private let request: DataStoreSaveChangesRequest<DefaultSnapshot>
  private let knownReference: (PersistentIdentifier) -> RowReference?
  private var names: [PersistentIdentifier: RowReference] = [:]
  private var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]

  init(
    of request: DataStoreSaveChangesRequest<DefaultSnapshot>,
    to store: Store,
    _ reference: @escaping (PersistentIdentifier) -> RowReference?,
    _ missing: (_ entity: String) -> any Error
  ) throws {
    self.store = store
    self.request = request
    knownReference = reference
    for snapshot in request.inserted {
      let (own, entity) = (snapshot.persistentIdentifier, snapshot.persistentIdentifier.entityName)
      guard let table = store.table(forEntityNamed: entity) else { throw missing(entity) }
      let key = try store.reserveKeys(1, inTable: table).lowerBound
      names[own] = RowReference(table: table, key: key)
      remapped[own] = try .identifier(for: store.identifier, entityName: entity, primaryKey: key)
    }
  }

  func run() throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    var gone: Set<RowReference> = []
    while true {
      let places = try ListPlaces(of: request, in: store, reference, without: gone)
      do {
        return DataStoreSaveChangesResult(
          for: store.identifier,
          remappedIdentifiers: remapped,
          historyToken: try write(places)
        )
      } catch let vanished as VanishedRow {
        guard places.moved[vanished.reference] != nil else {
          throw SwiftDataError.modelDeletedElsewhere(identifier(of: vanished.reference))
        }
        // A row that only gets another place in a list is not one of the caller's models.
        gone.insert(vanished.reference)
      } catch is RowConflicts {
        // Others have changed columns that are written along with a place: the next attempt copies the new values.
      } catch is MovedReference {
        // Others have moved a row that was to get another place: the next attempt does not find it in the list.
      } catch let dangling as DanglingReferences {
        throw refusal(of: dangling)
      } catch let clashes as RowClashes {
        throw SwiftDataError.modelValidationFailure.explained(
          "values that have to be unique are taken by other models",
          entity: clashes.clashes.first?.constraint.owner.entityName
        )
      }
    }
  }

  private func reference(_ identifier: PersistentIdentifier) -> RowReference? {
    names[identifier] ?? knownReference(identifier)
  }

  private func write(_ places: ListPlaces) throws -> (any HistoryToken)? {
    // The rest of the state concerns rows as the caller names them.
    let state = EditingState(id: request.editingState.id, author: request.editingState.author)
    return try store.saveRows(for: state) { sink in
      var writer = RowWriter()
      for snapshot in request.inserted + request.updated {
        guard let own = reference(snapshot.persistentIdentifier) else { continue }
        let row = try snapshot.write(
          into: &writer,
          lists: .atMembers { try places.rank(of: own, $0) ?? store.reserveRanks(1).lowerBound },
          reference: reference,
          sideFile: sink.addBlob
        )
        if names[snapshot.persistentIdentifier] != nil {
          sink.insert(own, row: writer.bytes.extracting(row))
        } else {
          sink.update(own, changed: .all, row: writer.bytes.extracting(row))
        }
        writer.removeAll()
      }
      places.write(into: sink)
      for snapshot in request.deleted {
        if let own = reference(snapshot.persistentIdentifier) { sink.delete(own) }
      }
    }
  }

  // MARK: Errors

  private func descriptor(of reference: RowReference) -> ModelDescriptor? {
    store.schema.descriptors.first {
      store.table(forEntityNamed: $0.entityName) == reference.table
    }
  }

  private func identifier(of reference: RowReference) -> PersistentIdentifier? {
    if let new = names.first(where: { $0.value == reference }) { return remapped[new.key] }
    guard let entity = descriptor(of: reference)?.entityName else { return nil }
    return try? .identifier(
      for: store.identifier,
      entityName: entity,
      primaryKey: reference.key
    )
  }

  private func refusal(of dangling: DanglingReferences) -> SwiftDataError {
    let first = (dangling.toMissingRows + dangling.toDeletedRows).first
    let descriptor = first.flatMap { self.descriptor(of: $0.row) }
    let property = first.flatMap { descriptor?.properties[safe: $0.column]?.name }
    let target = first.flatMap { identifier(of: $0.target) }
    return SwiftDataError.modelValidationFailure.explained(
      "\(property ?? "a relationship") would lead to \(target.map { "\($0)" } ?? "a model"), which "
        + (dangling.toMissingRows.isEmpty
          ? "is deleted, and another context or process has attached it meanwhile"
          : "was deleted by another context or process: choose another, or roll back"),
      entity: descriptor?.entityName,
      property: property
    )
  }
}
