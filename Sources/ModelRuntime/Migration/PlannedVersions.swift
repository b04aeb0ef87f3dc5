/// The versions of a plan as one store sees them.
///
/// A store that keeps only some of a container's entities knows each version by these alone.
struct PlannedVersions {
  private let plan: any SchemaMigrationPlan.Type
  private let versions: [Version]
  /// Whether the store keeps all entities of its container.
  private let isWhole: Bool
  /// The names of the schema's entities, of the store's, and of those of the store whose rows stages take along.
  private let names: Set<String>
  private let storedNames: Set<String>
  private let namesTakenAlong: Set<String>?

  private struct Version {
    let type: any VersionedSchema.Type
    let whole: Schema
    /// The entities that have names of the schema's.
    let part: Schema
    /// The entities that have names of the schema's or of the store's, which may keep what the schema has no more.
    let former: Schema
    let checksums: Set<UInt64>
    /// The names of the entities that the store has so far.
    let storedNames: Set<String>
    var number: Schema.Version { whole.version }

    func has(_ checksum: UInt64) -> Bool { checksums.contains(checksum) }
    /// Whether a store was written with this version, or a part of it.
    func wrote(_ checksum: UInt64) -> Bool {
      has(checksum) || SchemaParts(whole, of: storedNames).contains(checksum)
    }
  }

  /// Reads a plan.
  ///
  /// - Parameters:
  ///   - plan: The plan.
  ///   - schema: The schema of the store, in one of the versions.
  ///   - entities: The names of the entities that the store has so far.
  ///   - written: The names of those that it was written with last; `nil` if it does not say.
  ///   - current: The names of those that stages take along also if the schema lacks them; `nil` if only those before the last.
  /// - Throws: ``SwiftDataError/unknownSchema`` if it makes no sense: without versions, two of one number and one
  ///   shape, or in another order than by number; or if the store could not tell whether a stage of it has run.
  init(
    _ plan: any SchemaMigrationPlan.Type,
    for schema: Schema,
    of entities: Set<String>,
    writtenWith written: Set<String>? = nil,
    takingAlong current: Set<String>?
  ) throws(SwiftDataError) {
    self.plan = plan
    let names = Set(schema.entities.map(\.name))
    self.names = names
    storedNames = entities
    namesTakenAlong = current
    var versions: [Version] = []
    for type in plan.versions {
      let whole = Schema(versionedSchema: type)
      try whole.validate()
      if let last = versions.last, last.number > whole.version {
        throw .unknownSchema.explained(
          "\(plan) has version \(whole.version) (\(type)) after \(last.number) (\(last.type)); "
            + "expected the oldest first"
        )
      }
      if let same = versions.first(where: {
        $0.number == whole.version && $0.whole.checksum == whole.checksum
      }) {
        throw .unknownSchema.explained(
          "\(plan) has version \(whole.version) (\(type)) after \(same.number) (\(same.type)), which has the "
            + "same models; expected another number or another shape, by which they could be told apart"
        )
      }
      let part = PlannedVersions.part(of: whole, named: names)
      let former = PlannedVersions.part(of: whole, named: names.union(entities))
      let stored = PlannedVersions.part(of: whole, named: entities)
      let last = written.map { PlannedVersions.part(of: whole, named: $0) }
      versions.append(
        Version(
          type: type,
          whole: whole,
          part: part,
          former: former,
          checksums: Set(
            [whole, part, former, stored, last].compactMap(\.self).map(\.checksum)
          ),
          storedNames: entities
        )
      )
    }
    guard !versions.isEmpty else { throw .unknownSchema.explained("\(plan) lists no versions") }
    self.versions = versions
    let current = schema.checksum
    isWhole = versions.contains { $0.whole.checksum == current }
    try checkNumbers(upTo: try position(of: schema), current)
  }

  /// The entities of a version that have some names, or all if it has none of these.
  private static func part(of version: Schema, named names: Set<String>) -> Schema {
    let types = version.entities.filter { names.contains($0.name) }.compactMap(\.modelType)
    guard !types.isEmpty, types.count < version.entities.count else { return version }
    return Schema(types, of: version)
  }

  /// Makes sure that the store can tell whether code of the plan has run: it remembers a number, and the shape of what it
  /// keeps, which may be the same before and after a stage that changes entities of other stores.
  private func checkNumbers(upTo end: Int, _ current: UInt64) throws(SwiftDataError) {
    for (later, version) in versions.enumerated()
    where version.number <= versions[end].number && version.whole.checksum != current {
      let earlier = versions[..<later].firstIndex {
        $0.number == version.number && $0.part.checksum == version.part.checksum
      }
      guard let earlier, runsCode(between: earlier, and: later) else { continue }
      throw .unknownSchema.explained(
        "\(plan) runs code between \(versions[earlier].type) and \(version.type), which have one number, "
          + "\(version.number), and the same models in this store (\(names(of: version.part))): it could not tell "
          + "whether the code has run. Give \(version.type) a number of its own"
      )
    }
  }

  private func runsCode(between start: Int, and end: Int) -> Bool {
    plan.stages.contains { stage in
      guard stage.runsCode, let from = position(of: stage.fromVersion),
        let to = position(of: stage.toVersion)
      else { return false }
      return from != to && start <= min(from, to) && max(from, to) <= end
    }
  }

  private func names(of schema: Schema) -> String {
    schema.entities.map(\.name).sorted().joined(separator: ", ")
  }

  private func position(of type: any VersionedSchema.Type) -> Int? {
    versions.firstIndex { ObjectIdentifier($0.type) == ObjectIdentifier(type) }
  }

  private var list: String {
    versions.map { "\(StoredSchemaVersion($0.whole))" }.joined(separator: ", ")
  }
}

// MARK: Recognising versions

extension PlannedVersions {
  /// The version that a schema is: the one with its number, or with its classes, or the newest of its shape.
  func position(of schema: Schema) throws(SwiftDataError) -> Int {
    let current = StoredSchemaVersion(schema)
    let alike = versions.indices.filter { versions[$0].has(current.checksum) }
    guard let newest = alike.last else {
      throw .unknownSchema.explained(
        "the schema \(current) matches no version of \(plan): \(list)"
      )
    }
    let numbered = schema.isVersioned ? alike.filter { versions[$0].number == schema.version } : []
    let own = schema.isVersioned ? [] : alike.filter { versions[$0].whole.hasClasses(of: schema) }
    let fitting = [numbered, own].first { !$0.isEmpty } ?? alike
    // A version that has just these entities, else one that has no others of the store's.
    return fitting.last { versions[$0].whole.checksum == current.checksum }
      ?? fitting.last { versions[$0].former.checksum == current.checksum } ?? fitting.last ?? newest
  }

  /// The version that a store was written with.
  ///
  /// - Throws: If it is none, ``SwiftDataError/backwardMigration`` if its number is higher than that of the one it is to
  ///   become, else ``SwiftDataError/unknownDataStoreSchema``.
  func position(ofStore stored: StoredSchemaVersion, before end: Int) throws(SwiftDataError) -> Int
  {
    var alike = versions.indices.filter { versions[$0].has(stored.checksum) }
    // The models that wrote it last need be neither all that it has nor those of this opening.
    if alike.isEmpty { alike = versions.indices.filter { versions[$0].wrote(stored.checksum) } }
    let numbered = alike.filter { versions[$0].number == stored.version }
    // Of several, one that has just these entities, rather than one that has others, too.
    let exact = numbered.filter {
      [versions[$0].whole.checksum, versions[$0].part.checksum].contains(stored.checksum)
    }
    // Several are left only if they differ in entities that the store does not keep: it is any of them.
    let fitting = exact.isEmpty ? numbered : exact
    let start = fitting.last { $0 <= end } ?? fitting.first ?? alike.first
    guard let start else {
      if stored.version > versions[end].number { throw backward(stored, end) }
      throw .unknownDataStoreSchema.explained(
        "the store was written with schema \(stored), which is not a version of \(plan): \(list). "
          + "Add that version, as it was, to the plan, with a stage from it to the next one"
      )
    }
    return start
  }

  private func backward(_ stored: StoredSchemaVersion, _ end: Int) -> SwiftDataError {
    .backwardMigration.explained(stored, isNewerThan: StoredSchemaVersion(versions[end].whole))
  }

  /// What a store of a version remembers.
  func stored(_ position: Int, checksum: UInt64) -> StoredSchemaVersion {
    StoredSchemaVersion(version: versions[position].number, checksum: checksum)
  }
}

// MARK: The stages between them

extension PlannedVersions {
  /// The stages that lead from the version of a store to another one; none if that is older, and of the same shape.
  ///
  /// - Throws: ``SwiftDataError/migrationUnavailable`` if there is a gap between them;
  ///   ``SwiftDataError/backwardMigration`` if the store is newer, and no stages lead back.
  func steps(
    from start: Int,
    of stored: StoredSchemaVersion,
    to end: Int
  ) throws(SwiftDataError) -> [MigrationStep] {
    var steps: [MigrationStep] = []
    var here = start
    while here != end {
      let neighbour = here < end ? here + 1 : here - 1
      if let (stage, next) = stage(from: here, toward: end) {
        let step = step(stage, from: here, to: next, in: end)
        if next < here { try step.checkRenaming() }
        steps.append(step)
        here = next
      } else if versions[here].whole.checksum == versions[neighbour].whole.checksum {
        // Nothing is different, and nothing is said of the way: there is nothing to be done.
        here = neighbour
      } else if here < end {
        throw gap(behind: here, before: end)
      } else if versions[end].wrote(stored.checksum) {
        return []
      } else {
        throw backward(stored, end)
      }
    }
    return steps
  }

  private func step(
    _ stage: MigrationStage,
    from start: Int,
    to next: Int,
    in end: Int
  ) -> MigrationStep {
    MigrationStep(
      stage: stage,
      from: schema(of: start, in: end),
      to: schema(of: next, in: end),
      namesAfterwards: Set(versions[next].whole.entities.map(\.name))
    )
  }

  private func gap(behind here: Int, before end: Int) -> SwiftDataError {
    .migrationUnavailable.explained(
      "\(plan) has no stage from \(versions[here].type) (\(versions[here].number)) on, which the store "
        + "needs to become \(versions[end].type) (\(versions[end].number)): add one to its stages, "
        + "say .lightweight(fromVersion: \(versions[here].type).self, "
        + "toVersion: \(versions[here + 1].type).self)"
    )
  }

  /// What the store keeps of a version.
  ///
  /// That is what its schema has, what the last version has no more, and what other stores keep meanwhile: the rows of that may
  /// come back, and then are as the last version has them.
  private func schema(of position: Int, in end: Int) -> Schema {
    if isWhole { return versions[position].whole }
    guard let namesTakenAlong else {
      return position == end ? versions[position].part : versions[position].former
    }
    let lasting = Set(versions[end].whole.entities.map(\.name))
    let others = storedNames.filter { !lasting.contains($0) || namesTakenAlong.contains($0) }
    return PlannedVersions.part(of: versions[position].whole, named: names.union(others))
  }

  private func stage(from here: Int, toward end: Int) -> (MigrationStage, Int)? {
    let way = here < end ? here + 1...end : end...here - 1
    for stage in plan.stages where position(of: stage.fromVersion) == here {
      if let next = position(of: stage.toVersion), way.contains(next) { return (stage, next) }
    }
    return nil
  }
}

extension SchemaMigrationPlan {
  /// The versions that the plan lists, and, in the order of their numbers, those that only its stages name.
  static var versions: [any VersionedSchema.Type] {
    var versions = schemas
    func add(_ type: any VersionedSchema.Type, beforeEqual: Bool) {
      if versions.contains(where: { ObjectIdentifier($0) == ObjectIdentifier(type) }) { return }
      let number = type.versionIdentifier
      let place = versions.firstIndex {
        $0.versionIdentifier > number || beforeEqual && $0.versionIdentifier == number
      }
      versions.insert(type, at: place ?? versions.count)
    }
    for stage in stages {
      add(stage.toVersion, beforeEqual: false)
      add(stage.fromVersion, beforeEqual: true)
    }
    return versions
  }
}

extension SwiftDataError {
  /// Says which version a store has, which one it was opened with, and what to do.
  func explained(
    _ stored: StoredSchemaVersion,
    isNewerThan schema: StoredSchemaVersion
  ) -> SwiftDataError {
    explained(
      "the store was written with schema \(stored), newer than \(schema): open it with the newer program, or, "
        + "to take it back to the older version, set newerStores of the configuration to .takeBack"
    )
  }
}
