import RowFormat

extension StoreReversal {
  /// A property of a model whose value is wanted as a transaction left it.
  private struct Reading {
    let transaction: Int64
    let restoration: Restoration
    let property: ModelProperty
    let use: Use

    init(
      _ transaction: Int64,
      _ restoration: Restoration,
      _ property: ModelProperty,
      _ use: Use = .restore
    ) {
      self.transaction = transaction
      self.restoration = restoration
      self.property = property
      self.use = use
    }

    enum Use {
      case restore
      /// Others have set it since: no conflict if they have set it to the same.
      case compare(ReversalPlan.Contender)
      /// Others have changed the list, too: what each run did to it is taken back on what it holds.
      case before, after
    }
  }

  /// Reads what was there, from the oldest state to the newest.
  func read() throws {
    let readings = restorations.flatMap(readings).sorted { $0.transaction < $1.transaction }
    var start = 0
    while start < readings.count {
      let transaction = readings[start].transaction
      let end =
        readings[start...].firstIndex { $0.transaction != transaction } ?? readings.count
      try rows.read(behind: transaction) { then, connection in
        for reading in readings[start..<end] {
          guard let former = then.model(at: reading.restoration.row, in: connection) else {
            continue
          }
          let exists = former._$state.exists()
          // The row is damaged.
          if let error = then.deferredError { throw error }
          if exists { try read(reading, from: former, in: then, at: connection) }
        }
      }
      start = end
    }
  }

  private func readings(of restoration: Restoration) -> [Reading] {
    let fate = restoration.fate
    var last: Int64?
    if case .deleted(let number) = fate.ending { last = number - 1 }
    return fate.descriptor.properties.flatMap { property -> [Reading] in
      // Derived attributes are made by the store.
      if property.derivation != nil { return [] }
      let known = fate.properties[property.ordinal]
      if known != nil, !restoration.isNew,
        restoration.model._$state.changed.contains(property.ordinal)
      {
        refuse(property, of: restoration, .changedHere)
        return []
      }
      if property.isDerivable {
        noteOrder(of: property, known, last, restoration)
        return []
      }
      guard let known, let run = known.runs.last else {
        return last.map { [Reading($0, restoration, property)] } ?? []
      }
      if property.isToMany, known.runs.count > 1 || known.contender != nil {
        return (last.map { [Reading($0, restoration, property)] } ?? [])
          + known.runs.flatMap {
            [
              Reading($0.first - 1, restoration, property, .before),
              Reading($0.last, restoration, property, .after),
            ]
          }
      }
      guard let contender = known.contender else {
        return [Reading(run.first - 1, restoration, property)]
      }
      if let last { return [Reading(last, restoration, property)] }
      return [Reading(run.first - 1, restoration, property, .compare(contender))]
    }
  }

  /// Notes when a list that is made of its members had the order that it gets back; others' order stays.
  private func noteOrder(
    of property: ModelProperty,
    _ known: ReversalPlan.PropertyFate?,
    _ last: Int64?,
    _ restoration: Restoration
  ) {
    if let known, known.contender == nil, let run = known.runs.last {
      restoration.orders.append((property, run.first - 1))
    } else if let last {
      restoration.orders.append((property, last))
    }
  }

  private func read(
    _ reading: Reading,
    from former: any PersistentModel,
    in then: ModelContext,
    at past: StoreConnection
  ) throws {
    let (restoration, property) = (reading.restoration, reading.property)
    guard property.isRelationship else {
      return readValue(reading, from: former, in: then)
    }
    let stored = former._$state.storedRows(property)
    switch reading.use {
    case .before: return restoration.change(property) { $0.begin(stored) }
    case .after: return restoration.change(property) { $0.end(stored) }
    case .compare, .restore: break
    }
    let present = restoration.isNew ? nil : restoration.model._$state.storedRows(property)
    if stored == present { return }
    let rows = try destinations(property, stored, in: then, at: past)
    if try rows == present.map({ try destinations(property, $0, in: context, at: connection) }) {
      return
    }
    switch reading.use {
    case .before, .after: break
    case .compare(let contender):
      refuse(property, of: restoration, .changedSince(by: contender))
    case .restore:
      if let reason = obstacle(for: property, leadingTo: rows, behind: reading.transaction) {
        return refuse(property, of: restoration, reason)
      }
      restoration.ends.append((property, rows))
      keep(property, of: former, for: restoration)
    }
  }

  /// What a relationship leads to of the rows that are stored for it.
  ///
  /// One without an inverse goes on naming the row of a model that was deleted, and is nil nevertheless, unless that
  /// model comes back. One that cannot be nil is left as it is stored, and so is a list, which leaves out what is gone.
  private func destinations(
    _ property: ModelProperty,
    _ rows: [RowReference],
    in context: ModelContext,
    at connection: StoreConnection
  ) throws -> [RowReference] {
    if property.isToMany || !property.isOptional { return rows }
    let destinations = rows.filter { row in
      if returning(row) != nil { return true }
      let model = context.model(at: row, in: connection)
      return withExtendedLifetime(model) { model?._$state.isGone == false }
    }
    if let error = context.deferredError { throw error }
    return destinations
  }

  private func readValue(
    _ reading: Reading,
    from former: any PersistentModel,
    in then: ModelContext
  ) {
    let (restoration, property) = (reading.restoration, reading.property)
    guard let setting = property.keyPath as? any PropertySetting else {
      // A constant, which the initializer alone can set.
      if !restoration.isNew { return }
      if isKeyColumn(property, of: restoration.fate.descriptor) { restoration.isWithdrawn = true }
      return report(restoration.fate, property.name, .valueUnknown)
    }
    let value = setting.value(of: former)
    if then.deferredError != nil {
      then.deferredError = nil
      return report(restoration.fate, property.name, .valueUnknown)
    }
    let isSame =
      !restoration.isNew
      && (isSame(value, setting.value(of: restoration.model))
        || former._$state.stores(property, like: restoration.model._$state))
    switch reading.use {
    case .restore where !isSame:
      restoration.values.append((property, value))
      keep(property, of: former, for: restoration)
    case .compare(let contender) where !isSame:
      report(restoration.fate, property.name, .changedSince(by: contender))
    default: break
    }
  }

  /// What keeps a one-to-one from being led back: its other end was led elsewhere since.
  private func obstacle(
    for property: ModelProperty,
    leadingTo rows: [RowReference],
    behind transaction: Int64
  ) -> ReversalConflict.Reason? {
    guard property.isPaired, let inverse = property.inverse, let row = rows.first,
      let other = connection.identifier(of: row)
    else { return nil }
    // That end also gets back what others led it to, if the transactions have set it once more behind them.
    if let contender = plan[other]?.properties[inverse.ordinal]?.contender(behind: transaction) {
      return .changedSince(by: contender)
    }
    let isChanged =
      context.model(at: row, in: connection)?._$state.changed.contains(inverse.ordinal) ?? false
    return isChanged ? .changedHere : nil
  }

  /// Leaves a property as it is.
  private func refuse(
    _ property: ModelProperty,
    of restoration: Restoration,
    _ reason: ReversalConflict.Reason
  ) {
    report(restoration.fate, property.name, reason)
    if property.isRelationship, !property.isToMany { restoration.refusedEnds.append(property) }
  }

  /// Keeps the row that a unique key's column is taken from.
  private func keep(
    _ property: ModelProperty,
    of former: any PersistentModel,
    for restoration: Restoration
  ) {
    guard isKeyColumn(property, of: restoration.fate.descriptor) else { return }
    let row = former._$state.currentRow
    restoration.keyParts[property.ordinal] = FetchedRow(copying: row.span, restoration.row)
  }

  private func isSame(_ value: Any?, _ other: Any?) -> Bool {
    func isEqual<Value: Equatable>(_ value: Value) -> Bool { other as? Value == value }
    guard let value, other != nil else { return value == nil && other == nil }
    return (value as? any Equatable).map { isEqual($0) } ?? false
  }
}

extension Restoration {
  fileprivate func change(_ property: ModelProperty, _ body: (inout ListReversal) -> Void) {
    let known = listChanges.firstIndex { $0.property === property }
    if known == nil { listChanges.append((property, ListReversal())) }
    body(&listChanges[known ?? listChanges.count - 1].changes)
  }
}

extension _ModelState {
  /// Whether two rows have the same bytes in a column: not all values can be compared, and some are not equal to themselves.
  fileprivate func stores(_ property: ModelProperty, like other: _ModelState) -> Bool {
    loadRow()
    other.loadRow()
    let (row, otherRow) = (currentRow, other.currentRow)
    if row.isAbsent || otherRow.isAbsent { return false }
    return row.layout.isEqual(property.ordinal, in: row.span, and: otherRow.span)
  }

  /// The rows that a relationship leads to, as they are stored.
  func storedRows(_ property: ModelProperty) -> [RowReference] {
    loadRow()
    let row = currentRow
    guard !row.isNull(property.ordinal) else { return [] }
    return property.isToMany
      ? Array(row.layout.references(property.ordinal, in: row.span))
      : [row.reference(property.ordinal)]
  }
}
