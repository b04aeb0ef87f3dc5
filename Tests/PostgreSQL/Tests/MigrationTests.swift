import Foundation
import ModelRuntime
import PostgresStore
import Testing

private enum First: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Trip.self] }

  @Model final class Trip {
    var name: String
    var length: Int

    init(_ name: String, length: Int) {
      self.name = name
      self.length = length
    }
  }
}

private enum Second: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Trip.self] }

  @Model final class Trip {
    #Index<Trip>([\.title])
    @Attribute(.unique, originalName: "name") var title: String
    var length: Int
    var stars: Int = 3
    var tags: [String] = ["new"]

    init(_ title: String, length: Int) {
      self.title = title
      self.length = length
    }
  }
}

private enum Plan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [First.self, Second.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: First.self, toVersion: Second.self)]
  }
}

private enum Changed: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(3, 0, 0) }
  static var models: [any PersistentModel.Type] { [Trip.self] }

  @Model final class Trip {
    var name: Double
    init() { name = 0 }
  }
}

@Suite struct `Migrating a PostgreSQL store` {
  private func open(
    _ schema: any VersionedSchema.Type,
    _ namespace: TestNamespace,
    plan: (any SchemaMigrationPlan.Type)? = nil
  ) throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: schema),
        migrationPlan: plan,
        configurations: [namespace.configuration]
      )
    )
  }

  @Test(arguments: ["quote_all_identifiers=on", "default_tablespace=pg_default"])
  func `is not asked for whatever is set for a database`(setting: String) throws {
    let namespace = try TestNamespace()
    let configuration = namespace.configuration(with: [setting])
    for count in 0..<2 {
      let container = try ModelContainer(
        for: Schema([Journey.self, Leg.self]),
        configurations: [configuration]
      )
      let context = ModelContext(container)
      #expect(try context.fetchCount(FetchDescriptor<Journey>()) == count)
      context.insert(Journey("\(count)"))
      try context.save()
    }
  }

  @Test func `renames and adds columns, and keeps the rows and their names`() throws {
    let namespace = try TestNamespace()
    let first = try open(First.self, namespace)
    let trip = First.Trip("Lisbon", length: 5)
    first.insert(trip)
    try first.save()
    let identifier = trip.persistentModelID
    let second = try open(Second.self, namespace, plan: Plan.self)
    let read = try #require(try second.fetch(FetchDescriptor<Second.Trip>()).first)
    #expect(read.persistentModelID == identifier)
    #expect(read.title == "Lisbon")
    #expect(read.length == 5)
    #expect(read.stars == 3)
    #expect(read.tags == ["new"])
  }

  @Test func `happens once when a fleet starts`() throws {
    let namespace = try TestNamespace()
    let first = try open(First.self, namespace)
    for number in 0..<50 { first.insert(First.Trip("\(number)", length: number)) }
    try first.save()
    let errors = Errors()
    DispatchQueue.concurrentPerform(iterations: 6) { _ in
      errors.collect {
        let context = try open(Second.self, namespace, plan: Plan.self)
        if try context.fetchCount(FetchDescriptor<Second.Trip>()) != 50 {
          throw SwiftDataError.modelValidationFailure
        }
      }
    }
    #expect(errors.all.map { "\($0)" } == [])
  }

  @Test func `back is refused`() throws {
    let namespace = try TestNamespace()
    _ = try open(Second.self, namespace)
    #expect(throws: SwiftDataError.backwardMigration) { try open(First.self, namespace) }
    #expect(throws: SwiftDataError.backwardMigration) {
      try ModelContainer(for: Schema([First.Trip.self]), configurations: [namespace.configuration])
    }
  }

  @Test func `to another type of a property is refused, and changes nothing`() throws {
    let namespace = try TestNamespace()
    let first = try open(First.self, namespace)
    first.insert(First.Trip("Lisbon", length: 5))
    try first.save()
    let error = try #require(throws: PostgresStoreError.self) { try open(Changed.self, namespace) }
    guard case .propertyTypeChanged("Trip", "name", "text", "double precision") = error else {
      Issue.record("\(error)")
      return
    }
    let again = try open(First.self, namespace)
    #expect(try again.fetch(FetchDescriptor<First.Trip>()).map(\.name) == ["Lisbon"])
  }

  @Test func `is not done by a store that is only read`() throws {
    let namespace = try TestNamespace()
    let configuration = PostgresStoreConfiguration(
      url: namespace.configuration.url,
      namespace: namespace.name,
      allowsSave: false
    )
    #expect(throws: PostgresStoreError.self) {
      try ModelContainer(
        for: Schema(versionedSchema: First.self),
        configurations: [configuration]
      )
    }
    _ = try open(First.self, namespace)
    let reading = ModelContext(
      try ModelContainer(for: Schema(versionedSchema: First.self), configurations: [configuration])
    )
    #expect(try reading.fetchCount(FetchDescriptor<First.Trip>()) == 0)
    reading.insert(First.Trip("Rome", length: 1))
    #expect(throws: SwiftDataError.self) { try reading.save() }
  }
}
