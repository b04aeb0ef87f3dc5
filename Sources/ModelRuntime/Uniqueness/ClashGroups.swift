import RowFormat

/// New models that a save merges into one, and the row that they update, if there is one.
struct ClashGroup {
  /// The models, the one inserted last at the end: that model stays.
  var members: [any PersistentModel]
  var row: RowReference?
}

/// Sorts clashes into groups of models that are merged.
struct ClashGroups {
  private var groups: [ClashGroup] = []
  private var groupOf: [ObjectIdentifier: Int] = [:]
  private var groupOfRow: [RowReference: Int] = [:]
  private let connection: StoreConnection

  init(_ connection: StoreConnection) { self.connection = connection }

  /// - Throws: ``SwiftDataError/modelValidationFailure`` for a clash that no upsert can, or may, settle.
  mutating func add(_ clash: ModelClash) throws {
    guard let model = clash.newModel else {
      guard case .model(let other) = clash.holder, other._$state.isNew else {
        throw conflict(clash, .update)
      }
      // A stored model was given the values of a new one: the new one becomes its update.
      return try add(other, row: clash.model._$state.reference, clash)
    }
    switch clash.holder {
    case .row(let row): try add(model, row: row, clash)
    case .model(let other) where !other._$state.isNew:
      try add(model, row: other._$state.reference, clash)
    case .model(let other): try add(model, other, clash)
    }
  }

  /// The groups, each in the order of its models' insertion.
  func sorted(by inserted: [any PersistentModel]) -> [ClashGroup] {
    let positions = Dictionary(
      inserted.enumerated().map { (ObjectIdentifier($1), $0) },
      uniquingKeysWith: { first, _ in first }
    )
    return groups.filter { !$0.members.isEmpty }.map { group in
      var group = group
      group.members.sort {
        positions[ObjectIdentifier($0), default: 0] < positions[ObjectIdentifier($1), default: 0]
      }
      return group
    }
  }

  private mutating func add(
    _ model: any PersistentModel,
    row: RowReference,
    _ clash: ModelClash
  ) throws {
    try allowUpsert(clash)
    guard connection.descriptor(of: row) === model._$state.descriptor else {
      throw conflict(clash, .otherClass)
    }
    let group = self.group(of: model)
    guard groups[group].row == nil || groups[group].row == row else {
      throw conflict(clash, .severalModels)
    }
    // Two new models may each be known only to clash with the row: then they clash with each other, too.
    let united = groupOfRow[row].map { unite(group, $0) } ?? group
    groups[united].row = row
    groupOfRow[row] = united
  }

  private mutating func add(
    _ model: any PersistentModel,
    _ other: any PersistentModel,
    _ clash: ModelClash
  ) throws {
    try allowUpsert(clash)
    guard model._$state.descriptor === other._$state.descriptor else {
      throw conflict(clash, .otherClass)
    }
    let group = self.group(of: model)
    let otherGroup = self.group(of: other)
    if let row = groups[group].row, let otherRow = groups[otherGroup].row, row != otherRow {
      throw conflict(clash, .severalModels)
    }
    _ = unite(group, otherGroup)
  }

  /// Merges two groups.
  ///
  /// The smaller one is merged into the larger: of *n* models with one value, none changes its group more than log *n*
  /// times.
  ///
  /// - Returns: The group.
  private mutating func unite(_ group: Int, _ other: Int) -> Int {
    if group == other { return group }
    let isSmaller = groups[group].members.count < groups[other].members.count
    let (united, absorbed) = isSmaller ? (other, group) : (group, other)
    let (members, row) = (groups[absorbed].members, groups[absorbed].row)
    groups[absorbed] = ClashGroup(members: [])
    for member in members { groupOf[ObjectIdentifier(member)] = united }
    groups[united].members += members
    if let row {
      groups[united].row = row
      groupOfRow[row] = united
    }
    return united
  }

  private mutating func group(of model: any PersistentModel) -> Int {
    if let known = groupOf[ObjectIdentifier(model)] { return known }
    groups.append(ClashGroup(members: [model]))
    groupOf[ObjectIdentifier(model)] = groups.count - 1
    return groups.count - 1
  }

  private func allowUpsert(_ clash: ModelClash) throws {
    if connection.uniquenessPolicy == .throw { throw conflict(clash, .policy) }
  }

  private func conflict(
    _ clash: ModelClash,
    _ reason: UniquenessConflict.Reason
  ) -> SwiftDataError {
    let holder =
      switch clash.holder {
      case .model(let other): other.persistentModelID
      case .row(let row):
        connection.identifier(of: row) ?? clash.model.persistentModelID
      }
    return .notUnique(
      UniquenessConflict(
        entityName: clash.constraint.owner.entityName,
        properties: clash.constraint.properties,
        model: clash.model.persistentModelID,
        holder: holder,
        reason: reason
      )
    )
  }
}

extension ModelClash {
  /// The model, if it is new.
  fileprivate var newModel: (any PersistentModel)? { model._$state.isNew ? model : nil }
}

extension _ModelState {
  /// Whether the object has no row yet.
  fileprivate var isNew: Bool { flags.contains(.inserted) }
}
