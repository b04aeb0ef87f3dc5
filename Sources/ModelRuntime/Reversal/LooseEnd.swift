import RowFormat

/// A relationship without an inverse that led to models that come back.
///
/// Deleting them wrote nothing to its owner, which goes on naming their rows until the relationship is set anew.
struct LooseEnd {
  let owner: any PersistentModel
  let property: ModelProperty
  /// The rows that it named, in their order, those that come back among them.
  let rows: [RowReference]
}

extension StoreReversal {
  /// Finds what led to the models that come back and has no inverse: as it is stored, or was before others set it.
  func findLooseEnds() throws {
    let returned = restorations.filter(\.isNew)
    if returned.isEmpty { return }
    var ends = try formerEnds(of: returned)
    ends += try presentEnds(of: returned)
    var owners: Set<ObjectIdentifier> = []
    context.refreshRows(
      of: ends.map(\.owner._$state).filter { owners.insert(ObjectIdentifier($0)).inserted },
      from: connection
    )
    try context.throwDeferredError()
    looseEnds = ends.filter { end in
      let state = end.owner._$state
      if state.isGone { return false }
      guard state.changed.contains(end.property.ordinal) else { return true }
      if plan[end.owner.persistentModelID]?.properties[end.property.ordinal] == nil {
        report(end.owner.persistentModelID, end.property.name, .changedHere)
      }
      return false
    }
  }

  /// Leads relationships without an inverse to models that came back.
  func joinLooseEnds(_ reversal: inout Reversal) {
    if looseEnds.isEmpty { return }
    let going = Set(deletions.map { ObjectIdentifier($0.model) })
    var restored: [ObjectIdentifier: Restoration] = [:]
    for restoration in restorations { restored[ObjectIdentifier(restoration.model)] = restoration }
    var updated = Set(reversal.updated)
    for end in looseEnds {
      let owner = ObjectIdentifier(end.owner)
      // One that gets back what it was before leads to them, if it did then.
      let isSet =
        restored[owner]?.ends.contains { $0.property.ordinal == end.property.ordinal } ?? false
      guard !isSet, !going.contains(owner), join(end) else { continue }
      let identifier = end.owner.persistentModelID
      if updated.insert(identifier).inserted { reversal.updated.append(identifier) }
    }
  }

  /// Leads one relationship to those that came back.
  ///
  /// - Returns: Whether it has changed.
  private func join(_ end: LooseEnd) -> Bool {
    let state = end.owner._$state
    guard end.property.isToMany else {
      guard let model = end.rows.first.flatMap(model(of:)) else { return false }
      state.setEnd(model, end.property, of: end.owner)
      return true
    }
    var members = state.destinations(end.property)
    let count = members.count
    var present = Set(members.map { ObjectIdentifier($0) })
    let stored = Set(
      members.lazy.map { $0._$state }.filter { $0.flags.contains(.stored) }.map(\.reference)
    )
    // Behind the member that was before it, wherever that is now.
    var place = 0
    for row in end.rows {
      if let restoration = returning(row) {
        guard !restoration.isWithdrawn else { continue }
        if present.insert(ObjectIdentifier(restoration.model)).inserted {
          members.insert(restoration.model, at: place)
          place += 1
        } else {
          place = members.place(behind: { $0 === restoration.model }, from: place)
        }
      } else if stored.contains(row) {
        place = members.place(behind: { $0._$state.reference == row }, from: place)
      }
    }
    if members.count == count { return false }
    state.setMembers(members, end.property, of: end.owner)
    return true
  }
}

// MARK: Finding them

extension StoreReversal {
  /// The relationships that name the rows of deleted models to this day.
  private func presentEnds(of returned: [Restoration]) throws -> [LooseEnd] {
    guard let store = connection.store.openStore as? any RowStore else { return [] }
    var ends: [LooseEnd] = []
    var listOwners: [ModelDescriptor] = []
    for descriptor in connection.descriptors {
      let properties = descriptor.relationships.filter { $0.inverse == nil }
      if properties.isEmpty { continue }
      for property in properties where !property.isToMany {
        guard let table = store.table(forEntityNamed: descriptor.entityName) else { continue }
        for restoration in returned where property.canLead(to: restoration.fate.descriptor) {
          let row = restoration.row
          for found in try store.rows(
            referringTo: row,
            inTable: table,
            column: property.ordinal
          ) {
            guard let owner = context.model(at: found.reference, in: connection) else { continue }
            ends.append(LooseEnd(owner: owner, property: property, rows: [row]))
          }
        }
      }
      let mayHold = properties.contains { property in
        property.isToMany
          && returned.contains { property.canLead(to: $0.fate.descriptor) }
      }
      if mayHold { listOwners.append(descriptor) }
    }
    // Rows of a class are read with those of its superclass.
    for descriptor in listOwners
    where !listOwners.contains(where: { $0 !== descriptor && descriptor.isKind(of: $0) }) {
      ends += try presentLists(of: descriptor)
    }
    return ends
  }

  /// The lists of a class's models that hold rows of deleted models: no index tells, so all rows are read.
  private func presentLists(of descriptor: ModelDescriptor) throws -> [LooseEnd] {
    func references<M: PersistentModel>(_: M.Type) throws -> [RowReference]? {
      try connection.store.fetchReferences(FetchDescriptor<M>(), for: context.editingState)
    }
    guard let owners = try references(descriptor.type) else { return [] }
    var ends: [LooseEnd] = []
    let batchSize = 1024
    for start in stride(from: 0, to: owners.count, by: batchSize) {
      let batch = Array(owners[start..<min(start + batchSize, owners.count)])
      for row in try connection.store.rows(at: batch, for: context.editingState) {
        guard let row, let owned = connection.descriptor(of: row.reference) else { continue }
        for property in owned.relationships where property.isToMany && property.inverse == nil {
          let members = row.withBytes { bytes in
            owned.layout.isNull(property.ordinal, in: bytes)
              ? [] : Array(owned.layout.references(property.ordinal, in: bytes))
          }
          guard members.contains(where: { returning($0) != nil }),
            let owner = context.model(at: row.reference, in: connection)
          else { continue }
          ends.append(LooseEnd(owner: owner, property: property, rows: members))
        }
      }
    }
    return ends
  }

  /// The lists that held models that were deleted already when others changed them; a to-one relationship that others
  /// set then stays as it is.
  private func formerEnds(of returned: [Restoration]) throws -> [LooseEnd] {
    let first = returned.compactMap(\.deletion).min() ?? .max
    let changes = plan.looseChanges.filter { $0.contender.transaction > first }
    var ends: [LooseEnd] = []
    var reported: Set<PersistentIdentifier.Property> = []
    var start = 0
    while start < changes.count {
      let transaction = changes[start].contender.transaction
      let end =
        changes[start...].firstIndex { $0.contender.transaction != transaction } ?? changes.count
      try rows.read(behind: transaction - 1) { then, past in
        for change in changes[start..<end] {
          guard let row = connection.store.reference(of: change.owner),
            let former = then.model(at: row, in: past), former._$state.exists(),
            let owner = context.model(at: row, in: connection), !owner._$state.isGone
          else { continue }
          let property = change.property
          // What was still there others may have taken out.
          let named = former._$state.storedRows(property).filter {
            returning($0)?.deletion.map { $0 < transaction } ?? true
          }
          if !named.contains(where: { returning($0) != nil }) { continue }
          if property.isToMany {
            ends.append(LooseEnd(owner: owner, property: property, rows: named))
          } else if plan[change.owner]?.properties[property.ordinal] == nil,
            reported.insert(.init(model: change.owner, ordinal: property.ordinal)).inserted
          {
            report(change.owner, property.name, .changedSince(by: change.contender))
          }
        }
        if let error = then.deferredError { throw error }
      }
      start = end
    }
    return ends
  }
}

extension Restoration {
  /// The transaction that deleted the model; `nil` if none did.
  fileprivate var deletion: Int64? {
    if case .deleted(let number) = fate.ending { number } else { nil }
  }
}

extension PersistentIdentifier {
  /// A property of a model.
  fileprivate struct Property: Hashable {
    let model: PersistentIdentifier
    let ordinal: Int
  }
}

extension [any PersistentModel] {
  /// The place behind the first model that passes a test: the first from a place on, or else of all.
  fileprivate func place(behind test: (any PersistentModel) -> Bool, from start: Int) -> Int {
    (self[start...].firstIndex(where: test) ?? firstIndex(where: test)).map { $0 + 1 } ?? start
  }
}
