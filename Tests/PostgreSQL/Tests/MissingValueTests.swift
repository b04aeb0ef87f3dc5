import Foundation
import ModelRuntime
import PostgresStore
import Testing

// Rows that lack a value which the models require: they had none when it was optional, or were written by a program that
// does not know the property.

private enum Lenient: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self] }

  @Model final class Item {
    var name: String
    var note: String?
    var count: Int?
    init(_ name: String, note: String?) { (self.name, self.note) = (name, note) }
  }
}

private enum Required: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self] }

  @Model final class Item {
    var name: String
    @Attribute(.unique) var note: String = "none"
    @Attribute(originalName: "count") var number: Int = 7
    init(_ name: String) { self.name = name }
  }
}

private enum Strict: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self] }

  @Model final class Item {
    var name: String
    var note: String
    var count: Int?
    init(_ name: String) { (self.name, note) = (name, "") }
  }
}

private enum RequiredPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Lenient.self, Required.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Lenient.self, toVersion: Required.self)]
  }
}

private enum StrictPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Lenient.self, Strict.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Lenient.self, toVersion: Strict.self)]
  }
}

private enum Without: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self] }

  @Model final class Item {
    var name: String
    init(_ name: String) { self.name = name }
  }
}

private enum With: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self] }

  @Model final class Item {
    var name: String
    var stars: Int = 3
    var tags: [String] = ["new"]
    var mark: String? = "marked"
    init(_ name: String) { self.name = name }
  }
}

private enum WithPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Without.self, With.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Without.self, toVersion: With.self)]
  }
}

@Suite struct `A value that the models require` {
  private func fill(_ place: StorePlace, notes: [String?]) throws {
    let context = try place.open(Lenient.self, plan: nil)
    for (number, note) in notes.enumerated() {
      context.insert(Lenient.Item("item \(number)", note: note))
    }
    try context.save()
  }

  @Test(arguments: StoreKind.allCases, [true, false])
  func `is the default where there was nil, and is found`(kind: StoreKind, isPlanned: Bool) throws {
    let place = try StorePlace(kind)
    try fill(place, notes: ["a", nil, "b"])
    for _ in 0..<2 {
      let context = try place.open(Required.self, plan: isPlanned ? RequiredPlan.self : nil)
      let found = FetchDescriptor<Required.Item>(
        predicate: #Predicate { $0.note == "none" && $0.number == 7 }
      )
      #expect(try context.fetch(found).map(\.name) == ["item 1"])
      let items = try context.fetch(
        FetchDescriptor<Required.Item>(sortBy: [SortDescriptor(\.name)])
      )
      #expect(items.map(\.note) == ["a", "none", "b"])
      #expect(items.map(\.number) == [7, 7, 7])
    }
  }

  @Test func `is refused as a default that several rows would share though it is unique`() throws {
    let place = try StorePlace(.server)
    try fill(place, notes: ["a", nil, nil])
    let error = #expect(throws: SwiftDataError.self) {
      try place.open(Required.self, plan: RequiredPlan.self)
    }
    #expect(
      error?.underlyingError as? PostgresStoreError
        == .duplicateValues(entity: "Item", properties: ["note"], keys: [2, 3])
    )
  }

  @Test(arguments: StoreKind.allCases)
  func `is asked of the row that has none, if there is no default`(kind: StoreKind) throws {
    let place = try StorePlace(kind)
    try fill(place, notes: ["a", nil])
    let error = #expect(throws: SwiftDataError.self) {
      try place.open(Strict.self, plan: StrictPlan.self)
    }
    #expect("\(error, default: "")".contains("Item/2 has no value for note"))
    let context = try place.open(Lenient.self, plan: StrictPlan.self)
    let items = try context.fetch(FetchDescriptor<Lenient.Item>(sortBy: [SortDescriptor(\.name)]))
    #expect(items.map(\.note) == ["a", nil])
  }

  @Test func `is the default in rows that a program of an older version adds`() throws {
    let place = try StorePlace(.server)
    let older = try place.open(Without.self, plan: WithPlan.self)
    let newer = try place.open(With.self, plan: WithPlan.self)
    older.insert(Without.Item("old"))
    try older.save()
    let own = With.Item("new")
    own.mark = nil
    newer.insert(own)
    try newer.save()
    let items = try place.open(With.self, plan: WithPlan.self)
      .fetch(FetchDescriptor<With.Item>(sortBy: [SortDescriptor(\.name)]))
    #expect(items.map(\.name) == ["new", "old"])
    #expect(items.map(\.stars) == [3, 3])
    #expect(items.map(\.tags) == [["new"], ["new"]])
    #expect(items.map(\.mark) == [nil, "marked"])
  }

  @Test(arguments: [true, false])
  func `is the default in rows from before its property came back`(isPlanned: Bool) throws {
    let plan: (any SchemaMigrationPlan.Type)? = isPlanned ? WithPlan.self : nil
    let place = try StorePlace(.server)
    _ = try place.open(With.self, plan: plan)
    let older = try place.open(Without.self, plan: plan, newerStores: .takeBack)
    older.insert(Without.Item("between"))
    try older.save()
    let newer = try place.open(With.self, plan: plan)
    older.insert(Without.Item("late"))
    try older.save()
    let items = try newer.fetch(FetchDescriptor<With.Item>(sortBy: [SortDescriptor(\.name)]))
    #expect(items.map(\.name) == ["between", "late"])
    #expect(items.map(\.stars) == [3, 3])
  }
}
