import Foundation
import LogStore
import SwiftData
import Testing

// Plans as apps write them before, and without, a stage. The models of a version are changed and keep its number.

private enum Before: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Plant.self] }

  @Model final class Plant {
    var name: String
    var planted: Date = Date.distantPast
    init(_ name: String) { self.name = name }
  }
}

private enum After: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Plant.self, Bed.self] }

  @Model final class Plant {
    var name: String
    @Attribute(originalName: "planted") var date: Date = Date.distantPast
    var isThirsty = true
    var bed: Bed?
    init(_ name: String) { self.name = name }
  }
  @Model final class Bed {
    @Relationship(inverse: \Plant.bed) var plants: [Plant] = []
    init() {}
  }
}

private enum Later: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { After.models }
}

/// Of one version, whose models have changed.
private enum OnePlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [After.self] }
  static var stages: [MigrationStage] { [] }
}

/// Of two, with nothing said of the way.
private enum TwoPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Before.self, Later.self] }
  static var stages: [MigrationStage] { [] }
}

/// Of two that have one number.
private enum SharedPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Before.self, After.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: Before.self,
        toVersion: After.self,
        willMigrate: nil,
        didMigrate: { context in
          for plant in try context.fetch(FetchDescriptor<After.Plant>()) { plant.name += "!" }
        }
      )
    ]
  }
}

@Suite struct `A plan` {
  private func check(
    _ plan: any SchemaMigrationPlan.Type,
    _ version: any VersionedSchema.Type,
    _ name: String
  ) throws {
    let folder = try TemporaryFolder()
    let configuration = ModelConfiguration(url: folder.url.appending(path: "plants"))
    let date = Date(timeIntervalSinceReferenceDate: 1)
    do {
      let container = try ModelContainer(
        for: Schema(versionedSchema: Before.self),
        configurations: configuration
      )
      let context = ModelContext(container)
      let plant = Before.Plant("Fern")
      plant.planted = date
      context.insert(plant)
      try context.save()
    }
    for _ in 1...2 {
      let container = try ModelContainer(
        for: Schema(versionedSchema: version),
        migrationPlan: plan,
        configurations: configuration
      )
      let context = ModelContext(container)
      let plant = try #require(try context.fetch(FetchDescriptor<After.Plant>()).first)
      #expect(plant.name == name && plant.date == date && plant.isThirsty)
      if plant.bed == nil { plant.bed = After.Bed() }
      #expect(plant.bed?.plants == [plant])
      try context.save()
    }
  }

  @Test func `without stages brings a store in line whose models changed under their number`()
    throws
  {
    try check(OnePlan.self, After.self, "Fern")
  }

  @Test func `without stages brings a store in line with a later version`() throws {
    try check(TwoPlan.self, Later.self, "Fern")
  }

  @Test func `of two versions of one number runs the stage between them, once`() throws {
    try check(SharedPlan.self, After.self, "Fern!")
  }
}
