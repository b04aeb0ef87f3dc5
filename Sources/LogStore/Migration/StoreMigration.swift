import Foundation
import LogEngine
import ModelRuntime

/// Takes a store from the version it was written with to the schema it is opened with.
///
/// Stages that only describe a change are entries in the catalogue: all of them are one commit, whatever the number
/// of rows. As soon as there is code to be run, or rows must be checked, the stages run in a ``StagedStore``, which
/// becomes the store after the last of them. So a store is never found between two versions.
struct StoreMigration {
  let path: String
  let schema: Schema
  let plan: (any SchemaMigrationPlan.Type)?
  var allowsSave = true
  var blobThreshold = Int.max
  var uniquenessPolicy = UniquenessPolicy.upsert
  var newerStores = NewerStorePolicy.refuse

  /// Does what is to be done.
  ///
  /// - Parameter engine: The store, just opened.
  /// - Returns: The store, in the schema; the engine that was given, or the one in its place.
  /// - Throws: ``SwiftDataError``, naming the stage that failed and carrying what it threw; `LogStoreError` if there
  ///   is no plan. The store is as it was, and closed.
  func run(_ engine: StorageEngine) throws -> StorageEngine {
    do {
      // Lists of an entity that comes back are longer again.
      let returned = EntityRecord.absentEntities(in: engine.catalogue)
        .intersection(schema.entities.map(\.name))
      let areDerivedValid = returned.isEmpty && DerivedRecords.areValid(in: engine.catalogue)
      let migrated = try migrate(engine)
      do {
        try joinEnds(of: schema, in: migrated)
        try deriveAttributes(of: schema, in: migrated, areValid: areDerivedValid)
      } catch {
        if migrated !== engine { try? migrated.close() }
        throw error
      }
      return migrated
    } catch {
      try? engine.close()
      throw error
    }
  }

  /// Finds out what is to be done with a store of a catalogue.
  ///
  /// - Throws: ``SwiftDataError`` if it must not be done.
  func route(from catalogue: Catalogue) throws(SwiftDataError) -> MigrationRoute {
    let stored = CatalogueMapping.schemaVersion(in: catalogue)
    let route = try MigrationRoute(
      from: stored,
      to: schema,
      plan: plan,
      entities: Set(catalogue.tables.map(\.name)),
      writtenWith: EntityRecord.entities(in: catalogue),
      current: LastListing.currentEntities(in: catalogue),
      newerStores: newerStores
    )
    // Without a number a schema does not say whether it is older. It is taken for that if rows would lose values.
    guard case .inferred = route.way, plan == nil, !schema.isVersioned, newerStores == .refuse,
      let stored, stored.version != Schema.unversioned,
      let (entity, column) = CatalogueMapping.firstColumn(unknownTo: schema, in: catalogue)
    else { return route }
    throw SwiftDataError.backwardMigration.explained(
      "\(path) was written with schema \(stored) and keeps \(entity).\(column), which the models it is opened with "
        + "lack; they have no version: open it with the migration plan or a VersionedSchema, or set newerStores of "
        + "the configuration to .takeBack",
      entity: entity,
      property: column
    )
  }

  /// Makes sure that the store can be brought to the schema, as far as its catalogue tells.
  ///
  /// - Throws: ``SwiftDataError`` or ``LogStoreError`` if it cannot.
  func rehearse(_ catalogue: Catalogue) throws {
    let route = try route(from: catalogue)
    guard allowsSave else {
      let families = EntityFamilies(schema)
      let missing = schema.descriptors.first {
        CatalogueMapping.table(of: $0, of: families, in: catalogue) == nil
      }
      if route.runsStages { throw stagesNeeded(by: catalogue, route) }
      guard let missing else { return }
      throw LogStoreError.schemaNotInStore(entity: missing.entityName, path: path)
    }
    if case .stages(let steps) = route.way {
      var draft = CatalogueDraft(catalogue)
      // What follows code depends on what that does.
      for step in steps.prefix(while: { !$0.runsCode }) {
        draft = try mapping(of: step, draft).draft
      }
      return
    }
    var mapping = SchemaMapping(CatalogueDraft(catalogue), .inferred(age(in: catalogue, route)))
    try mapping.bring(to: schema)
  }

  func age(in catalogue: Catalogue, _ route: MigrationRoute) -> SchemaAge {
    SchemaAge(of: schema, comparedWith: CatalogueMapping.schemaVersion(in: catalogue), route)
  }

  private func migrate(_ engine: StorageEngine) throws -> StorageEngine {
    let route = try route(from: engine.catalogue)
    guard case .stages(let steps) = route.way else {
      if allowsSave {
        let age = age(in: engine.catalogue, route)
        try CatalogueMapping.bring(engine, to: schema, as: route.target, age)
      }
      return engine
    }
    guard allowsSave else { throw stagesNeeded(by: engine.catalogue, route) }
    if try describe(steps, in: engine, route.target) { return engine }
    return try stage(steps, of: engine, route.target)
  }

  private func stagesNeeded(by catalogue: Catalogue, _ route: MigrationRoute) -> SwiftDataError {
    let stored = CatalogueMapping.schemaVersion(in: catalogue)
    return SwiftDataError.migrationUnavailable.explained(
      "\(path) was written with schema \(stored.map { "\($0)" } ?? "none") and must be migrated to "
        + "\(route.target), but was opened read-only: open it once with allowsSave: true"
    )
  }
}

// MARK: In the catalogue alone

extension StoreMigration {
  /// Takes all the steps in one commit, if neither code nor rows are concerned.
  private func describe(
    _ steps: [MigrationStep],
    in engine: StorageEngine,
    _ target: StoredSchemaVersion
  ) throws -> Bool {
    if steps.contains(where: \.runsCode) { return false }
    var draft = CatalogueDraft(engine.catalogue)
    for step in steps {
      let mapping = try mapping(of: step, draft)
      if mapping.checks.concernRows(of: engine, mapping.draft.catalogue) { return false }
      draft = mapping.draft
    }
    try CatalogueMapping.record(target, of: schema, migrated: names(after: steps), in: &draft)
    if !draft.changes.isEmpty { try engine.apply(draft.changes) }
    return true
  }

  /// The entities that some steps take to the version after them, of which the schema need not have all.
  private func names(after steps: [MigrationStep]) -> Set<String> {
    Set(steps.last?.to.entities.map(\.name) ?? [])
  }

  private func mapping(of step: MigrationStep, _ draft: CatalogueDraft) throws -> SchemaMapping {
    do {
      // The same shape may list its properties in another order than it once did.
      var before = SchemaMapping(draft, .inferred(.same))
      try before.bring(to: step.from)
      var mapping = SchemaMapping(before.draft, .planned(step))
      try mapping.bring(to: step.to)
      return mapping
    } catch {
      throw step.failure("a change cannot be inferred", error)
    }
  }
}

// MARK: In a copy

extension StoreMigration {
  private func stage(
    _ steps: [MigrationStep],
    of engine: StorageEngine,
    _ target: StoredSchemaVersion
  ) throws -> StorageEngine {
    let staged = try perform { try engine.makeStagedStore() }
    do {
      for step in steps { try take(step, in: staged.engine) }
      var draft = CatalogueDraft(staged.engine.catalogue)
      try CatalogueMapping.record(target, of: schema, migrated: names(after: steps), in: &draft)
      try staged.engine.apply(draft.changes)
    } catch {
      staged.discard()
      throw error
    }
    return try perform { try staged.publish() }
  }

  /// Takes one step: the app's code, the change of the tables, the app's code, and a check of the result.
  private func take(_ step: MigrationStep, in engine: StorageEngine) throws {
    try step.runWillMigrate {
      try CatalogueMapping.prepare(engine, for: step.from)
      // A schema in between may have others, which no code may find missing.
      try joinEnds(of: step.from, in: engine)
      try deriveAttributes(of: step.from, in: engine)
      return try open(engine, at: step.from, of: step.wholeFrom)
    }
    let mapping = try mapping(of: step, CatalogueDraft(engine.catalogue))
    try perform { try engine.apply(mapping.draft.changes) }
    if !mapping.checks.narrowed.isEmpty {
      var gain = InverseGain(try tables(of: engine, at: step.to))
      try gain.narrow(mapping.checks.narrowed)
    }
    try step.runDidMigrate {
      try joinEnds(of: step.to, in: engine)
      try deriveAttributes(of: step.to, in: engine)
      return try open(engine, at: step.to, of: step.wholeTo)
    }
    guard mapping.checks.concernRows(of: engine, engine.catalogue) else { return }
    do {
      try mapping.checks.run(in: tables(of: engine, at: step.to))
    } catch {
      throw step.failure("its result breaks a rule of the new version", error)
    }
  }

  /// Opens the store for the app's code, which may also ask for models that other stores of the container keep: here
  /// there are none of them.
  private func open(
    _ engine: StorageEngine,
    at schema: Schema,
    of version: Schema
  ) throws -> ModelContainer {
    var stores: [(any DataStore, Schema)] = []
    let configuration = ModelConfiguration(schema: schema, url: URL(fileURLWithPath: path))
    let lease = StoreLease(try tables(of: engine, at: schema))
    stores.append((DefaultStore(lease, configuration), schema))
    let others = version.modelTypes.filter { !schema.contains($0) }
    if !others.isEmpty {
      let rest = Schema(others, of: version)
      let memory = ModelConfiguration(schema: rest, isStoredInMemoryOnly: true)
      stores.append((try DefaultStore(memory), rest))
    }
    return try ModelContainer(
      migrating: stores,
      at: version,
      uniquenessPolicy: uniquenessPolicy
    )
  }

  /// Brings the ends of relationships in agreement that have gained an inverse.
  ///
  /// - Throws: ``SwiftDataError/migrationUnavailable`` if there are any, and the store is only read.
  private func joinEnds(of schema: Schema, in engine: StorageEngine) throws {
    let records = InverseRecords(schema, engine.catalogue)
    if records.isCurrent { return }
    let concernsRows = records.concernRows(of: engine)
    guard allowsSave else {
      guard concernsRows else { return }
      throw SwiftDataError.migrationUnavailable.explained(
        "\(path) has rows from before a relationship had an inverse, and was opened read-only: open it once with "
          + "allowsSave: true"
      )
    }
    if concernsRows {
      var gain = InverseGain(try tables(of: engine, at: schema))
      try gain.settle(records.gained, stale: records.stale)
    }
    try perform { try engine.apply(records.changes) }
  }

  private func deriveAttributes(of schema: Schema, in engine: StorageEngine) throws {
    let areValid = DerivedRecords.areValid(in: engine.catalogue)
    try deriveAttributes(of: schema, in: engine, areValid: areValid)
  }

  /// Computes the derived attributes that the store does not have yet, or has from something else.
  ///
  /// - Parameters:
  ///   - schema: The schema, whose tables the store has.
  ///   - engine: The store.
  ///   - areValid: Whether the values that the store says it has are right.
  /// - Throws: ``SwiftDataError/migrationUnavailable`` if there are any, and the store is only read.
  private func deriveAttributes(
    of schema: Schema,
    in engine: StorageEngine,
    areValid: Bool
  ) throws {
    let records = DerivedRecords(schema, engine.catalogue, areValid: areValid)
    if records.isCurrent { return }
    guard allowsSave else {
      guard let name = records.outdated(in: engine) else { return }
      throw SwiftDataError.migrationUnavailable.explained(
        "\(path) has rows for which the derived attribute \(name) has not been computed, and was opened "
          + "read-only: open it once with allowsSave: true"
      )
    }
    if records.outdated(in: engine) != nil {
      try tables(of: engine, at: schema).computeDerivedAttributes()
    }
    try perform { try engine.apply(records.changes) }
  }

  private func tables(of engine: StorageEngine, at schema: Schema) throws -> TableStore {
    try TableStore(
      engine,
      TableStore.Configuration(
        path: path,
        schema: schema,
        blobThreshold: blobThreshold,
        closing: .byOwner
      )
    )
  }

  @discardableResult
  private func perform<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as StorageError {
      throw LogStoreError.storage(error, while: .migrating, path: path)
    }
  }
}
