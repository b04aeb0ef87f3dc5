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
    func make<M: PersistentModel>(_ type: M.Type) -> any PersistentModel {
      register(descriptor.makeEmpty(type), descriptor, at: reference, in: connection)
    }
    return make(descriptor.type)
  }

  /// Makes a new, empty object of a known class stand for a row.
  @discardableResult
  func register<M: PersistentModel>(
    _ model: M,
    _ descriptor: ModelDescriptor,
    at reference: RowReference,
    in connection: StoreConnection
  ) -> M {
    let state = model._$state
    state.model = model
    state.context = self
    beKept(by: state)
    state.connection = connection
    state.reference = reference
    state.flags = [.stored, .adopted]
    state.setDescriptor(descriptor)
    state.changed = ColumnSet()
    state.isObserved = undo.manager != nil
    maps[connection.index].insert(state, at: reference)
    return model
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
        return row.layout.references(property.ordinal, in: row.span)
          .compactMap { model(at: $0, in: connection) }
          .filter { !$0._$state.isDeleted }
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
