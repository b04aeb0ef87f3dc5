import Foundation
import ModelRuntime
import PostgresStore
import Testing

private enum V1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Gone.self] }

  @Model final class Item {
    var name: String
    var note: Int = 1
    var mark: Int = 1
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
    var note: String = "new"
    var mark: Int = 3
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

@Suite struct `What a stage lets go of` {
  private func fill(_ place: StorePlace) throws {
    let context = try place.open(V1.self, plan: Plan.self)
    let gone = [V1.Gone(1), V1.Gone(2)]
    for model in gone { context.insert(model) }
    let item = V1.Item("item")
    (item.note, item.mark) = (77, 88)
    context.insert(item)
    try context.save()
    context.delete(gone[0])
    try context.save()
  }

  @Test(arguments: StoreKind.allCases, [true, false])
  func `begins anew if a later version has it, also of another type`(
    kind: StoreKind,
    stops: Bool
  ) throws {
    let place = try StorePlace(kind)
    try fill(place)
    if stops { _ = try place.open(V2.self, plan: Plan.self) }
    for _ in 0..<2 {
      let context = try place.open(V3.self, plan: Plan.self)
      let items = try context.fetch(FetchDescriptor<V3.Item>())
      #expect(items.map(\.name) == ["item"])
      #expect(items.map(\.note) == ["new"])
      #expect(items.map(\.mark) == [3])
    }
  }

  @Test(arguments: [true, false])
  func `is the rows of an entity, and what the history tells of them`(stops: Bool) throws {
    let place = try StorePlace(.server)
    try fill(place)
    if stops { _ = try place.open(V2.self, plan: Plan.self) }
    do {
      let context = try place.open(V3.self, plan: Plan.self)
      #expect(try context.fetchCount(FetchDescriptor<V3.Gone>()) == 0)
      let changes = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        .flatMap(\.changes)
      #expect(changes.map(\.changedPersistentIdentifier.entityName) == ["Item"])
      context.insert(V3.Gone(3))
      try context.save()
    }
    let again = try place.open(V3.self, plan: Plan.self)
    #expect(try again.fetch(FetchDescriptor<V3.Gone>()).map(\.other) == ["other"])
  }

  @Test func `is there again for the version that has it, if that takes the store back`() throws {
    let place = try StorePlace(.server)
    try fill(place)
    _ = try place.open(V2.self, plan: Plan.self)
    let older = try place.open(V1.self, plan: Plan.self, newerStores: .takeBack)
    #expect(try older.fetch(FetchDescriptor<V1.Item>()).map(\.note) == [77])
    #expect(try older.fetchCount(FetchDescriptor<V1.Gone>()) == 0)
  }
}

@Suite struct `Models without a version` {
  @Test(arguments: StoreKind.allCases)
  func `are not older because a stage has let go of a property`(kind: StoreKind) throws {
    let place = try StorePlace(kind)
    do {
      let first = try place.open(V1.self, plan: Plan.self)
      first.insert(V1.Item("item"))
      try first.save()
    }
    _ = try place.open(V2.self, plan: Plan.self)
    let context = try place.open(Schema([V2.Item.self]), plan: nil)
    #expect(try context.fetch(FetchDescriptor<V2.Item>()).map(\.name) == ["item"])
  }
}
