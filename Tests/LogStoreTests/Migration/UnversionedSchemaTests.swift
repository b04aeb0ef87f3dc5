import Foundation
import LogStore
import SwiftData
import Testing

// A version lacks an entity of the one before, and is otherwise like it.

private enum First: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Shelf.self, Draft.self] }

  @Model final class Item {
    var price = 0
    init(_ price: Int) { self.price = price }
  }
  @Model final class Shelf {
    var name = ""
    init() {}
  }
  @Model final class Draft {
    var text = ""
    init() {}
  }
}

private enum Second: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [First.Item.self, First.Shelf.self] }
}

private enum Third: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, First.Shelf.self] }

  @Model final class Item {
    var price = 0
    var note: String?
    init() {}
  }
}

private enum UpToSecond: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [First.self, Second.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: First.self,
        toVersion: Second.self,
        willMigrate: nil,
        didMigrate: { context in
          for item in try context.fetch(FetchDescriptor<First.Item>()) { item.price *= 100 }
        }
      )
    ]
  }
}

private enum UpToThird: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { UpToSecond.schemas + [Third.self] }
  static var stages: [MigrationStage] {
    UpToSecond.stages + [.lightweight(fromVersion: Second.self, toVersion: Third.self)]
  }
}

private enum Labelled: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { Second.models + [Label.self] }

  @Model final class Label {
    var text = ""
    init() {}
  }
}

private enum UpToLabelled: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Second.self, Labelled.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: Second.self,
        toVersion: Labelled.self,
        willMigrate: nil,
        didMigrate: { context in
          for item in try context.fetch(FetchDescriptor<First.Item>()) { item.price *= 100 }
        }
      )
    ]
  }
}

@Suite struct `A schema without a number, in a plan` {
  @Test func `is the version of its entities, not an older one that has more`() throws {
    let folder = try TemporaryFolder()
    let configuration = LogStoreConfiguration(url: folder.url.appending(path: "store"))
    do {
      let context = ModelContext(
        try ModelContainer(
          for: First.Item.self,
          First.Shelf.self,
          migrationPlan: UpToSecond.self,
          configurations: configuration
        )
      )
      context.insert(First.Item(500))
      try context.save()
    }
    let context = ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: Third.self),
        migrationPlan: UpToThird.self,
        configurations: [configuration]
      )
    )
    // The stage from the first version is not for it.
    #expect(try context.fetch(FetchDescriptor<Third.Item>()).map(\.price) == [500])
  }
  private static func open(
    _ schema: Schema,
    _ plan: any SchemaMigrationPlan.Type,
    _ stores: [(url: URL, models: [any PersistentModel.Type])]
  ) throws -> ModelContext {
    let configurations = stores.map { url, models in
      LogStoreConfiguration(url.lastPathComponent, schema: Schema(models), url: url)
    }
    return ModelContext(
      try ModelContainer(for: schema, migrationPlan: plan, configurations: configurations)
    )
  }

  @Test func `is of its container's version, if it is a part of the models`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "items.store")
    do {
      let context = try Self.open(
        Schema(versionedSchema: Second.self),
        UpToSecond.self,
        [(url, [First.Item.self])]
      )
      context.insert(First.Item(500))
      try context.save()
    }
    let context = try Self.open(
      Schema(versionedSchema: Third.self),
      UpToThird.self,
      [(url, [Third.Item.self])]
    )
    #expect(try context.fetch(FetchDescriptor<Third.Item>()).map(\.price) == [500])
  }

  @Test(arguments: [true, false])
  func `is migrated along, where another store keeps what is new`(isNumbered: Bool) throws {
    let folder = try TemporaryFolder()
    let (items, labels) = (
      folder.url.appending(path: "items.store"), folder.url.appending(path: "labels.store")
    )
    do {
      let context = try Self.open(
        Schema(versionedSchema: Second.self),
        UpToSecond.self,
        [(items, Second.models)]
      )
      context.insert(First.Item(5))
      try context.save()
    }
    for _ in 0..<2 {
      let context = try Self.open(
        isNumbered ? Schema(versionedSchema: Labelled.self) : Schema(Labelled.models),
        UpToLabelled.self,
        [(items, Second.models), (labels, [Labelled.Label.self])]
      )
      #expect(try context.fetch(FetchDescriptor<First.Item>()).map(\.price) == [500])
    }
  }
}
