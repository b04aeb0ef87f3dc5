import Foundation
import LogStore
import SwiftData
import Testing

enum LanternsV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static let models: [any PersistentModel.Type] = [Lantern.self]

  @Model final class Lantern {
    @Attribute(.unique) var name: String
    var isLit = false

    init(_ name: String) { self.name = name }
  }
}

enum LanternsV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static let models: [any PersistentModel.Type] = [Lantern.self, Shelf.self]

  @Model final class Lantern {
    @Attribute(.unique) var name: String
    @Attribute(originalName: "isLit") var isBurning = false
    var oil = 1
    var shelf: Shelf?

    init(_ name: String) { self.name = name }
  }

  @Model final class Shelf {
    @Relationship(inverse: \Lantern.shelf) var lanterns: [Lantern] = []

    init() {}
  }
}

/// A version in which nothing has another name than in the first.
enum LanternsV3: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static let models: [any PersistentModel.Type] = [Lantern.self]

  @Model final class Lantern {
    @Attribute(.unique) var name: String
    var isLit = false
    var wick: String?

    init(_ name: String) { self.name = name }
  }
}

private enum Upgrade: SchemaMigrationPlan {
  static let schemas: [any VersionedSchema.Type] = [LanternsV1.self, LanternsV2.self]
  static let stages: [MigrationStage] = [
    .lightweight(fromVersion: LanternsV1.self, toVersion: LanternsV2.self)
  ]
}

private enum Downgrade: SchemaMigrationPlan {
  static let schemas = Upgrade.schemas
  static let stages: [MigrationStage] = [
    .custom(
      fromVersion: LanternsV2.self,
      toVersion: LanternsV1.self,
      willMigrate: { context in
        let burning = #Predicate<LanternsV2.Lantern> { $0.isBurning }
        for lantern in try context.fetch(FetchDescriptor(predicate: burning)) {
          lantern.name += "!"
        }
      },
      didMigrate: { context in
        for lantern in try context.fetch(FetchDescriptor<LanternsV1.Lantern>())
        where lantern.name.hasSuffix("!") {
          lantern.name.removeLast()
          lantern.isLit = true
        }
      }
    )
  ]
}

@Suite struct `A store whose plan leads back to an older version` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(
    _ version: any VersionedSchema.Type,
    _ plan: (any SchemaMigrationPlan.Type)?
  ) throws -> ModelContext {
    let url = folder.url.appending(path: "lanterns.store")
    return ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: version),
        migrationPlan: plan,
        configurations: [LogStoreConfiguration(url: url, durability: .relaxed)]
      )
    )
  }

  /// Writes a store of the second version.
  private func write() throws {
    let context = try open(LanternsV2.self, Upgrade.self)
    let (hall, yard) = (LanternsV2.Lantern("hall"), LanternsV2.Lantern("yard"))
    hall.isBurning = true
    let shelf = LanternsV2.Shelf()
    context.insert(shelf)
    shelf.lanterns = [hall, yard]
    try context.save()
  }

  @Test func `runs the stage, once, and is of the older version from then on`() throws {
    try write()
    for plan: (any SchemaMigrationPlan.Type)? in [Downgrade.self, Downgrade.self, nil] {
      let lanterns = try open(LanternsV1.self, plan).fetch(
        FetchDescriptor<LanternsV1.Lantern>(sortBy: [SortDescriptor(\.name)])
      )
      #expect(lanterns.map(\.name) == ["hall", "yard"])
      #expect(lanterns.map(\.isLit) == [true, false])
    }
  }

  @Test func `begins anew with what the older version lacks when it is upgraded again`() throws {
    try write()
    _ = try open(LanternsV1.self, Downgrade.self)
    let context = try open(LanternsV2.self, Upgrade.self)
    let lanterns = try context.fetch(
      FetchDescriptor<LanternsV2.Lantern>(sortBy: [SortDescriptor(\.name)])
    )
    #expect(lanterns.map(\.isBurning) == [true, false])
    #expect(lanterns.allSatisfy { $0.shelf == nil })
    #expect(try context.fetchCount(FetchDescriptor<LanternsV2.Shelf>()) == 0)
  }

  @Test func `is as it was if the stage throws`() throws {
    struct Refusal: Error {}
    enum Refusing: SchemaMigrationPlan {
      static let schemas = Upgrade.schemas
      static let stages: [MigrationStage] = [
        .custom(
          fromVersion: LanternsV2.self,
          toVersion: LanternsV1.self,
          willMigrate: nil,
          didMigrate: { _ in throw Refusal() }
        )
      ]
    }
    try write()
    let error = #expect(throws: SwiftDataError.self) {
      try open(LanternsV1.self, Refusing.self)
    }
    #expect(error == .loadIssueModelContainer)
    let context = try open(LanternsV2.self, Upgrade.self)
    #expect(try context.fetch(FetchDescriptor<LanternsV2.Shelf>()).first?.lanterns.count == 2)
  }

  @Test func `goes back without code where nothing was renamed`() throws {
    enum Plain: SchemaMigrationPlan {
      static let schemas: [any VersionedSchema.Type] = [LanternsV1.self, LanternsV3.self]
      static let stages: [MigrationStage] = [
        .lightweight(fromVersion: LanternsV3.self, toVersion: LanternsV1.self)
      ]
    }
    try {
      let context = try open(LanternsV3.self, Plain.self)
      let lantern = LanternsV3.Lantern("hall")
      (lantern.isLit, lantern.wick) = (true, "short")
      context.insert(lantern)
      try context.save()
    }()
    let lanterns = try open(LanternsV1.self, Plain.self).fetch(
      FetchDescriptor<LanternsV1.Lantern>()
    )
    #expect(lanterns.map(\.isLit) == [true])
    #expect(try open(LanternsV1.self, nil).fetchCount(FetchDescriptor<LanternsV1.Lantern>()) == 1)
  }

  @Test func `is not taken back without code where values of a renamed property would go`() throws {
    enum Losing: SchemaMigrationPlan {
      static let schemas = Upgrade.schemas
      static let stages: [MigrationStage] = [
        .lightweight(fromVersion: LanternsV2.self, toVersion: LanternsV1.self)
      ]
    }
    try write()
    let error = #expect(throws: SwiftDataError.self) {
      try open(LanternsV1.self, Losing.self)
    }
    #expect(error == .migrationUnavailable)
    #expect(error?.message.contains("Lantern.isBurning, whose older name is isLit") == true)
    let context = try open(LanternsV2.self, Upgrade.self)
    #expect(try context.fetchCount(FetchDescriptor<LanternsV2.Shelf>()) == 1)
  }

  @Test func `is refused where no stage leads back`() throws {
    try write()
    let error = #expect(throws: SwiftDataError.self) {
      try open(LanternsV1.self, Upgrade.self)
    }
    #expect(error == .backwardMigration)
  }
}
