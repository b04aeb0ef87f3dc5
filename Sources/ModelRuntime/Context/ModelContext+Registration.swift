import RowFormat

extension ModelContext {
  /// The object for a row: the one there is, or a new one that will read the row when it is asked
  /// for a value.
  func model(at reference: RowReference, in connection: StoreConnection) -> (any PersistentModel)? {
    if let state = maps[connection.index][reference] { return state.model }
    guard let descriptor = connection.descriptor(of: reference) else { return nil }
    return makeModel(descriptor, at: reference, in: connection)
  }

  /// The object for a fetched row.
  ///
  /// An object that is there already keeps its values: its unsaved changes, and what it has read.
  func model(for row: FetchedRow, in connection: StoreConnection) -> (any PersistentModel)? {
    guard let model = model(at: row.reference, in: connection) else { return nil }
    let state = model._$state
    if state.row == nil { state.setRow(row) }
    return model
  }

  private func makeModel(
    _ descriptor: ModelDescriptor,
    at reference: RowReference,
    in connection: StoreConnection
  ) -> any PersistentModel {
    let made = makeObject(descriptor.makeTemplate(), descriptor, at: reference, in: connection)
    return descriptor.model(made.object.takeRetainedValue())
  }

  /// Makes a new, empty object of a class stand for a row.
  ///
  /// - Returns: The object, with a reference that is the caller's, and its state.
  private func makeObject(
    _ template: ModelTemplate,
    _ descriptor: ModelDescriptor,
    at reference: RowReference,
    in connection: StoreConnection
  ) -> (object: Unmanaged<AnyObject>, state: _ModelState) {
    let made = template.make(descriptor, at: reference, in: connection, of: self)
    made.state.isObserved = undo.manager != nil
    beKept(by: made.state)
    maps[connection.index].insert(made.state, at: reference)
    return made
  }

  /// Makes objects for the rows of a fetch.
  ///
  /// - Parameters:
  ///   - rows: The rows, whose blocks pass to the objects.
  ///   - type: The class of the models, or their superclass.
  ///   - connection: The store.
  /// - Returns: The models, in the order of the rows.
  func materialize<T: PersistentModel>(
    _ rows: consuming [FetchedRow],
    as type: T.Type,
    in connection: StoreConnection
  ) -> [T] {
    let descriptor = ModelDescriptor.of(type)
    return Array(unsafeUninitializedCapacity: rows.count) { buffer, count in
      guard let start = buffer.baseAddress else { return }
      // Filled as what they all are at bottom, so that one function serves every class.
      start.withMemoryRebound(to: Unmanaged<AnyObject>.self, capacity: rows.count) { objects in
        rows.withUnsafeMutableBufferPointer { rows in
          count = fill(objects, from: rows, of: descriptor, in: connection)
        }
      }
    }
  }

  /// Makes objects for rows.
  ///
  /// - Returns: How many there are; each with a reference that is the caller's.
  private func fill(
    _ objects: UnsafeMutablePointer<Unmanaged<AnyObject>>,
    from rows: UnsafeMutableBufferPointer<FetchedRow>,
    of base: ModelDescriptor,
    in connection: StoreConnection
  ) -> Int {
    let map = maps[connection.index]
    if map.count < rows.count { map.reserveCapacity(rows.count) }
    var count = 0
    // Rows of one class come together.
    var table = UInt16.max
    var descriptor = base
    var template = base.makeTemplate()
    for index in rows.indices {
      let reference = rows[index].reference
      if let state = map[reference] {
        refresh(state, from: rows[index])
        guard let model = state.model, state.descriptor.isKind(of: base) else { continue }
        objects[count] = Unmanaged.passRetained(model as AnyObject)
        count += 1
        continue
      }
      if reference.table != table {
        guard let own = connection.descriptor(of: reference), own.isKind(of: base) else { continue }
        table = reference.table
        descriptor = own
        template = own.makeTemplate()
      }
      let made = makeObject(template, descriptor, at: reference, in: connection)
      made.state.takeRow(of: &rows[index])
      objects[count] = made.object
      count += 1
    }
    return count
  }

  /// The members of a list that is not loaded: what the store says, corrected by what has changed here.
  func loadDestinations(
    of owner: _ModelState,
    _ property: ModelProperty,
    in connection: StoreConnection
  ) -> [any PersistentModel] {
    do {
      guard property.isDerivable, let inverse = property.inverse else {
        owner.loadRow()
        let row = owner.currentRow
        guard !row.isNull(property.ordinal) else { return [] }
        let models = row.layout.references(property.ordinal, in: row.span)
          .compactMap { model(at: $0, in: connection) }
          .filter { !$0._$state.isDeleted }
        if property.inverse != nil { return models }
        // Nobody told this end which models were deleted.
        loadRows(of: models.map { $0._$state }, from: connection)
        return models.filter { $0._$state.exists() }
      }
      var members = try connection.members(of: owner, property)
        .compactMap { model(at: $0, in: connection) }
        .filter { $0._$state.stillRefers(to: owner, through: inverse) }
      var known = Set(members.map { ObjectIdentifier($0) })
      let base = property.destination.map(ModelDescriptor.of)
      for model in inserted + changed {
        let state = model._$state
        guard let base, state.descriptor.isKind(of: base), !state.isDeleted,
          state.flags.contains(.inserted) || state.changed.contains(inverse.ordinal),
          state.destination(inverse)?._$state === owner,
          known.insert(ObjectIdentifier(model)).inserted
        else { continue }
        members.append(model)
      }
      return members
    } catch {
      deferredError = deferredError ?? error
      return []
    }
  }
}

extension _ModelState {
  /// Whether a member that the store found has not been moved or deleted since.
  fileprivate func stillRefers(to owner: _ModelState, through inverse: ModelProperty) -> Bool {
    if isDeleted { return false }
    guard changed.contains(inverse.ordinal), case .one(let current) = relation(inverse) else {
      return true
    }
    return current?._$state === owner
  }
}
