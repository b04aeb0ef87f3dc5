import Foundation
import LogStore
import SwiftData
import Testing

private enum Parts {
  @Model final class Trip {
    var name = ""
    init(_ name: String) { self.name = name }
  }
  @Model final class Note {
    var text = ""
    init(_ text: String) { self.text = text }
  }
}

private enum Newer {
  @Model final class Trip {
    var name = ""
    var days = 0
    init() {}
  }
}

// The versions of a plan: an app has all their models, and a worker of its own some.

private enum First: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Parts.Trip.self, Parts.Note.self] }
}

private enum Second: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { First.models }
}

private enum UpToFirst: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [First.self] }
  static var stages: [MigrationStage] { [] }
}

private enum UpToSecond: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [First.self, Second.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: First.self, toVersion: Second.self)]
  }
}

/// Containers that know as little of each other as if each were in a process of its own.
@Suite struct `Containers of several processes that have other models` {
  enum End: CaseIterable { case opened, closed }

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(
    _ models: [any PersistentModel.Type],
    allowsSave: Bool = true
  ) throws -> ModelContainer {
    var configuration = LogStoreConfiguration(
      url: folder.url.appending(path: "store"),
      allowsSave: allowsSave,
      durability: .relaxed
    )
    configuration.writers = .severalProcesses
    configuration.sharesOpenStore = false
    return try ModelContainer(for: Schema(models), configurations: [configuration])
  }

  private func names(in container: ModelContainer) throws -> [String] {
    try ModelContext(container).fetch(FetchDescriptor<Parts.Trip>()).map(\.name)
  }

  @Test(arguments: End.allCases)
  func `read with fewer of them`(writer: End) async throws {
    let all = try open([Parts.Trip.self, Parts.Note.self])
    let context = ModelContext(all)
    context.insert(Parts.Trip("a"))
    try context.save()
    if writer == .closed { try await all.close() }
    let reader = try open([Parts.Trip.self], allowsSave: false)
    #expect(try names(in: reader) == ["a"])
    try await reader.close()
    if writer == .opened { try await all.close() }
  }

  @Test func `are refused if they only read and the store lacks what they have`() async throws {
    let container = try open([Parts.Trip.self])
    let error = #expect(throws: LogStoreError.self) {
      try open([Newer.Trip.self], allowsSave: false)
    }
    guard case .schemaNotInStore("Trip", _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    try await container.close()
  }

  @Test func `delete no history of models that only others have`() async throws {
    let all = try open([Parts.Trip.self, Parts.Note.self])
    let context = ModelContext(all)
    let models: [(String, any PersistentModel)] = [
      ("x", Parts.Trip("a")), ("y", Parts.Note("b")), ("x", Parts.Trip("c")),
    ]
    for (author, model) in models {
      context.author = author
      context.insert(model)
      try context.save()
    }
    let some = try open([Parts.Trip.self])
    try ModelContext(some).deleteHistory(
      HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.author == "x" })
    )
    let left = try ModelContext(all).fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(left.map(\.author) == ["y"])
    #expect(left.flatMap(\.changes).count == 1)
    try await some.close()
    try await all.close()
  }

  enum Number: CaseIterable { case none, first, second, secondWithoutPlan }

  /// Opens a part of the models of a version.
  private func open(
    _ models: [any PersistentModel.Type],
    of number: Number
  ) throws -> ModelContainer {
    let schema =
      switch number {
      case .none: Schema(models)
      case .first: Schema(versionedSchema: First.self)
      case .second, .secondWithoutPlan: Schema(versionedSchema: Second.self)
      }
    let part =
      number == .secondWithoutPlan
      ? Schema(models, version: Second.versionIdentifier) : Schema(models)
    var configuration = LogStoreConfiguration(
      "store",
      schema: part,
      url: folder.url.appending(path: "store"),
      durability: .relaxed
    )
    configuration.writers = .severalProcesses
    configuration.sharesOpenStore = false
    let plan: (any SchemaMigrationPlan.Type)? =
      switch number {
      case .none, .secondWithoutPlan: nil
      case .first: UpToFirst.self
      case .second: UpToSecond.self
      }
    return try ModelContainer(for: schema, migrationPlan: plan, configurations: [configuration])
  }

  @Test(arguments: Number.allCases)
  func `save to the tables that they share, without waiting for one another`(
    number: Number
  ) async throws {
    let all = try open([Parts.Trip.self, Parts.Note.self], of: number)
    let some = try open([Parts.Trip.self], of: number)
    for (name, container) in [("a", all), ("b", some), ("c", all)] {
      let context = ModelContext(container)
      context.insert(Parts.Trip(name))
      try context.save()
    }
    #expect(try Set(names(in: some)) == ["a", "b", "c"])
    try await all.close()
    let again = try open([Parts.Trip.self, Parts.Note.self], of: number)
    #expect(try Set(names(in: again)) == ["a", "b", "c"])
    for container in [some, again] { try await container.close() }
  }
}
