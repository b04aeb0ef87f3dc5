/// The versions an app's models went through, and how to get from each to the next.
public protocol SchemaMigrationPlan: SendableMetatype {
  /// The versions, the oldest first.
  static var schemas: [any VersionedSchema.Type] { get }
  /// The steps from one version to the next.
  static var stages: [MigrationStage] { get }
}
