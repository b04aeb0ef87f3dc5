public import ModelRuntime

// The initializers that may be given no configuration at all: they are here because the default
// store is known here.

extension ModelContainer {
  /// Opens the stores for models and everything they are related to.
  ///
  /// - Parameters:
  ///   - forTypes: The model classes.
  ///   - migrationPlan: The plan by which stores of earlier versions become current.
  ///   - configurations: The stores; without any, one in the platform's folder for application data.
  /// - Throws: ``/ModelRuntime/SwiftDataError`` for models that make no schema, ``LogStoreError`` for a store that
  ///   cannot be opened.
  public convenience init(
    for forTypes: any PersistentModel.Type...,
    migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(
      for: Schema(forTypes),
      migrationPlan: migrationPlan,
      configurations: orDefault(configurations)
    )
  }

  /// Opens the stores for a schema.
  ///
  /// - Parameters:
  ///   - givenSchema: The models of the container.
  ///   - migrationPlan: The plan by which stores of earlier versions become current.
  ///   - configurations: The stores; without any, one in the platform's folder for application data.
  /// - Throws: As ``init(for:migrationPlan:configurations:)``.
  public convenience init(
    for givenSchema: Schema,
    migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(
      for: givenSchema,
      migrationPlan: migrationPlan,
      configurations: orDefault(configurations)
    )
  }

  /// Opens the stores for a schema; an empty list means the default store.
  ///
  /// - Parameters:
  ///   - givenSchema: The models of the container.
  ///   - migrationPlan: The plan by which stores of earlier versions become current.
  ///   - configurations: The stores.
  /// - Throws: As ``init(for:migrationPlan:configurations:)``.
  public convenience init(
    for givenSchema: Schema,
    migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: [ModelConfiguration]
  ) throws {
    let stores: [any DataStoreConfiguration] = orDefault(configurations)
    try self.init(for: givenSchema, migrationPlan: migrationPlan, configurations: stores)
  }

  /// Opens stores of any kind for models and everything they are related to.
  ///
  /// - Parameters:
  ///   - forTypes: The model classes.
  ///   - migrationPlan: The plan by which stores of earlier versions become current.
  ///   - configurations: The stores.
  /// - Throws: ``/ModelRuntime/SwiftDataError`` for models that make no schema, otherwise what a store throws.
  public convenience init(
    for forTypes: any PersistentModel.Type...,
    migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: any DataStoreConfiguration...
  ) throws {
    try self.init(
      for: Schema(forTypes),
      migrationPlan: migrationPlan,
      configurations: configurations
    )
  }

  /// Opens stores of any kind for a schema.
  ///
  /// - Parameters:
  ///   - givenSchema: The models of the container.
  ///   - migrationPlan: The plan by which stores of earlier versions become current.
  ///   - configurations: The stores.
  /// - Throws: ``/ModelRuntime/SwiftDataError`` for a schema that cannot be, otherwise what a store throws.
  public convenience init(
    for givenSchema: Schema,
    migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: any DataStoreConfiguration...
  ) throws {
    try self.init(
      for: givenSchema,
      migrationPlan: migrationPlan,
      configurations: configurations
    )
  }
}

/// The configurations, or the default one if there are none.
private func orDefault(_ configurations: [ModelConfiguration]) -> [any DataStoreConfiguration] {
  configurations.isEmpty ? [ModelConfiguration()] : configurations
}
