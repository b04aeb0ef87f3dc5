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
    #expect(try MigrationRoute(from: nil, to: v2, plan: Plan.self) == .none)
    #expect(try MigrationRoute(from: StoredSchemaVersion(v2), to: v2, plan: Plan.self) == .none)
    #expect(try MigrationRoute(from: nil, to: v2, plan: nil) == .none)
    #expect(try MigrationRoute(from: StoredSchemaVersion(v2), to: v2, plan: nil) == .none)
  }

  @Test func `goes by shape, not by number`() throws {
    // Made from types, as in ModelContainer(for: Item.self, migrationPlan: Plan.self).
    let unversioned = Schema([V2.Item.self])
    #expect(
      try MigrationRoute(from: StoredSchemaVersion(unversioned), to: v2, plan: Plan.self) == .none
    )
    #expect(try MigrationRoute(from: nil, to: unversioned, plan: Plan.self) == .none)
  }

  @Test func `is left to the store where there is no plan`() throws {
    #expect(try MigrationRoute(from: StoredSchemaVersion(v1), to: v2, plan: nil) == .inferred)
  }

  @Test func `cannot be gone yet if there are stages on it`() {
    let error = error(from: v1, to: v2, plan: Plan.self)
    #expect(error == .migrationUnavailable)
    #expect(error?.message.contains("from schema 1.0.0 (") == true)
    #expect(error?.message.contains("to 2.0.0 (") == true)
  }

  @Test func `cannot be gone backward`() {
    #expect(error(from: v3, to: v2, plan: Plan.self) == .backwardMigration)
    #expect(error(from: v2, to: v1, plan: Plan.self) == .backwardMigration)
  }

  @Test func `is unknown from a store, or to a schema, that the plan does not have`() {
    let other = Schema(Schema.Entity("Other"))
    #expect(error(from: other, to: v2, plan: Plan.self) == .unknownDataStoreSchema)
    #expect(error(from: nil, to: v3, plan: Plan.self) == .unknownSchema)
    #expect(
      error(from: nil, to: v3, plan: Plan.self)?.message.contains("no version of Plan") == true
    )
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
    enum Astray: SchemaMigrationPlan {
      static let schemas: [any VersionedSchema.Type] = [V1.self, V2.self]
      static let stages: [MigrationStage] = [
        .custom(fromVersion: V2.self, toVersion: V3.self, willMigrate: nil, didMigrate: nil)
      ]
    }
    for plan: any SchemaMigrationPlan.Type in [Empty.self, Reversed.self, Astray.self] {
      #expect(error(from: nil, to: v2, plan: plan) == .unknownSchema)
    }
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
    #expect(try MigrationRoute(from: StoredSchemaVersion(v2), to: v2, plan: Still.self) == .none)
  }
}
