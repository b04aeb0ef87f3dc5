import ModelRuntime
import Testing

@Suite struct `The way from a store to a schema` {
  enum V1: VersionedSchema {
    final class Item: Described, DescribedModel {
      class var schemaMetadata: [Schema.PropertyMetadata] { [] }
    }
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static let models: [any PersistentModel.Type] = [Item.self]
  }
  enum V2: VersionedSchema {
    final class Item: Described, DescribedModel {
      var name = ""
      class var schemaMetadata: [Schema.PropertyMetadata] { [.init("name", \Item.name)] }
    }
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static let models: [any PersistentModel.Type] = [Item.self]
  }
  enum V3: VersionedSchema {
    final class Item: Described, DescribedModel {
      var name: String?
      class var schemaMetadata: [Schema.PropertyMetadata] { [.init("name", \Item.name)] }
    }
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static let models: [any PersistentModel.Type] = [Item.self]
  }
  enum Plan: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [V1.self, V2.self]
    static let stages: [MigrationStage] = [
      .lightweight(fromVersion: V1.self, toVersion: V2.self)
    ]
  }

  enum Long: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [V1.self, V2.self, V3.self]
    static let stages: [MigrationStage] = [
      .lightweight(fromVersion: V2.self, toVersion: V3.self),
      .custom(fromVersion: V1.self, toVersion: V2.self, willMigrate: nil, didMigrate: nil),
    ]
  }

  let v1 = Schema(versionedSchema: V1.self)
  let v2 = Schema(versionedSchema: V2.self)
  let v3 = Schema(versionedSchema: V3.self)

  private func error(
    from stored: Schema?,
    to schema: Schema,
    plan: (any SchemaMigrationPlan.Type)?
  ) -> SwiftDataError? {
    do throws(SwiftDataError) {
      _ = try MigrationRoute(from: stored.map { StoredSchemaVersion($0) }, to: schema, plan: plan)
      return nil
    } catch {
      return error
    }
  }

  @Test func `is none for a new store, and for one of the newest version`() throws {
    #expect(try MigrationRoute(from: nil, to: v2, plan: Plan.self).way == .none)
    #expect(try MigrationRoute(from: StoredSchemaVersion(v2), to: v2, plan: Plan.self).way == .none)
    #expect(try MigrationRoute(from: nil, to: v2, plan: nil).way == .none)
    #expect(try MigrationRoute(from: StoredSchemaVersion(v2), to: v2, plan: nil).way == .none)
  }

  @Test func `goes by shape, not by number`() throws {
    // Made from types, as in ModelContainer(for: Item.self, migrationPlan: Plan.self).
    let unversioned = Schema([V2.Item.self])
    #expect(
      try MigrationRoute(from: StoredSchemaVersion(unversioned), to: v2, plan: Plan.self).way
        == .none
    )
    #expect(try MigrationRoute(from: nil, to: unversioned, plan: Plan.self).way == .none)
  }

  @Test func `is left to the store where there is no plan`() throws {
    #expect(try MigrationRoute(from: StoredSchemaVersion(v1), to: v2, plan: nil).way == .inferred)
  }

  @Test func `is the stages between the two, in order`() throws {
    func versions(_ stored: Schema, _ schema: Schema) throws -> [String] {
      let route = try MigrationRoute(
        from: StoredSchemaVersion(stored),
        to: schema,
        plan: Long.self
      )
      guard case .stages(let steps) = route.way else { return [] }
      return steps.map { "\($0.from.version) to \($0.to.version)" }
    }
    #expect(try versions(v1, v2) == ["1.0.0 to 2.0.0"])
    #expect(try versions(v2, v3) == ["2.0.0 to 3.0.0"])
    #expect(try versions(v1, v3) == ["1.0.0 to 2.0.0", "2.0.0 to 3.0.0"])
    #expect(try versions(v3, v3) == [])
  }

  @Test func `may skip a version with a stage of its own`() throws {
    enum Direct: SchemaMigrationPlan {
      static let schemas: [any VersionedSchema.Type] = [V1.self, V2.self, V3.self]
      static let stages: [MigrationStage] = [
        .lightweight(fromVersion: V1.self, toVersion: V3.self),
        .lightweight(fromVersion: V2.self, toVersion: V3.self),
      ]
    }
    for stored in [v1, v2] {
      let route = try MigrationRoute(
        from: StoredSchemaVersion(stored),
        to: v3,
        plan: Direct.self
      )
      guard case .stages(let steps) = route.way else {
        Issue.record("\(route.way)")
        continue
      }
      #expect(steps.map(\.from.version) == [stored.version])
    }
    // The stage that leads past the container's version is none that leads to it.
    #expect(error(from: v1, to: v2, plan: Direct.self) == .migrationUnavailable)
  }

  @Test func `cannot be gone where the stages do not join`() {
    enum Gap: SchemaMigrationPlan {
      static let schemas: [any VersionedSchema.Type] = [V1.self, V2.self, V3.self]
      static let stages: [MigrationStage] = [.lightweight(fromVersion: V1.self, toVersion: V2.self)]
    }
    let error = error(from: v1, to: v3, plan: Gap.self)
    #expect(error == .migrationUnavailable)
    #expect(error?.message.contains("no stage from V2 (2.0.0) on") == true)
    #expect(error?.message.contains("toVersion: V3.self") == true)
  }

  @Test func `ends at the number the plan gives the version, not at that of a list of types`()
    throws
  {
    let types = Schema([V2.Item.self])
    #expect(types.version == Schema.Version(1, 0, 0))
    let route = try MigrationRoute(from: nil, to: types, plan: Plan.self)
    #expect(route.target == StoredSchemaVersion(v2))
  }

  @Test func `cannot be gone backward`() {
    #expect(error(from: v3, to: v2, plan: Plan.self) == .backwardMigration)
    #expect(error(from: v2, to: v1, plan: Plan.self) == .backwardMigration)
  }

  @Test func `leads back by stages that say so, and to the number of the older version`() throws {
    enum Back: SchemaMigrationPlan {
      static let schemas: [any VersionedSchema.Type] = [V1.self, V2.self, V3.self]
      static let stages: [MigrationStage] = [
        .lightweight(fromVersion: V1.self, toVersion: V2.self),
        .lightweight(fromVersion: V2.self, toVersion: V1.self),
        .custom(fromVersion: V3.self, toVersion: V2.self, willMigrate: nil, didMigrate: nil),
      ]
    }
    func versions(_ stored: Schema, _ schema: Schema) throws -> [String] {
      let route = try MigrationRoute(from: StoredSchemaVersion(stored), to: schema, plan: Back.self)
      #expect(route.target == StoredSchemaVersion(schema))
      guard case .stages(let steps) = route.way else { return [] }
      return steps.map { "\($0.from.version) to \($0.to.version)" }
    }
    #expect(try versions(v2, v1) == ["2.0.0 to 1.0.0"])
    #expect(try versions(v3, v1) == ["3.0.0 to 2.0.0", "2.0.0 to 1.0.0"])
    #expect(try versions(v1, v2) == ["1.0.0 to 2.0.0"])
    #expect(error(from: v2, to: v3, plan: Back.self) == .migrationUnavailable)
    enum Half: SchemaMigrationPlan {
      static let schemas: [any VersionedSchema.Type] = [V1.self, V2.self, V3.self]
      static let stages: [MigrationStage] = [
        .lightweight(fromVersion: V3.self, toVersion: V2.self)
      ]
    }
    #expect(error(from: v3, to: v1, plan: Half.self) == .backwardMigration)
    #expect(error(from: v2, to: v1, plan: Half.self) == .backwardMigration)
  }

  @Test func `is unknown from a store, or to a schema, that the plan does not have`() {
    let other = Schema(Schema.Entity("Other"))
    #expect(error(from: other, to: v2, plan: Plan.self) == .unknownDataStoreSchema)
    #expect(error(from: nil, to: v3, plan: Plan.self) == .unknownSchema)
    #expect(
      error(from: nil, to: v3, plan: Plan.self)?.message.contains("no version of Plan") == true
    )
  }

  @Test func `leads through versions that only the stages of a plan name`() throws {
    enum LastOnly: SchemaMigrationPlan {
      static let schemas: [any VersionedSchema.Type] = [V3.self]
      static let stages: [MigrationStage] = [
        .custom(fromVersion: V2.self, toVersion: V3.self, willMigrate: nil, didMigrate: nil),
        .lightweight(fromVersion: V1.self, toVersion: V2.self),
      ]
    }
    func versions(_ stored: Schema?, _ schema: Schema) throws -> [String] {
      let route = try MigrationRoute(
        from: stored.map(StoredSchemaVersion.init),
        to: schema,
        plan: LastOnly.self
      )
      guard case .stages(let steps) = route.way else { return [] }
      return steps.map { "\($0.from.version) to \($0.to.version)" }
    }
    #expect(try versions(v1, v3) == ["1.0.0 to 2.0.0", "2.0.0 to 3.0.0"])
    #expect(try versions(v2, v3) == ["2.0.0 to 3.0.0"])
    #expect(try versions(nil, v3) == [])
    #expect(try versions(v1, v2) == ["1.0.0 to 2.0.0"])
    #expect(error(from: v3, to: v2, plan: LastOnly.self) == .backwardMigration)
  }

  @Test func `cannot be found by a plan that makes no sense`() {
    enum Empty: SchemaMigrationPlan {
      static let schemas: [any VersionedSchema.Type] = []
      static let stages: [MigrationStage] = []
    }
    enum Reversed: SchemaMigrationPlan {
      static let schemas: [any VersionedSchema.Type] = [V2.self, V1.self]
      static let stages: [MigrationStage] = []
    }
    enum V2Again: VersionedSchema {
      static let versionIdentifier = Schema.Version(2, 0, 0)
      static let models = V2.models
    }
    enum Twice: SchemaMigrationPlan {
      static let schemas: [any VersionedSchema.Type] = [V2.self, V2Again.self]
      static let stages: [MigrationStage] = []
    }
    for plan: any SchemaMigrationPlan.Type in [
      Empty.self, Reversed.self, Twice.self,
    ] {
      #expect(error(from: nil, to: v2, plan: plan) == .unknownSchema)
    }
    #expect(
      error(from: nil, to: v2, plan: Twice.self)?.message.contains(
        "has version 2.0.0 (V2Again) after 2.0.0 (V2), which has the same models"
      ) == true
    )
  }

  enum Silent: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [V1.self, V2.self, V3.self]
    static let stages: [MigrationStage] = []
  }
  /// As an app's first plan is often copied.
  enum Idle: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [V1.self, V2.self, V3.self]
    static let stages: [MigrationStage] = [
      .lightweight(fromVersion: V1.self, toVersion: V1.self),
      .custom(fromVersion: V3.self, toVersion: V3.self, willMigrate: nil, didMigrate: { _ in }),
    ]
  }
  enum Quietness: CaseIterable {
    case withoutStages, fromVersionsToThemselves
    var plan: any SchemaMigrationPlan.Type { self == .withoutStages ? Silent.self : Idle.self }
  }

  @Test(arguments: Quietness.allCases)
  func `is left to the store by a plan without stages, whatever the store was`(
    quietness: Quietness
  ) throws {
    let plan = quietness.plan
    // The models of a version, before they were changed without another number.
    let former = Schema(Schema.Entity("Other"))
    for stored in [v1, v2, former] {
      let route = try MigrationRoute(from: StoredSchemaVersion(stored), to: v3, plan: plan)
      #expect(route.way == .inferred)
      #expect(route.target == StoredSchemaVersion(v3))
    }
    let route = try MigrationRoute(from: StoredSchemaVersion(v3), to: v3, plan: plan)
    #expect(route.way == .none)
    #expect(error(from: v3, to: v2, plan: plan) == .backwardMigration)
    let later = Schema(Schema.Entity("Other"), version: Schema.Version(4, 0, 0))
    #expect(error(from: later, to: v3, plan: plan) == .backwardMigration)
  }

  @Test func `may pass versions of one number and two shapes`() throws {
    enum Again: VersionedSchema {
      static let versionIdentifier = Schema.Version(2, 0, 0)
      static let models = V3.models
    }
    enum Shared: SchemaMigrationPlan {
      static let schemas: [any VersionedSchema.Type] = [V1.self, V2.self, Again.self]
      static let stages: [MigrationStage] = [
        .lightweight(fromVersion: V1.self, toVersion: V2.self),
        .custom(fromVersion: V2.self, toVersion: Again.self, willMigrate: nil, didMigrate: nil),
      ]
    }
    let again = Schema(versionedSchema: Again.self)
    func count(_ stored: Schema, _ schema: Schema) throws -> Int {
      let route = try MigrationRoute(
        from: StoredSchemaVersion(stored),
        to: schema,
        plan: Shared.self
      )
      guard case .stages(let steps) = route.way else { return 0 }
      return steps.count
    }
    #expect(try count(v1, again) == 2)
    #expect(try count(v2, again) == 1)
    #expect(try count(again, again) == 0)
    #expect(try count(v1, v2) == 1)
    #expect(try count(v1, Schema([V3.Item.self])) == 2)
    #expect(error(from: again, to: v2, plan: Shared.self) == .backwardMigration)
  }

  /// A version like the second one, with an entity more.
  enum Labelled: VersionedSchema {
    final class Label: Described, DescribedModel {
      class var schemaMetadata: [Schema.PropertyMetadata] { [] }
    }
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static let models: [any PersistentModel.Type] = [V2.Item.self, Label.self]
  }
  enum Labelling: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [V1.self, V2.self, Labelled.self]
    static let stages: [MigrationStage] = [
      .lightweight(fromVersion: V1.self, toVersion: V2.self),
      .custom(
        fromVersion: V2.self,
        toVersion: Labelled.self,
        willMigrate: nil,
        didMigrate: { _ in }
      ),
    ]
  }

  @Test func `is refused where a part of the models is the same in two versions of one number`() {
    let items = Schema([V2.Item.self], version: V2.versionIdentifier)
    for stored in [v1, items] {
      let error = error(from: stored, to: items, plan: Labelling.self)
      #expect(error == .unknownSchema)
      #expect(
        error?.message.contains(
          "Labelling runs code between V2 and Labelled, which have one number, 2.0.0, and the same models in this "
            + "store (Item): it could not tell whether the code has run. Give Labelled a number of its own"
        ) == true
      )
    }
    // The version before them is no question.
    #expect(error(from: v1, to: v1, plan: Labelling.self) == nil)
  }

  @Test func `passes two versions of one number that a part does not tell apart, without code`()
    throws
  {
    enum Quiet: SchemaMigrationPlan {
      static let schemas: [any VersionedSchema.Type] = [V1.self, V2.self, Labelled.self]
      static let stages: [MigrationStage] = [
        .lightweight(fromVersion: V1.self, toVersion: V2.self),
        .custom(fromVersion: V2.self, toVersion: Labelled.self, willMigrate: nil, didMigrate: nil),
      ]
    }
    let items = Schema([V2.Item.self], version: V2.versionIdentifier)
    #expect(error(from: v1, to: items, plan: Quiet.self) == nil)
    #expect(
      try MigrationRoute(from: StoredSchemaVersion(items), to: items, plan: Quiet.self).way == .none
    )
  }

  @Test func `tells two versions of one number apart by an entity that the store gets`() throws {
    let labelled = Schema(versionedSchema: Labelled.self)
    func count(_ stored: Schema, _ entities: Set<String>) throws -> Int {
      let route = try MigrationRoute(
        from: StoredSchemaVersion(stored),
        to: labelled,
        plan: Labelling.self,
        entities: entities
      )
      guard case .stages(let steps) = route.way else { return 0 }
      return steps.count
    }
    #expect(try count(v2, ["Item"]) == 1)
    #expect(try count(labelled, ["Item", "Label"]) == 0)
  }

  @Test func `has no use for a stage from a version to itself`() throws {
    enum Mixed: SchemaMigrationPlan {
      static let schemas: [any VersionedSchema.Type] = [V1.self, V2.self]
      static let stages: [MigrationStage] = [
        .custom(fromVersion: V1.self, toVersion: V1.self, willMigrate: nil, didMigrate: nil),
        .lightweight(fromVersion: V1.self, toVersion: V2.self),
      ]
    }
    let route = try MigrationRoute(from: StoredSchemaVersion(v1), to: v2, plan: Mixed.self)
    guard case .stages(let steps) = route.way else {
      Issue.record("\(route.way)")
      return
    }
    #expect(steps.map(\.to.version) == [v2.version])
  }

  @Test func `may pass versions of one shape`() throws {
    enum V2Again: VersionedSchema {
      static let versionIdentifier = Schema.Version(2, 1, 0)
      static let models = V2.models
    }
    enum Still: SchemaMigrationPlan {
      static let schemas: [any VersionedSchema.Type] = [V2.self, V2Again.self]
      static let stages: [MigrationStage] = []
    }
    #expect(
      try MigrationRoute(from: StoredSchemaVersion(v2), to: v2, plan: Still.self).way == .none
    )
  }

  /// Without a number a schema is 1.0.0, as the first version of most plans.
  @Test func `takes a schema without a number for the newest version of its shape`() throws {
    enum Again: VersionedSchema {
      static let versionIdentifier = Schema.Version(3, 0, 0)
      static let models = V1.models
    }
    enum Returning: SchemaMigrationPlan {
      static let schemas: [any VersionedSchema.Type] = [V1.self, V2.self, Again.self]
      static let stages: [MigrationStage] = [
        .lightweight(fromVersion: V1.self, toVersion: V2.self),
        .lightweight(fromVersion: V2.self, toVersion: Again.self),
      ]
    }
    #expect(v1.version == Schema.unversioned)
    for (stored, count) in [(v1, 2), (v2, 1)] {
      let route = try MigrationRoute(
        from: StoredSchemaVersion(stored),
        to: Schema(V1.models),
        plan: Returning.self
      )
      guard case .stages(let steps) = route.way else {
        Issue.record("\(route.way)")
        continue
      }
      #expect(steps.count == count)
    }
  }

  @Test func `tells versions of one shape apart by their numbers`() throws {
    enum Cleaned: VersionedSchema {
      static let versionIdentifier = Schema.Version(2, 1, 0)
      static let models = V2.models
    }
    enum Cleaning: SchemaMigrationPlan {
      static let schemas: [any VersionedSchema.Type] = [V1.self, V2.self, Cleaned.self]
      static let stages: [MigrationStage] = [
        .lightweight(fromVersion: V1.self, toVersion: V2.self),
        .custom(fromVersion: V2.self, toVersion: Cleaned.self, willMigrate: nil, didMigrate: nil),
      ]
    }
    func count(_ stored: Schema, _ schema: Schema) throws -> Int {
      let route = try MigrationRoute(
        from: StoredSchemaVersion(stored),
        to: schema,
        plan: Cleaning.self
      )
      guard case .stages(let steps) = route.way else { return 0 }
      return steps.count
    }
    let cleaned = Schema(versionedSchema: Cleaned.self)
    #expect(try count(v1, cleaned) == 2)
    #expect(try count(v2, cleaned) == 1)
    #expect(try count(cleaned, cleaned) == 0)
    // The newest of them is meant by a schema that has no number of the plan's.
    #expect(try count(v2, Schema([V2.Item.self])) == 1)
    // A store from before there was a plan counts as the oldest of them.
    #expect(try count(Schema([V2.Item.self]), cleaned) == 1)
    // Nothing is different for an app that has not come that far.
    #expect(try count(cleaned, v2) == 0)
  }
}
