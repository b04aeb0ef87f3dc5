/// One step of a migration plan.
public enum MigrationStage: Sendable {
  /// A step the framework takes by itself: properties that come, go, or are renamed.
  case lightweight(
    fromVersion: any VersionedSchema.Type,
    toVersion: any VersionedSchema.Type
  )
  /// A step with code before and after it: `willMigrate` sees the old models, `didMigrate` the new.
  @preconcurrency case custom(
    fromVersion: any VersionedSchema.Type,
    toVersion: any VersionedSchema.Type,
    willMigrate: (@Sendable (_ context: ModelContext) throws -> Void)?,
    didMigrate: (@Sendable (_ context: ModelContext) throws -> Void)?
  )
}
