public import ModelRuntime

extension ModelContainer {
  /// Opens the default store for models and everything they are related to.
  @available(*, deprecated, message: "list the models after for: and without brackets")
  public convenience init(_ types: [any PersistentModel.Type]) throws {
    try self.init(for: Schema(types), configurations: [] as [ModelConfiguration])
  }

  /// Opens the stores for models and everything they are related to.
  @available(*, deprecated, message: "list the models without brackets")
  public convenience init(
    for types: [any PersistentModel.Type],
    migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(for: Schema(types), migrationPlan: migrationPlan, configurations: configurations)
  }

  /// Opens the stores for a schema.
  @available(*, deprecated, message: "label the configurations: configurations:")
  public convenience init(
    for schema: Schema,
    migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    _ configuration: ModelConfiguration,
    _ others: ModelConfiguration...
  ) throws {
    try self.init(
      for: schema,
      migrationPlan: migrationPlan,
      configurations: [configuration] + others
    )
  }
}
