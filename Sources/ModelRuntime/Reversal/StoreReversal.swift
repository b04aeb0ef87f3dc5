import RowFormat

/// Takes back what transactions did to the models of one store.
///
/// First it is found out what becomes of each model (``choose()``), then what was there before is read, from the oldest
/// state to the newest (``read()``), then what led to models that come back without their knowing (``findLooseEnds()``), then
/// it is looked what stands in the way of what (``Withdrawal``). Up to there
/// no model has changed. Then they are: attributes first, then relationships, deletes, and the order of lists.
final class StoreReversal {
  let context: ModelContext
  let connection: StoreConnection
  let plan: ReversalPlan
  let rows: FormerRows
  private(set) var restorations: [Restoration] = []
  /// Models that were inserted, and are to go.
  private(set) var deletions: [(fate: ReversalPlan.ModelFate, model: any PersistentModel)] = []
  /// Models that were inserted, and stay.
  private(set) var staying: [any PersistentModel] = []
  private(set) var conflicts: [ReversalConflict] = []
  /// Relationships without an inverse that are to lead to models that come back.
  var looseEnds: [LooseEnd] = []
  /// The new objects of rows that were deleted, by these.
  private var returning: [RowReference: Restoration] = [:]
  let constraints: [UniquenessConstraint]

  /// - Parameters:
  ///   - transactions: The transactions, all of one store.
  ///   - connection: The store.
  ///   - context: Where the changes are made.
  /// - Throws: As ``ModelContext/revert(_:)``.
  init(
    of transactions: [DefaultHistoryTransaction],
    in connection: StoreConnection,
    _ context: ModelContext
  ) throws {
    self.context = context
    self.connection = connection
    constraints = UniquenessConstraint.all(in: connection.schema)
    let numbers = Set(transactions.map(\.transactionIdentifier))
    let before = (numbers.min() ?? 1) - 1
    rows = try FormerRows(of: connection, context.coordinator, from: before)
    plan = ReversalPlan(try connection.transactions(behind: before), takingBack: numbers)
    try choose()
    try read()
    try findLooseEnds()
    let withdrawal = Withdrawal(of: self)
    try withdrawal.run()
    restorations.removeAll(where: \.isWithdrawn)
    deletions.removeAll { !withdrawal.goes($0.model) }
  }

  func report(
    _ fate: ReversalPlan.ModelFate,
    _ property: String?,
    _ reason: ReversalConflict.Reason
  ) {
    report(fate.identifier, property, reason)
  }

  func report(
    _ model: PersistentIdentifier,
    _ property: String?,
    _ reason: ReversalConflict.Reason
  ) {
    conflicts.append(ReversalConflict(model: model, property: property, reason: reason))
  }

  // MARK: What becomes of each model

  private func choose() throws {
    var stored: [(ReversalPlan.ModelFate, any PersistentModel)] = []
    for fate in plan.fates {
      guard let row = connection.store.reference(of: fate.identifier) else { continue }
      switch (fate.ending, fate.isInserted) {
      case (.isGone, true), (.deleted, true): break
      case (.isGone(let contender), false):
        report(
          fate,
          nil,
          .deletedSince(transaction: contender.transaction, author: contender.author)
        )
      case (.deleted, false):
        let new = Restoration(fate, row, fate.descriptor.makeUnsaved(), isNew: true)
        restorations.append(new)
        returning[row] = new
      case (.isThere, _):
        if let model = context.model(at: row, in: connection) { stored.append((fate, model)) }
      }
    }
    // What others have saved may not be in memory yet.
    context.refreshRows(of: stored.map { $0.1._$state }, from: connection)
    try context.throwDeferredError()
    for (fate, model) in stored {
      let state = model._$state
      if !fate.isInserted {
        if state.isDeleted {
          report(fate, nil, .changedHere)
        } else if state.exists() {
          restorations.append(Restoration(fate, state.reference, model, isNew: false))
        }
      } else if let contender = fate.contender {
        report(fate, nil, .changedSince(by: contender))
        if !state.isGone { staying.append(model) }
      } else if state.hasChanges {
        report(fate, nil, .changedHere)
        if !state.isGone { staying.append(model) }
      } else if !state.isGone {
        deletions.append((fate, model))
      }
    }
  }

  // MARK: Names

  /// The new object of a row that was deleted.
  func returning(_ row: RowReference) -> Restoration? { returning[row] }

  /// The model that a row was of: there, or about to be there again.
  func model(of row: RowReference) -> (any PersistentModel)? {
    if let restoration = returning[row] {
      return restoration.isWithdrawn ? nil : restoration.model
    }
    guard let model = context.model(at: row, in: connection), !model._$state.isGone else {
      return nil
    }
    return model
  }

  // MARK: The changes

  /// Makes the changes.
  func apply(to reversal: inout Reversal) {
    for restoration in restorations { setAttributes(of: restoration) }
    for restoration in restorations {
      setRelationships(of: restoration)
      if restoration.isNew {
        reversal.restored.append(
          RestoredModel(
            formerIdentifier: restoration.fate.identifier,
            model: restoration.model
          )
        )
      } else if !restoration.isEmpty {
        reversal.updated.append(restoration.fate.identifier)
      }
    }
    joinLooseEnds(&reversal)
    reversal.deleted += deletions.map(\.model.persistentModelID)
    deleteModels()
    do {
      try orderLists()
    } catch {
      // All is as it was but for the order of lists.
      context.deferredError = context.deferredError ?? error
    }
    reversal.conflicts += conflicts
  }

  private func setAttributes(of restoration: Restoration) {
    for (property, value) in restoration.values {
      let setting = property.keyPath as? any PropertySetting
      if setting?.set(value, in: restoration.model) != true {
        report(restoration.fate, property.name, .valueUnknown)
      }
    }
    if restoration.isNew { context.insert(restoration.model) }
  }

  private func setRelationships(of restoration: Restoration) {
    let (model, state) = (restoration.model, restoration.model._$state)
    for (property, rows) in restoration.ends {
      let models = rows.compactMap(self.model(of:))
      if property.isToMany {
        state.setMembers(models, property, of: model)
      } else {
        state.setEnd(models.first, property, of: model)
      }
    }
    for (property, changes) in restoration.listChanges {
      let came = Set(changes.came.compactMap(self.model(of:)).map { ObjectIdentifier($0) })
      let members = state.destinations(property).filter { !came.contains(ObjectIdentifier($0)) }
      // One that is a member again already stays where it is.
      state.setMembers(members + changes.went.compactMap(self.model(of:)), property, of: model)
    }
  }

  private func deleteModels() {
    let going = Set(deletions.map { ObjectIdentifier($0.model) })
    for (_, model) in deletions {
      // Delete rules are for what was inserted along; others stay.
      let state = model._$state
      for property in state.descriptor.relationships where property.deleteRule == .cascade {
        if property.isToMany {
          let members = state.destinations(property)
          let rest = members.filter { going.contains(ObjectIdentifier($0)) }
          if rest.count < members.count { state.setMembers(rest, property, of: model) }
        } else if let other = state.destination(property),
          !going.contains(ObjectIdentifier(other))
        {
          state.setEnd(nil, property, of: model)
        }
      }
    }
    for (_, model) in deletions where !model._$state.isDeleted { context.delete(model) }
  }
}

extension ReversalConflict.Reason {
  static func changedSince(by contender: ReversalPlan.Contender) -> Self {
    .changedSince(transaction: contender.transaction, author: contender.author)
  }
}

extension _ModelState {
  /// Leads a to-one relationship to a model, and notifies observers, as the property's setter does.
  func setEnd(
    _ destination: (any PersistentModel)?,
    _ property: ModelProperty,
    of model: any PersistentModel
  ) {
    setDestination(destination, property, of: model)
    property.notify(model)
  }

  /// Replaces the members of a list, and notifies observers, as the property's setter does.
  func setMembers(
    _ members: [any PersistentModel],
    _ property: ModelProperty,
    of model: any PersistentModel
  ) {
    func set<D: PersistentModel>(_: D.Type) {
      setDestinations(members.compactMap { $0 as? D }, property.ordinal, of: model)
    }
    if let destination = property.destination { set(destination) }
    property.notify(model)
  }
}

extension StoreConnection {
  /// All transactions of the store behind one, the oldest first, whether they were deleted from the history or not.
  fileprivate func transactions(behind number: Int64) throws -> [DefaultHistoryTransaction] {
    guard let history = store.history as? any DeletedHistoryReading else {
      throw DataStoreError.unsupportedFeature
    }
    let token = DefaultHistoryToken(HistoryStoreName(identifier), number)
    guard let transactions = try history.allTransactions(since: token) else {
      throw SwiftDataError.historyTokenExpired.explained(
        "what was saved in \(identifier) since transaction \(number) is no longer known in full: compaction has folded it"
      )
    }
    return transactions.compactMap { $0 as? DefaultHistoryTransaction }
  }
}
