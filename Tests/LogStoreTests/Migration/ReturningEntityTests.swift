import Foundation
import LogStore
import SwiftData
import Testing

private enum V1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Gone.self] }

  @Model final class Item {
    var name: String
    init(_ name: String) { self.name = name }
  }

  @Model final class Gone {
    @Attribute(.preserveValueOnDeletion) var value: Int
    var other: Int = 1
    init(_ value: Int) { self.value = value }
  }
}

private enum V2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self] }

  @Model final class Item {
    var name: String
    init(_ name: String) { self.name = name }
  }
}

private enum V3: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Gone.self] }

  @Model final class Item {
    var name: String
    init(_ name: String) { self.name = name }
  }

  @Model final class Gone {
    @Attribute(.preserveValueOnDeletion) var value: Int
    var other: String = "other"
    init(_ value: Int) { self.value = value }
  }
}

private enum Plan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self, V3.self] }
  static var stages: [MigrationStage] {
    [
      .lightweight(fromVersion: V1.self, toVersion: V2.self),
      .lightweight(fromVersion: V2.self, toVersion: V3.self),
    ]
  }
}

@Suite struct `An entity that goes and comes back` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(_ version: any VersionedSchema.Type) throws -> ModelContext {
    let configuration = LogStoreConfiguration(
      url: folder.url.appending(path: "items.store"),
      durability: .relaxed
    )
    return ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: version),
        migrationPlan: Plan.self,
        configurations: configuration
      )
    )
  }

  @Test(arguments: [true, false])
  func `has no rows and no history of its former life`(stops: Bool) throws {
    do {
      let context = try open(V1.self)
      let gone = [V1.Gone(1), V1.Gone(2)]
      for model in gone { context.insert(model) }
      context.insert(V1.Item("item"))
      try context.save()
      context.delete(gone[0])
      try context.save()
    }
    if stops {
      let context = try open(V2.self)
      let changes = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        .flatMap(\.changes)
      #expect(Set(changes.map(\.changedPersistentIdentifier.entityName)) == ["Item"])
    }
    for round in 0..<2 {
      let context = try open(V3.self)
      #expect(try context.fetchCount(FetchDescriptor<V3.Gone>()) == round)
      let found = try context.fetch(FetchDescriptor<V3.Gone>()).map(\.other)
      #expect(found == Array(repeating: "other", count: round))
      let changes = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        .flatMap(\.changes)
      let names = changes.map(\.changedPersistentIdentifier.entityName)
      #expect(names == (round == 0 ? ["Item"] : ["Item", "Gone"]))
      if round == 0 {
        context.insert(V3.Gone(3))
        try context.save()
      }
    }
  }
}
