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
      /// Others have changed the list since: what a run did to it is taken back on what it holds now.
      case before(run: Int), after(run: Int)
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
          guard let former = then.model(at: reading.restoration.row, in: connection),
            former._$state.exists()
          else { continue }
          read(reading, from: former, in: then)
        }
        if let error = then.deferredError { throw error }
      }
      start = end
    }
  }

  private func readings(of restoration: Restoration) -> [Reading] {
    let fate = restoration.fate
    var last: Int64?
    if case .deleted(let number) = fate.ending { last = number - 1 }
    return fate.descriptor.properties.flatMap { property -> [Reading] in
      // Lists of this kind are made of their members, and derived attributes by the store.
      if property.isDerivable || property.derivation != nil { return [] }
      let known = fate.properties[property.ordinal]
      if known != nil, !restoration.isNew,
        restoration.model._$state.changed.contains(property.ordinal)
      {
        report(fate, property.name, .changedHere)
        return []
      }
      if let known, let run = known.runs.last, known.contender == nil {
        return [Reading(run.first - 1, restoration, property)]
      }
      if let last { return [Reading(last, restoration, property)] }
      guard let known, let contender = known.contender, let run = known.runs.last else { return [] }
      if property.isToMany {
        return known.runs.enumerated().flatMap { number, run in
          [
            Reading(run.first - 1, restoration, property, .before(run: number)),
            Reading(run.last, restoration, property, .after(run: number)),
          ]
        }
      }
      return [Reading(run.first - 1, restoration, property, .compare(contender))]
    }
  }

  private func read(
    _ reading: Reading,
    from former: any PersistentModel,
    in then: ModelContext
  ) {
    let (restoration, property) = (reading.restoration, reading.property)
    let state = restoration.model._$state
    guard property.isRelationship else {
      return readValue(reading, from: former, in: then)
    }
    let rows = former._$state.storedRows(property)
    switch reading.use {
    case .before(let run): restoration.note(property, run) { $0.before = rows }
    case .after(let run): restoration.note(property, run) { $0.after = rows }
    case .compare(let contender):
      if rows != state.storedRows(property) {
        report(restoration.fate, property.name, .changedSince(by: contender))
      }
    case .restore:
      if !restoration.isNew, rows == state.storedRows(property) { return }
      if let contender = contender(for: property, leadingTo: rows) {
        return report(restoration.fate, property.name, .changedSince(by: contender))
      }
      restoration.ends.append((property, rows))
      keep(property, of: former, for: restoration)
    }
  }

  private func readValue(
    _ reading: Reading,
    from former: any PersistentModel,
    in then: ModelContext
  ) {
    let (restoration, property) = (reading.restoration, reading.property)
    guard let setting = property.keyPath as? any PropertySetting else { return }
    let value = setting.value(of: former)
    if then.deferredError != nil {
      then.deferredError = nil
      return report(restoration.fate, property.name, .valueUnknown)
    }
    let isSame = !restoration.isNew && isSame(value, setting.value(of: restoration.model))
    switch reading.use {
    case .restore where !isSame:
      restoration.values.append((property, value))
      keep(property, of: former, for: restoration)
    case .compare(let contender) where !isSame:
      report(restoration.fate, property.name, .changedSince(by: contender))
    default: break
    }
  }

  /// Who has changed the other end of a one-to-one since, so that it cannot be led back.
  private func contender(
    for property: ModelProperty,
    leadingTo rows: [RowReference]
  ) -> ReversalPlan.Contender? {
    guard property.isPaired, let inverse = property.inverse, let row = rows.first,
      let other = connection.identifier(of: row)
    else { return nil }
    return plan[other]?.properties[inverse.ordinal]?.contender
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
  /// Notes what a run of transactions found in a list, or left there.
  fileprivate func note(
    _ property: ModelProperty,
    _ run: Int,
    _ body: (inout ListReversal) -> Void
  ) {
    let known = listChanges.firstIndex { $0.property === property }
    let place = known ?? listChanges.count
    if known == nil { listChanges.append((property, [])) }
    while listChanges[place].changes.count <= run {
      listChanges[place].changes.append(ListReversal())
    }
    body(&listChanges[place].changes[run])
  }
}

extension _ModelState {
  /// The rows that a relationship leads to, as they are stored.
  fileprivate func storedRows(_ property: ModelProperty) -> [RowReference] {
    loadRow()
    let row = currentRow
    guard !row.isNull(property.ordinal) else { return [] }
    return property.isToMany
      ? Array(row.layout.references(property.ordinal, in: row.span))
      : [row.reference(property.ordinal)]
  }
}
