import Foundation
import RowFormat

/// The line to a store that keeps rows: models are encoded straight into its batch.
final class RowStoreConnection<Store: RowStore>: StoreConnection, @unchecked Sendable {
  private let store: Store
  private let tables: [String: UInt16]
  private let descriptorsByTable: [UInt16: ModelDescriptor]
  private let origins: [UInt16: IdentifierOrigin]

  init(_ store: Store, index: Int, configurationName: String, schema: Schema, allowsSave: Bool)
    throws
  {
    self.store = store
    var tables: [String: UInt16] = [:]
    var byTable: [UInt16: ModelDescriptor] = [:]
    var origins: [UInt16: IdentifierOrigin] = [:]
    for type in schema.modelTypes {
      let descriptor = ModelDescriptor.of(type)
      guard let table = store.table(forEntityNamed: descriptor.entityName) else { continue }
      tables[descriptor.entityName] = table
      byTable[table] = descriptor
      origins[table] = .named(store: store.identifier, entity: descriptor.entityName)
    }
    self.tables = tables
    descriptorsByTable = byTable
    self.origins = origins
    super.init(
      index: index,
      configurationName: configurationName,
      schema: schema,
      allowsSave: allowsSave
    )
  }

  override var identifier: String { store.identifier }
  override var configuration: any DataStoreConfiguration { store.configuration }

  override func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    for state: EditingState
  ) throws -> FetchAnswer {
    try InMemoryFallback.fetch(descriptor) {
      try store.fetchRows(DataStoreFetchRequest(descriptor: $0, editingState: state))
    }
  }

  override func fetchCount<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    for state: EditingState
  ) throws -> Int? {
    try InMemoryFallback.answer {
      try store.fetchCount(DataStoreFetchRequest(descriptor: descriptor, editingState: state))
    }
  }

  override func rows(at references: [RowReference], for state: EditingState) throws
    -> [FetchedRow?]
  {
    try store.rows(at: references)
  }

  override func blob(_ blob: BlobReference, of row: RowReference, column: Int) throws -> Data? {
    try store.readBlob(blob, of: row, column: column)
  }

  override func members(of owner: _ModelState, _ property: ModelProperty) throws -> [RowReference] {
    guard let inverse = property.inverse, let destination = property.destination else { return [] }
    let base = ModelDescriptor.of(destination)
    var members: [RowReference] = []
    for descriptor in descriptors where descriptor.isKind(of: base) {
      guard let table = tables[descriptor.entityName] else { continue }
      members += try store.rows(
        referringTo: owner.reference,
        inTable: table,
        column: inverse.ordinal,
        rankColumn: descriptor.rankColumns[inverse.ordinal]
      )
    }
    return members
  }

  override func descriptor(of reference: RowReference) -> ModelDescriptor? {
    descriptorsByTable[reference.table]
  }

  override func identifier(of reference: RowReference) -> PersistentIdentifier? {
    origins[reference.table].map { PersistentIdentifier(origin: $0, key: reference.key) }
  }

  override func reference(of identifier: PersistentIdentifier) -> RowReference? {
    guard identifier.id.text == nil, identifier.storeIdentifier == store.identifier,
      let table = tables[identifier.entityName]
    else { return nil }
    return RowReference(table: table, key: identifier.id.key)
  }

  override func begin(_ state: EditingState) { store.initializeState(for: state) }
  override func end(_ state: EditingState) { store.invalidateState(for: state) }
  override func erase() throws { try store.erase() }

  // MARK: Saving

  override func writes(_ state: _ModelState) -> Bool { !storedColumns(of: state).isEmpty }

  override func prepare(_ changes: inout ChangeSet) {
    var ranks: Range<Int64> = 0..<0
    assignRanks(in: &changes) {
      if ranks.isEmpty { ranks = store.reserveRanks(256) }
      defer { ranks = (ranks.lowerBound + 1)..<ranks.upperBound }
      return ranks.lowerBound
    }
  }

  override func save(_ changes: ChangeSet, for state: EditingState) throws {
    let names = try RowNames(inserted: changes.inserted, store: store, tables: tables, index: index)
    do {
      try write(changes, named: names, for: state)
    } catch let clashes as RowClashes {
      throw ModelClashes(clashes, in: changes)
    }
    for model in changes.inserted {
      model._$state.becomeStored(at: model._$state.reference, in: self)
    }
  }

  private func write(
    _ changes: ChangeSet,
    named names: RowNames<Store>,
    for state: EditingState
  ) throws {
    var encoder = _RowEncoder(references: names)
    try store.saveRows(for: state) { sink in
      encoder.blobs = sink
      for model in changes.inserted {
        let row = try encode(model, &encoder)
        sink.insert(model._$state.reference, row: encoder.writer.bytes.extracting(row))
        encoder.writer.removeAll()
      }
      for model in changes.updated {
        let changed = storedColumns(of: model._$state)
        let row = try encode(model, &encoder)
        let previous = model._$state.currentRow
        if previous.isAbsent {
          sink.update(
            model._$state.reference,
            changed: changed,
            row: encoder.writer.bytes.extracting(row),
            previous: nil
          )
        } else {
          sink.update(
            model._$state.reference,
            changed: changed,
            row: encoder.writer.bytes.extracting(row),
            previous: previous.span
          )
        }
        encoder.writer.removeAll()
      }
      for model in changes.deleted { sink.delete(model._$state.reference) }
    }
  }

  private func encode(
    _ model: any PersistentModel,
    _ encoder: inout _RowEncoder
  ) throws -> Range<Int> {
    model._$state.encode(model, into: &encoder)
    let row = encoder.writer.finish()
    if let failure = encoder.failure { throw failure }
    return row
  }

  /// The columns of a changed model that the store has to write.
  ///
  /// A list that is derived from its members has no column to write; a to-one brings its rank along.
  private func storedColumns(of state: _ModelState) -> ColumnSet {
    var changed = state.changed
    let descriptor = state.descriptor
    for property in descriptor.relationships where changed.contains(property.ordinal) {
      if property.isDerivable && property.ordinal < 63 {
        changed.remove(property.ordinal)
      } else if let column = descriptor.rankColumns[property.ordinal] {
        changed.insert(column)
      }
    }
    return changed
  }
}

/// Gives every inserted model its row before the first row is written, so that rows can refer to each
/// other in any order.
private final class RowNames<Store: RowStore>: ReferenceResolver {
  private let store: Store
  private let index: Int
  private var ranks: Range<Int64> = 0..<0

  init(
    inserted: [any PersistentModel],
    store: Store,
    tables: [String: UInt16],
    index: Int
  ) throws {
    self.store = store
    self.index = index
    var counts: [ObjectIdentifier: (descriptor: ModelDescriptor, count: Int)] = [:]
    // A save that failed has named its models already: they keep their rows for the next attempt.
    for model in inserted where model._$state.reference == .none {
      let descriptor = model._$state.descriptor
      counts[ObjectIdentifier(descriptor), default: (descriptor, 0)].count += 1
    }
    var keys: [ObjectIdentifier: (table: UInt16, next: UInt64)] = [:]
    for (id, entry) in counts {
      guard let table = tables[entry.descriptor.entityName] else {
        throw SwiftDataError.missingEntity(entry.descriptor.entityName)
      }
      keys[id] = (table, store.reserveKeys(entry.count, inTable: table).lowerBound)
    }
    for model in inserted where model._$state.reference == .none {
      let id = ObjectIdentifier(model._$state.descriptor)
      guard let (table, key) = keys[id] else { continue }
      model._$state.reference = RowReference(table: table, key: key)
      keys[id] = (table, key + 1)
    }
  }

  var derivesLists: Bool { true }

  func reference(to state: _ModelState) throws -> RowReference {
    if let connection = state.connection, connection.index != index {
      throw SwiftDataError.relationshipAcrossStores(to: state.identifier)
    }
    guard state.reference != .none else {
      throw SwiftDataError.relationshipToUnsavedModel(state.descriptor.entityName)
    }
    return state.reference
  }

  func name(of reference: RowReference, in connection: StoreConnection?) -> RowReference? {
    reference
  }

  func nextRank() -> Int64 {
    if ranks.isEmpty { ranks = store.reserveRanks(1024) }
    defer { ranks = (ranks.lowerBound + 1)..<ranks.upperBound }
    return ranks.lowerBound
  }
}
