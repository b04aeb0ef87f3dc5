/// What is between a store and the schema it is opened with.
///
/// A pure function of the plan, the schema, and what the store remembers; the code that opens the store
/// asks, and acts.
package struct MigrationRoute: Hashable, Sendable {
  /// What is to be done.
  package enum Way: Hashable, Sendable {
    /// The store is new, or was written with this very shape: nothing.
    case none
    /// The shapes differ and no stage says how: the store decides what it can make of it.
    case inferred
    /// The stages of the plan, in order.
    case stages([MigrationStep])
  }

  package let way: Way
  /// Whether there are stages to be run.
  package var runsStages: Bool { if case .stages = way { true } else { false } }
  /// Whether a plan says which version the schema is.
  package let isPlanned: Bool
  /// What the store is to remember once it is there: the number the plan gives the version, if there is a plan.
  package let target: StoredSchemaVersion

  /// Finds out what is to be done before a store can be opened.
  ///
  /// A version is recognised by its shape. Where several versions have one shape, the number that the store
  /// remembers decides; a store from before the plan was there has none of its own, and counts as the oldest of them.
  ///
  /// Stages that lead back are taken as others are; a plan has to say each of them.
  ///
  /// A plan without stages between versions gives them numbers and says nothing of the way between them: it is the
  /// store's to find, as without a plan, and the models may have changed without a new version.
  ///
  /// Without a plan, a schema that has a number is held to it; one without says nothing of its age, and leaves the
  /// number of a store that has one as it is, so that a later container with a plan finds the version it knows.
  ///
  /// - Parameters:
  ///   - stored: The schema that the store was written with; `nil` for a new store.
  ///   - schema: The schema it is opened with.
  ///   - plan: The versions and the steps between them, if there is a plan.
  ///   - entities: The names of the entities that the store has: it may be one of several, and know a version by these alone.
  ///   - written: The names of those that it was written with last; `nil` if it does not say.
  ///   - upToDate: The names of those whose rows are as the store's version has them, and which stages take along also if the
  ///     schema lacks them; `nil` for a store that has them go no further than the last stage but one.
  ///   - newerStores: What is done with a store that is newer than the schema.
  /// - Throws: ``SwiftDataError/unknownSchema`` if the plan cannot be, or knows nothing of the schema;
  ///   ``SwiftDataError/unknownDataStoreSchema`` if it knows nothing of the store's;
  ///   ``SwiftDataError/backwardMigration`` if the store is newer than the schema, and no stages lead back;
  ///   ``SwiftDataError/migrationUnavailable`` if its stages do not lead from the one to the other.
  package init(
    from stored: StoredSchemaVersion?,
    to schema: Schema,
    plan: (any SchemaMigrationPlan.Type)?,
    entities: Set<String> = [],
    writtenWith written: Set<String>? = nil,
    current upToDate: Set<String>? = nil,
    newerStores: NewerStorePolicy = .refuse
  ) throws(SwiftDataError) {
    let current = StoredSchemaVersion(schema)
    isPlanned = plan != nil
    guard let plan else {
      way = stored == nil || stored?.checksum == current.checksum ? .none : .inferred
      guard let stored, stored != current else {
        target = current
        return
      }
      if schema.isVersioned {
        if schema.version < stored.version, newerStores == .refuse {
          throw .backwardMigration.explained(stored, isNewerThan: current)
        }
        target = current
      } else {
        target = stored.version == Schema.unversioned ? current : stored
      }
      return
    }
    let versions = try PlannedVersions(
      plan,
      for: schema,
      of: entities,
      writtenWith: written,
      takingAlong: upToDate
    )
    let isSilent = plan.stages.allSatisfy(\.isIdle)
    let end = try versions.position(of: schema)
    let newest = versions.stored(end, checksum: current.checksum)
    guard let stored else {
      way = .none
      target = newest
      return
    }
    do {
      let start = try versions.position(ofStore: stored, before: end)
      let steps = try versions.steps(from: start, of: stored, to: end)
      way = steps.isEmpty ? .none : .stages(steps)
      target = start > end && steps.isEmpty ? stored : newest
    } catch {
      let isLeftToStore =
        error == .backwardMigration
        ? newerStores == .takeBack
        : isSilent && [.unknownDataStoreSchema, .migrationUnavailable].contains(error)
      guard isLeftToStore else { throw error }
      way = .inferred
      target = newest
    }
  }
}
