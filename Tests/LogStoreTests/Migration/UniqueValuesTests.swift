import Foundation
import LogStore
import SwiftData
import Testing

// What was unique before gets other values in a stage.

private enum Codes: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Part.self] }

  @Model final class Item {
    @Attribute(.unique) var code: String?
    @Attribute(.unique) var number: Int
    var serial: String = "same"
    init(_ code: String?, _ number: Int) {
      self.code = code
      self.number = number
    }
  }
  @Model class Part {
    @Attribute(.unique) var name: String
    init(_ name: String) { self.name = name }
  }
}

private enum Mandatory: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Codes.Part.self] }

  @Model final class Item {
    @Attribute(.unique) var code: String = ""
    @Attribute(.unique) var number: Int
    var serial: String = "same"
    init() { number = 0 }
  }
}

private enum Retyped: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Codes.Part.self] }

  @Model final class Item {
    @Attribute(.unique) var code: String?
    @Attribute(.unique) var number: String = ""
    var serial: String = "same"
    init() {}
  }
}

private enum Exchanged: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Codes.Part.self] }

  @Model final class Item {
    @Attribute(.unique, originalName: "serial") var code: String
    @Attribute(.unique) var number: Int
    init() {
      code = ""
      number = 0
    }
  }
}

@Suite struct `What is unique and gets other values in a stage` {
  private let folder: TemporaryFolder
  private var url: URL { folder.url.appending(path: "items.store") }

  init() throws { folder = try TemporaryFolder() }

  private func open(
    _ version: any VersionedSchema.Type,
    _ plan: (any SchemaMigrationPlan.Type)? = nil
  ) throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: version),
        migrationPlan: plan,
        configurations: [LogStoreConfiguration(url: url)]
      )
    )
  }

  private func write(_ codes: [String?]) throws {
    let context = try open(Codes.self)
    for (number, code) in codes.enumerated() { context.insert(Codes.Item(code, number)) }
    try context.save()
  }

  private enum ToMandatory: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Codes.self, Mandatory.self] }
    static var stages: [MigrationStage] {
      [.lightweight(fromVersion: Codes.self, toVersion: Mandatory.self)]
    }
  }
  private enum ToRetyped: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Codes.self, Retyped.self] }
    static var stages: [MigrationStage] {
      [
        .custom(
          fromVersion: Codes.self,
          toVersion: Retyped.self,
          willMigrate: nil,
          didMigrate: nil
        )
      ]
    }
  }
  private enum ToExchanged: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Codes.self, Exchanged.self] }
    static var stages: [MigrationStage] {
      [.lightweight(fromVersion: Codes.self, toVersion: Exchanged.self)]
    }
  }

  @Test(arguments: [
    (ToMandatory.self as any SchemaMigrationPlan.Type, "code"), (ToRetyped.self, "number"),
    (ToExchanged.self, "code"),
  ])
  func `is looked at again`(plan: any SchemaMigrationPlan.Type, property: String) throws {
    try write([nil, nil, "a"])
    let newest = try #require(plan.schemas.last)
    let error = #expect(throws: SwiftDataError.self) { try open(newest, plan) }
    guard case .duplicateValues("Item", [property], _)? = error?.underlyingError as? LogStoreError
    else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try open(Codes.self).fetchCount(FetchDescriptor<Codes.Item>()) == 3)
  }

  @Test func `may get them if they differ`() throws {
    try write([nil, "a", "b"])
    let items = try open(Mandatory.self, ToMandatory.self).fetch(FetchDescriptor<Mandatory.Item>())
    #expect(Set(items.map(\.code)) == ["", "a", "b"])
  }
}

private enum Apart: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Part.self, Screw.self] }

  @Model final class Part {
    @Attribute(.unique) var name: String
    init(_ name: String) { self.name = name }
  }
  @Model final class Screw {
    @Attribute(.unique) var name: String
    init(_ name: String) { self.name = name }
  }
}

private enum Inheriting: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Part.self, Screw.self] }

  @Model class Part {
    @Attribute(.unique) var name: String
    init() { name = "" }
  }
  @Model final class Screw: Part {
    override init() { super.init() }
  }
}

private enum InheritingPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Apart.self, Inheriting.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Apart.self, toVersion: Inheriting.self)]
  }
}

@Suite struct `A class that becomes a subclass of one with a unique attribute of the same name` {
  @Test(arguments: [("a", false), ("b", true)])
  func `is compared with it`(name: String, isFine: Bool) throws {
    let folder = try TemporaryFolder()
    let configuration = LogStoreConfiguration(url: folder.url.appending(path: "parts.store"))
    do {
      let context = ModelContext(
        try ModelContainer(
          for: Schema(versionedSchema: Apart.self),
          configurations: [configuration]
        )
      )
      context.insert(Apart.Part("a"))
      context.insert(Apart.Screw(name))
      try context.save()
    }
    let container = try? ModelContainer(
      for: Schema(versionedSchema: Inheriting.self),
      migrationPlan: InheritingPlan.self,
      configurations: [configuration]
    )
    #expect((container != nil) == isFine)
  }
}
