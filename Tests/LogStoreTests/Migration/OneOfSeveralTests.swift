import Foundation
import LogEngine
import LogStore
import SwiftData
import Testing

// A container with two stores, whose plan removes, renames and moves what one of them keeps.

private enum First: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Trip.self, Draft.self, Person.self] }

  @Model final class Trip {
    var name = ""
    init(_ name: String) { self.name = name }
  }
  @Model final class Draft {
    var text = ""
    init(_ text: String) { self.text = text }
  }
  @Model final class Person {
    var name = ""
    init(_ name: String) { self.name = name }
  }
}

private enum Second: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [First.Trip.self, First.Person.self] }
}

private enum Third: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [First.Trip.self, Contact.self] }

  @Model final class Contact {
    var name = ""
    init() {}
  }
}

private enum Plan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [First.self, Second.self, Third.self] }
  static var stages: [MigrationStage] {
    [
      .lightweight(fromVersion: First.self, toVersion: Second.self),
      .lightweight(fromVersion: Second.self, toVersion: Third.self),
    ]
  }
}

@Suite struct `A store that is one of several` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    let context = try open(
      First.self,
      [First.Trip.self, First.Draft.self],
      [First.Person.self]
    )
    context.insert(First.Trip("a"))
    context.insert(First.Draft("b"))
    context.insert(First.Person("c"))
    try context.save()
  }

  private func open(
    _ version: any VersionedSchema.Type,
    _ stores: [any PersistentModel.Type]...
  ) throws -> ModelContext {
    let configurations = stores.enumerated().map { number, models in
      LogStoreConfiguration(
        "\(number)",
        schema: Schema(models),
        url: folder.url.appending(path: "\(number)")
      )
    }
    return ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: version),
        migrationPlan: Plan.self,
        configurations: configurations
      )
    )
  }

  /// The tables of the first store.
  private func tables() throws -> [String] {
    let engine = try StorageEngine.open(at: folder.url.appending(path: "0").path)
    defer { try? engine.close() }
    return engine.catalogue.tables.map(\.name)
  }

  @Test func `may lose an entity`() throws {
    for _ in 0..<2 {
      do {
        let context = try open(Second.self, [First.Trip.self], [First.Person.self])
        #expect(try context.fetch(FetchDescriptor<First.Trip>()).map(\.name) == ["a"])
        #expect(try context.fetch(FetchDescriptor<First.Person>()).map(\.name) == ["c"])
      }
      #expect(try tables() == ["Trip"])
    }
  }

  @Test func `may lose its only entity for another`() throws {
    for _ in 0..<2 {
      let context = try open(Third.self, [First.Trip.self], [Third.Contact.self])
      #expect(try context.fetch(FetchDescriptor<First.Trip>()).map(\.name) == ["a"])
      #expect(try context.fetchCount(FetchDescriptor<Third.Contact>()) == 0)
    }
  }

  @Test func `may hand an entity to another, which begins without rows`() throws {
    for _ in 0..<2 {
      let context = try open(
        First.self,
        [First.Draft.self],
        [First.Trip.self, First.Person.self]
      )
      #expect(try context.fetchCount(FetchDescriptor<First.Trip>()) == 0)
      #expect(try context.fetch(FetchDescriptor<First.Draft>()).map(\.text) == ["b"])
      #expect(try context.fetch(FetchDescriptor<First.Person>()).map(\.name) == ["c"])
    }
  }
}
