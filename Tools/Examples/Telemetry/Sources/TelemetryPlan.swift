import SwiftData

/// The migration of a store of the first release to today's models.
enum TelemetryPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [TelemetryV1.self, TelemetryV2.self] }
  static var stages: [MigrationStage] { [v1ToV2] }

  // New and renamed properties need no code. The old readings that were alarms have to be computed.
  static let v1ToV2 = MigrationStage.custom(
    fromVersion: TelemetryV1.self,
    toVersion: TelemetryV2.self,
    willMigrate: nil,
    didMigrate: { context in
      let limit = TelemetryV2.Device.defaultLimit
      let high = FetchDescriptor<TelemetryV2.Reading>(predicate: #Predicate { $0.value > limit })
      var changed = 0
      try context.enumerate(high, allowEscapingMutations: true) { reading in
        reading.isAlarm = true
        changed += 1
        // Keeps the memory bounded, however many there are.
        if changed.isMultiple(of: 10_000) { try context.save() }
      }
      try context.save()
    }
  )
}

extension ModelContainer {
  /// Opens the service's store, and migrates one of an older release.
  ///
  /// - Parameters:
  ///   - url: The store's folder; `nil` for a store in memory.
  ///   - days: The number of days that readings are kept, from their time on; in memory, until the service ends.
  /// - Returns: The container, with today's models.
  /// - Throws: What opening a store throws: it is in use, its disk fails, or a newer release has migrated it.
  static func telemetry(at url: URL?, keeping days: Int = 90) throws -> ModelContainer {
    let configuration: any DataStoreConfiguration =
      if let url {
        LogStoreConfiguration(
          "telemetry",
          url: url,
          durability: .relaxed,
          expirations: [.init(Reading.self, after: .seconds(days * 86_400), since: \.time)]
        )
      } else {
        ModelConfiguration(isStoredInMemoryOnly: true)
      }
    return try ModelContainer(
      for: Schema(versionedSchema: TelemetryV2.self),
      migrationPlan: TelemetryPlan.self,
      configurations: [configuration]
    )
  }
}
