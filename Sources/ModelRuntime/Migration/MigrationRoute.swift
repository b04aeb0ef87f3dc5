/// What stands between a store and the schema it is opened with.
///
/// A pure function of the plan, the schema, and what the store remembers; whoever opens the store
/// asks, and acts.
package enum MigrationRoute: Hashable, Sendable {
  /// The store is new, or was written with this very shape: nothing is to be done.
  case none
  /// The shapes differ and there is no plan: the store decides what it can make of it.
  case inferred

  /// Finds out what is to be done before a store can be opened.
  ///
  /// - Parameters:
  ///   - stored: What the store remembers of the schema it was written with; `nil` if it is new.
  ///   - schema: The schema it is opened with.
  ///   - plan: The versions and the steps between them, if there is a plan.
  /// - Throws: ``SwiftDataError/unknownSchema`` if the plan cannot be, or knows nothing of the schema;
  ///   ``SwiftDataError/unknownDataStoreSchema`` if it knows nothing of the store's;
  ///   ``SwiftDataError/backwardMigration`` if the store is newer than the schema;
  ///   ``SwiftDataError/migrationUnavailable`` if there are steps to be taken.
  package init(
    from stored: StoredSchemaVersion?,
    to schema: Schema,
    plan: (any SchemaMigrationPlan.Type)?
  ) throws(SwiftDataError) {
    let current = StoredSchemaVersion(schema)
    guard let plan else {
      self = stored == nil || stored?.checksum == current.checksum ? .none : .inferred
      return
    }
    let versions = try MigrationRoute.versions(of: plan, for: schema)
    guard let target = versions.lastIndex(where: { $0.checksum == current.checksum }) else {
      throw .unknownSchema.explained(
        "the schema \(current) has the shape of no version of \(plan): "
          + MigrationRoute.list(versions)
      )
    }
    guard let stored, stored.checksum != current.checksum else {
      self = .none
      return
    }
    guard let start = versions.lastIndex(where: { $0.checksum == stored.checksum }) else {
      guard stored.version <= versions[target].version else {
        throw .backwardMigration.explained(
          "the store was written with schema \(stored), newer than \(versions[target])"
        )
      }
      throw .unknownDataStoreSchema.explained(
        "the store was written with schema \(stored), which is no version of \(plan): "
          + MigrationRoute.list(versions)
      )
    }
    guard start < target else {
      throw .backwardMigration.explained(
        "the store was written with schema \(stored), newer than \(versions[target])"
      )
    }
    throw .migrationUnavailable.explained(
      "the store must be migrated from schema \(versions[start]) to \(versions[target]), "
        + "and migration stages cannot be run yet"
    )
  }

  /// The versions of a plan, the oldest first, once it is known to make sense.
  ///
  /// A store that keeps only some of a container's entities knows each version by these alone.
  private static func versions(
    of plan: any SchemaMigrationPlan.Type,
    for schema: Schema
  ) throws(SwiftDataError) -> [StoredSchemaVersion] {
    var versions: [StoredSchemaVersion] = []
    for type in plan.schemas {
      let complete = Schema(versionedSchema: type)
      try complete.validate()
      let version = StoredSchemaVersion(part(of: complete, like: schema))
      if let last = versions.last, last.version > version.version {
        throw .unknownSchema.explained(
          "\(plan) lists version \(version.version) after \(last.version); "
            + "expected the oldest first, and each once"
        )
      }
      versions.append(version)
    }
    guard !versions.isEmpty else { throw .unknownSchema.explained("\(plan) lists no versions") }
    try checkStages(of: plan)
    return versions
  }

  /// The entities of a version that have names of a schema's, or all if the schema has none but its own.
  private static func part(of version: Schema, like schema: Schema) -> Schema {
    let names = Set(schema.entities.map(\.name))
    let types = version.entities.filter { names.contains($0.name) }.compactMap(\.modelType)
    guard !types.isEmpty, types.count < version.entities.count else { return version }
    return Schema(types, version: version.version)
  }

  /// Makes sure that the steps of a plan are between its versions.
  ///
  /// A step that is missing is not missed until it is to be taken.
  private static func checkStages(of plan: any SchemaMigrationPlan.Type) throws(SwiftDataError) {
    let order = plan.schemas.map { ObjectIdentifier($0) }
    for stage in plan.stages {
      let from = order.firstIndex(of: ObjectIdentifier(stage.fromVersion))
      let to = order.firstIndex(of: ObjectIdentifier(stage.toVersion))
      guard let from, let to, from < to else {
        throw .unknownSchema.explained(
          "\(plan) has a stage from \(stage.fromVersion) to \(stage.toVersion); "
            + "expected both among its schemas, the older one first"
        )
      }
    }
  }

  private static func list(_ versions: [StoredSchemaVersion]) -> String {
    versions.map(\.description).joined(separator: ", ")
  }
}
