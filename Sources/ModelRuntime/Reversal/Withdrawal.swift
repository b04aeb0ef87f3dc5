import RowFormat

/// Finds what cannot be taken back, and what cannot because of that, and leaves it as it is.
///
/// A model that does not come back is missed by those that need one, a value that stays keeps others from it, and a model to
/// which another goes on referring stays. Each of these is found once, and done step by step: chains may be long.
final class Withdrawal {
  private let reversal: StoreReversal
  private var context: ModelContext { reversal.context }
  private var connection: StoreConnection { reversal.connection }
  private var steps: [Step] = []
  /// The models that are to be deleted.
  private var going: [ObjectIdentifier: ReversalPlan.ModelFate] = [:]
  /// The restorations of models that are there.
  private var changing: [ObjectIdentifier: Restoration] = [:]
  /// To-one relationships that are to lead to rows that come back.
  private var needing: [RowReference: [(Restoration, ModelProperty)]] = [:]
  /// Who gets the unique values of a model because that gives them up.
  private var heirs: [ObjectIdentifier: [(Restoration, UniquenessConstraint)]] = [:]

  private enum Step {
    /// A model does not come back.
    case withdraw(Restoration)
    /// Columns stay as they are.
    case keep(Restoration, [Int])
    /// A model is not deleted, since another refers to it.
    case stay(any PersistentModel, referredToBy: PersistentIdentifier)
  }

  init(of reversal: StoreReversal) {
    self.reversal = reversal
    for (fate, model) in reversal.deletions { going[ObjectIdentifier(model)] = fate }
    for restoration in reversal.restorations where !restoration.isNew {
      changing[ObjectIdentifier(restoration.model)] = restoration
    }
  }

  /// Whether a model is deleted, after all.
  func goes(_ model: any PersistentModel) -> Bool { going[ObjectIdentifier(model)] != nil }

  /// Finds what stands in the way, and follows it.
  ///
  /// - Throws: What reading throws.
  func run() throws {
    for restoration in reversal.restorations where restoration.isWithdrawn {
      restoration.isWithdrawn = false
      steps.append(.withdraw(restoration))
    }
    for constraint in reversal.constraints { try check(constraint) }
    for model in reversal.staying { keepNeeded(by: model) }
    checkEnds()
    try checkReferences()
    checkUnsavedReferences()
    while let step = steps.popLast() {
      switch step {
      case .withdraw(let restoration): withdraw(restoration)
      case .keep(let restoration, let columns): keep(restoration, columns)
      case .stay(let model, let other): stay(model, referredToBy: other)
      }
    }
  }

  // MARK: Steps

  private func withdraw(_ restoration: Restoration) {
    if restoration.isWithdrawn { return }
    restoration.isWithdrawn = true
    for (dependent, property) in needing[restoration.row] ?? [] {
      miss(dependent, property)
    }
  }

  private func keep(_ restoration: Restoration, _ columns: [Int]) {
    restoration.keep(columns)
    for column in columns where column < restoration.fate.descriptor.properties.count {
      keepDestination(restoration.fate.descriptor.properties[column], of: restoration.model)
    }
    for (heir, constraint) in heirs[ObjectIdentifier(restoration.model)] ?? []
    where !Set(constraint.columns).isDisjoint(with: columns) {
      refuse(heir, constraint, restoration.model.persistentModelID)
    }
  }

  private func stay(_ model: any PersistentModel, referredToBy other: PersistentIdentifier) {
    guard let fate = going.removeValue(forKey: ObjectIdentifier(model)) else { return }
    reversal.report(fate, nil, .stillReferredTo(by: other))
    keepNeeded(by: model)
    for (heir, constraint) in heirs[ObjectIdentifier(model)] ?? [] {
      refuse(heir, constraint, model.persistentModelID)
    }
  }

  /// Keeps what a model that stays cannot do without, and what must not be deleted while it is related to that model.
  private func keepNeeded(by model: any PersistentModel) {
    let state = model._$state
    for property in state.descriptor.relationships {
      let isDenied = property.inverse?.deleteRule == .deny
      if !property.isToMany {
        if isDenied || !property.isOptional { keepDestination(property, of: model) }
      } else if isDenied {
        for other in state.destinations(property) where goes(other) {
          steps.append(.stay(other, referredToBy: model.persistentModelID))
        }
      }
    }
  }

  /// Keeps what a to-one relationship leads to, which stays as it is.
  private func keepDestination(_ property: ModelProperty, of model: any PersistentModel) {
    guard property.isRelationship, !property.isToMany,
      let destination = model._$state.linkedModel(property), goes(destination)
    else { return }
    steps.append(.stay(destination, referredToBy: model.persistentModelID))
  }

  /// Leaves a relationship as it is whose former destination is gone.
  private func miss(_ restoration: Restoration, _ property: ModelProperty) {
    guard restoration.ends.contains(where: { $0.property === property }) else { return }
    reversal.report(restoration.fate, property.name, .destinationGone)
    leave(property, of: restoration)
  }

  private func leave(_ property: ModelProperty, of restoration: Restoration) {
    if restoration.isNew, !property.isOptional {
      steps.append(.withdraw(restoration))
    } else {
      steps.append(.keep(restoration, [property.ordinal]))
    }
  }

  private func refuse(
    _ restoration: Restoration,
    _ constraint: UniquenessConstraint,
    _ holder: PersistentIdentifier
  ) {
    let names = constraint.properties.joined(separator: ", ")
    reversal.report(restoration.fate, names, .valueTaken(by: holder))
    steps.append(
      restoration.isNew ? .withdraw(restoration) : .keep(restoration, constraint.columns)
    )
  }

  // MARK: Relationships

  private func checkEnds() {
    for restoration in reversal.restorations {
      for property in restoration.refusedEnds { leave(property, of: restoration) }
      for (property, rows) in restoration.ends where !property.isToMany {
        guard let row = rows.first else { continue }
        if reversal.returning(row) != nil {
          needing[row, default: []].append((restoration, property))
        }
        guard let destination = reversal.model(of: row) else {
          miss(restoration, property)
          continue
        }
        if goes(destination) {
          steps.append(.stay(destination, referredToBy: restoration.fate.identifier))
        }
      }
    }
  }

  /// Finds rows that refer to models that are to go, by relationships of which these know nothing.
  private func checkReferences() throws {
    guard !going.isEmpty, let store = connection.store.openStore as? any RowStore else { return }
    for descriptor in connection.descriptors {
      guard let table = store.table(forEntityNamed: descriptor.entityName) else { continue }
      for property in descriptor.relationships where !property.isToMany && property.inverse == nil {
        guard let base = property.destination.map(ModelDescriptor.of) else { continue }
        for (fate, model) in reversal.deletions where fate.descriptor.isKind(of: base) {
          let found = try store.rows(
            referringTo: model._$state.reference,
            inTable: table,
            column: property.ordinal
          )
          for row in found { note(row.reference, property, referringTo: model) }
        }
      }
    }
  }

  private func note(
    _ row: RowReference,
    _ property: ModelProperty,
    referringTo model: any PersistentModel
  ) {
    guard let other = context.model(at: row, in: connection), !other._$state.isGone, !goes(other),
      !other._$state.changed.contains(property.ordinal)
    else { return }
    let isLedElsewhere =
      changing[ObjectIdentifier(other)]?.ends.contains { $0.property === property } ?? false
    if !isLedElsewhere { steps.append(.stay(model, referredToBy: other.persistentModelID)) }
  }

  private func checkUnsavedReferences() {
    if going.isEmpty { return }
    for model in context.inserted + context.changed {
      for property in model._$state.descriptor.relationships
      where !property.isToMany && property.inverse == nil {
        guard
          model._$state.changed.contains(property.ordinal)
            || model._$state.flags.contains(.inserted)
        else { continue }
        keepDestination(property, of: model)
      }
    }
  }
}

// MARK: Unique values

extension Withdrawal {
  /// Leaves models as they are whose former unique values others have now.
  ///
  /// A save would have a new model take the place of the one that has its values.
  private func check(_ constraint: UniquenessConstraint) throws {
    var keys = KeyList()
    var owners: [Restoration] = []
    for restoration in reversal.restorations
    where constraint.covers(restoration.fate.descriptor)
      && restoration.changes(anyOf: constraint.columns)
    {
      guard let number = restoration.appendKey(constraint.columns, to: &keys) else { continue }
      if number == owners.count {
        owners.append(restoration)
      } else {
        refuse(restoration, constraint, owners[number].fate.identifier)
      }
    }
    if keys.count == 0 { return }
    checkUnsaved(owners, constraint)
    guard let holders = try connection.store.rows(having: keys, of: constraint) else { return }
    for (restoration, row) in zip(owners, holders) where row != .none {
      guard let holder = context.model(at: row, in: connection), holder !== restoration.model,
        !holder._$state.isGone
      else { continue }
      let givesUp =
        goes(holder)
        || changing[ObjectIdentifier(holder)]?.changes(anyOf: constraint.columns) ?? false
      if givesUp {
        heirs[ObjectIdentifier(holder), default: []].append((restoration, constraint))
      } else {
        refuse(restoration, constraint, holder.persistentModelID)
      }
    }
  }

  /// The same for models that are not saved yet.
  private func checkUnsaved(_ owners: [Restoration], _ constraint: UniquenessConstraint) {
    var holders: [[AnyHashable]: any PersistentModel] = [:]
    for model in context.inserted + context.changed
    where constraint.covers(model._$state.descriptor) {
      let state = model._$state
      let isTouched =
        state.flags.contains(.inserted)
        || constraint.columns.contains(where: state.changed.contains)
      if isTouched, let key = key(of: model, constraint) { holders[key] = model }
    }
    if holders.isEmpty { return }
    for restoration in owners {
      guard let key = key(of: restoration.model, constraint, restoration),
        let holder = holders[key], holder !== restoration.model
      else { continue }
      refuse(restoration, constraint, holder.persistentModelID)
    }
  }

  /// The unique values of a model: as it is, or will be; `nil` if one is missing.
  private func key(
    of model: any PersistentModel,
    _ constraint: UniquenessConstraint,
    _ restoration: Restoration? = nil
  ) -> [AnyHashable]? {
    var key: [AnyHashable] = []
    for property in constraint.columns.map({ constraint.owner.properties[$0] }) {
      var value: Any?
      if property.isRelationship {
        let end = restoration?.ends.first { $0.property.ordinal == property.ordinal }
        let other =
          end.map { $0.rows.first.flatMap(reversal.model(of:)) }
          ?? model._$state.linkedModel(property)
        value = other.map { ObjectIdentifier($0) }
      } else if let known = restoration?.values.first(where: {
        $0.property.ordinal == property.ordinal
      }) {
        value = known.value
      } else {
        value = (property.keyPath as? any PropertySetting)?.value(of: model)
      }
      guard let value = value as? AnyHashable else { return nil }
      key.append(value)
    }
    return key
  }
}

extension StoreReversal {
  /// Whether a column belongs to a unique key of a class.
  func isKeyColumn(_ property: ModelProperty, of descriptor: ModelDescriptor) -> Bool {
    constraints.contains { $0.covers(descriptor) && $0.columns.contains(property.ordinal) }
  }
}

extension Restoration {
  /// Appends the unique key that the model will have.
  ///
  /// - Returns: Its number; `nil` if it has none.
  fileprivate func appendKey(_ columns: [Int], to keys: inout KeyList) -> Int? {
    // The row that a part is taken from may name a model that was gone.
    if ends.contains(where: { columns.contains($0.property.ordinal) && $0.rows.isEmpty }) {
      return nil
    }
    let layout = fate.descriptor.layout
    var writer = RowWriter()
    writer.begin(layout)
    // A writer takes columns in their order.
    for column in columns.sorted() {
      if let part = keyParts[column] {
        part.withBytes { writer.copy(column, from: $0, column: column, layout: layout) }
      } else {
        let row = model._$state.currentRow
        if row.isAbsent { continue }
        writer.copy(column, from: row.span, column: column, layout: layout)
      }
    }
    let range = writer.finish()
    return keys.append(columns, of: writer.bytes.extracting(range), layout)
  }
}
