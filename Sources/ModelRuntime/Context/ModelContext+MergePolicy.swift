import Foundation
import RowFormat

extension ModelContext {
  /// The policy of this context's saves for attributes that others have changed since they were read here.
  ///
  /// `nil`, the default, means the policy of each store's configuration. Set it before changing the models that it is to
  /// apply to: from then on the context remembers the values it read. In exchange, models that the context has saved are
  /// read again at their next access.
  public var mergePolicy: MergePolicy? {
    get { ownMergePolicy }
    set {
      ownMergePolicy = newValue
      remembersReads = remembersReads || newValue?.compares == true
    }
  }

  /// Writes all pending changes, with a policy for this save alone.
  ///
  /// - Parameter mergePolicy: The policy for attributes that others have changed since they were read here. Of a model
  ///   that this context has saved (this object, or another one with the same unique values), or merged while it had
  ///   unsaved changes, and not read since, the values read are unknown (``MergeConflict/isReadKnown``), unless
  ///   ``mergePolicy`` was set at that time. Of a model merged without any, those that the merge brought count as read. Of
  ///   a model that was rolled back, and not read since, they are those shown before, also by the error of a refused save.
  /// - Throws: As ``save()``.
  // An unapplied `context.save` means the other overload.
  @_disfavoredOverload
  public func save(mergePolicy: MergePolicy) throws {
    savePolicy = mergePolicy
    remembersReads = remembersReads || mergePolicy.compares
    defer { savePolicy = nil }
    try save()
  }

  /// The policy of the next save in a store.
  func mergePolicy(in connection: StoreConnection) -> MergePolicy {
    savePolicy ?? ownMergePolicy ?? connection.mergePolicy
  }

  /// Throws if the store cannot do what a policy requires.
  func checkMergePolicy(_ policy: MergePolicy, in connection: StoreConnection) throws {
    guard policy.compares, !connection.store.comparesValues else { return }
    throw SwiftDataError.mergingUnsupported(by: connection, "the merge policy")
  }

  /// Settles the conflicts that a store found, so that the save can be retried.
  ///
  /// - Parameters:
  ///   - found: Rows that differ from those the save was to replace. Nothing of the save is written.
  ///   - policy: The policy that decides about them.
  ///   - connection: The store.
  /// - Throws: ``SwiftDataError/modelValidationFailure`` if the policy refuses one; an addition that overflows.
  func settle(
    _ found: RowConflicts,
    by policy: MergePolicy,
    in connection: StoreConnection
  ) throws {
    noticeCommits(to: connection)
    var refused: [MergeConflict] = []
    var reports: [(state: _ModelState, column: Int, stored: MergeBase)] = []
    var settlements: [() throws -> Void] = []
    for conflict in found.conflicts {
      guard let model = maps[connection.index][conflict.row]?.model else { throw found }
      let state = model._$state
      let stored = MergeBase(conflict.stored)
      if !conflict.columns.allSatisfy(state.changed.contains) {
        // Others have set columns that this save would have written along.
        settlements.append { stored.withRow(conflict.row) { self.refresh(state, from: $0) } }
      }
      for column in conflict.columns where state.changed.contains(column) {
        let property = state.descriptor.properties[column]
        if let increment = state.intactIncrement(property, of: model) {
          settlements.append {
            state.setIncrement(try increment.add(model, stored), column)
            state.rebase(column, on: stored)
          }
          continue
        }
        if state.readsTheSame(property, from: stored) {
          settlements.append { state.rebase(column, on: stored) }
          continue
        }
        let choice: MergeChoice
        switch policy {
        case .lastWriter: choice = .own
        case .throw:
          refused.append(state.conflict(about: property, of: model, stored))
          reports.append((state, column, stored))
          continue
        case .keepStored where state.isBaseKnown(column): choice = .stored
        case .keepStored:
          // The change must not be lost for a conflict that may be none.
          refused.append(state.conflict(about: property, of: model, stored))
          reports.append((state, column, stored))
          continue
        case .decide(let decide):
          choice = decide(state.conflict(about: property, of: model, stored))
        }
        settlements.append { try state.settle(property, of: model, choice, stored) }
      }
    }
    // All or nothing: a save that throws leaves every change as it was.
    if !refused.isEmpty {
      for (state, column, stored) in reports { state.recordReport(of: column, in: stored) }
      throw SwiftDataError.conflicting(refused)
    }
    // Changes that others saved are not for this context to undo.
    try withoutUndo { for settlement in settlements { try settlement() } }
  }
}

extension _ModelState {
  /// Whether a stored value equals the value read although its bytes differ: sets are encoded in any order.
  fileprivate func readsTheSame(_ property: ModelProperty, from stored: MergeBase) -> Bool {
    // For a value in a file of its own, a row has only the name.
    if property.columnType == .blob { return false }
    guard let read = base(of: property.ordinal)?.value(of: property, descriptor),
      let value = stored.value(of: property, descriptor), let read = read as? any Equatable
    else { return false }
    return read.isEqual(to: value)
  }

  fileprivate func conflict(
    about property: ModelProperty,
    of model: any PersistentModel,
    _ stored: MergeBase
  ) -> MergeConflict {
    let base = base(of: property.ordinal)
    return MergeConflict(
      model: identifier,
      property: property.name,
      isReadKnown: base != nil,
      read: base?.value(of: property, descriptor),
      stored: stored.value(of: property, descriptor),
      own: (property.keyPath as? any PropertySetting)?.value(of: model)
    )
  }

  fileprivate func settle(
    _ property: ModelProperty,
    of model: any PersistentModel,
    _ choice: MergeChoice,
    _ stored: MergeBase
  ) throws {
    let column = property.ordinal
    switch choice {
    case .own: rebase(column, on: stored)
    case .value(let value):
      guard (property.keyPath as? any PropertySetting)?.set(value, in: model) == true else {
        throw SwiftDataError.modelValidationFailure.explained(
          "the merge policy gave \(descriptor.entityName).\(property.name) a \(type(of: value))",
          entity: descriptor.entityName,
          property: property.name
        )
      }
      rebase(column, on: stored)
    case .stored:
      stored.withRow(reference) { setRow($0) }
      forgetChange(column)
      forgetBase(column)
      model._$reset(keeping: changed)
      if isListedByValue { context?.unsaved.invalidateValue(nil, of: self) }
      property.notify(model)
    }
  }
}

/// A key path through which a property of any model can be set.
protocol PropertySetting {
  func value(of model: AnyObject) -> Any?
  func set(_ value: Any?, in model: AnyObject) -> Bool
}

extension ReferenceWritableKeyPath: PropertySetting {
  func value(of model: AnyObject) -> Any? {
    guard let model = model as? Root else { return nil }
    let value = model[keyPath: self]
    let mirror = Mirror(reflecting: value)
    return mirror.displayStyle == .optional ? mirror.children.first?.value : value
  }

  func set(_ value: Any?, in model: AnyObject) -> Bool {
    guard let model = model as? Root, let value = value as? Value ?? (value as Any) as? Value else {
      return false
    }
    model[keyPath: self] = value
    return true
  }
}

extension SwiftDataError {
  static func conflicting(_ conflicts: [MergeConflict]) -> SwiftDataError {
    let isOne = conflicts.count == 1
    let what = isOne ? "an attribute" : "\(conflicts.count) attributes"
    // For some the value read is unknown, and so is whether anybody else has saved them.
    let verb =
      conflicts.allSatisfy(\.isReadKnown) ? (isOne ? "was" : "were") : "may have been"
    return modelValidationFailure.explained(
      "\(what) \(verb) saved by others since \(isOne ? "it was" : "they were") read, and the merge policy refuses to "
        + "overwrite \(isOne ? "it" : "them"): "
        + conflicts.prefix(3).map(\.description).joined(separator: "; ")
        + (conflicts.count > 3 ? "; and \(conflicts.count - 3) more" : ""),
      entity: conflicts.first?.model.entityName,
      property: conflicts.first?.property,
      causedBy: MergeConflicts(conflicts: conflicts)
    )
  }

  static func mergingUnsupported(by connection: StoreConnection, _ wish: String) -> SwiftDataError {
    modelValidationFailure.explained(
      "\(type(of: connection.store.openStore)) \"\(connection.configurationName)\" cannot compare what it stores with "
        + "what was read, which \(wish) needs; a LogStore and a PostgresStore can"
    )
  }
}

extension ModelContext {
  /// Throws if an attribute was added to in a store that would have to set it.
  func checkIncrements(among models: [any PersistentModel], in connection: StoreConnection) throws {
    for model in models {
      let state = model._$state
      guard let increments = state.mergeMemory?.increments.elements else { continue }
      for (ordinal, increment) in increments where increment.isIntact(model) {
        throw SwiftDataError.mergingUnsupported(
          by: connection,
          "adding to \(state.descriptor.entityName).\(state.descriptor.properties[ordinal].name)"
        )
      }
    }
  }
}

extension Equatable {
  fileprivate func isEqual(to other: Any) -> Bool { other as? Self == self }
}
