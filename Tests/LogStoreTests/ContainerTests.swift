import LogStore
import SwiftData
import Testing

@Suite struct `A store in memory` {
  let schema = Schema([Ticket.self])

  func open(
    _ name: String?,
    schema: Schema? = nil,
    allowsSave: Bool = true
  ) throws -> ModelContainer {
    try ModelContainer(
      for: schema ?? self.schema,
      configurations: [
        ModelConfiguration(name, isStoredInMemoryOnly: true, allowsSave: allowsSave)
      ]
    )
  }

  func add(_ seat: String, to container: ModelContainer) throws {
    let context = ModelContext(container)
    context.insert(Ticket(seat, price: 1))
    try context.save()
  }

  func count(_ container: ModelContainer) throws -> Int {
    try ModelContext(container).fetchCount(FetchDescriptor<Ticket>())
  }

  @Test func `with a name is shared by all containers that open it`() throws {
    let first = try open("shared-by-containers")
    let second = try open("shared-by-containers")
    let other = try open("not-shared-by-containers")
    try add("A1", to: first)
    #expect(try count(second) == 1)
    #expect(try count(other) == 0)
    #expect(
      first.storeIdentifier(forConfigurationNamed: "shared-by-containers")
        == second.storeIdentifier(forConfigurationNamed: "shared-by-containers")
    )
  }

  @Test func `with a name is gone with the last container`() throws {
    try add("A1", to: try open("gone-with-the-last"))
    #expect(try count(open("gone-with-the-last")) == 0)
  }

  @Test func `without a name is its container's alone`() throws {
    let first = try open(nil)
    let second = try open(nil)
    try add("A1", to: first)
    #expect(try count(second) == 0)
  }

  @Test func `is not shared between containers of different models`() throws {
    let first = try open("of-different-models")
    #expect(throws: LogStoreError.self) {
      try open("of-different-models", schema: Schema([Account.self]))
    }
    #expect(try count(first) == 0)
  }

  @Test func `may be opened by one container to be read only`() throws {
    let writer = try open("read-by-one")
    let reader = try open("read-by-one", allowsSave: false)
    try add("A1", to: writer)
    #expect(try count(reader) == 1)
    let error = try #require(throws: SwiftDataError.self) { try add("A2", to: reader) }
    #expect(error.message.contains("\"read-by-one\" was opened with allowsSave: false"))
  }
}

@Suite struct `A container of several stores` {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  func configuration(
    _ name: String,
    _ types: [any PersistentModel.Type]
  ) -> LogStoreConfiguration {
    LogStoreConfiguration(
      name,
      schema: Schema(types),
      url: folder.url.appending(path: name),
      durability: .relaxed
    )
  }

  @Test func `keeps each model where its entity belongs`() throws {
    let container = try ModelContainer(
      for: Schema([Ticket.self, Flight.self]),
      configurations: configuration("tickets", [Ticket.self]),
      configuration("flights", [Flight.self])
    )
    let context = ModelContext(container)
    let ticket = Ticket("A1", price: 1)
    let flight = Flight("AB", 1)
    context.insert(ticket)
    context.insert(flight)
    try context.save()
    #expect(
      ticket.persistentModelID.storeIdentifier
        == container.storeIdentifier(forConfigurationNamed: "tickets")
    )
    #expect(
      flight.persistentModelID.storeIdentifier
        == container.storeIdentifier(forConfigurationNamed: "flights")
    )
    let other = ModelContext(container)
    #expect(try other.fetchCount(FetchDescriptor<Ticket>()) == 1)
    #expect(try other.fetchCount(FetchDescriptor<Flight>()) == 1)
    #expect((other.model(for: flight.persistentModelID) as? Flight)?.carrier == "AB")
  }

  @Test func `saves new models of an entity that two of them list to the first`() throws {
    let container = try ModelContainer(
      for: Schema([Flight.self]),
      configurations: configuration("first", [Flight.self]),
      configuration("second", [Flight.self])
    )
    let context = ModelContext(container)
    let flight = Flight("AB", 1)
    context.insert(flight)
    try context.save()
    #expect(
      flight.persistentModelID.storeIdentifier
        == container.storeIdentifier(forConfigurationNamed: "first")
    )
  }

  @Test func `may be partly in memory`() throws {
    let container = try ModelContainer(
      for: Schema([Ticket.self, Flight.self]),
      configurations: [
        configuration("flights", [Flight.self]),
        ModelConfiguration(schema: Schema([Ticket.self]), isStoredInMemoryOnly: true),
      ]
    )
    let context = ModelContext(container)
    context.insert(Ticket("A1", price: 1))
    context.insert(Flight("AB", 1))
    try context.save()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Ticket>()) == 1)
  }

  @Test func `refuses two of one name or place, and entities it does not have`() throws {
    #expect(throws: SwiftDataError.duplicateConfiguration) {
      try ModelContainer(
        for: Schema([Flight.self]),
        configurations: configuration("same", [Flight.self]),
        configuration("same", [Flight.self])
      )
    }
    let url = folder.url.appending(path: "place")
    #expect(throws: SwiftDataError.duplicateConfiguration) {
      try ModelContainer(
        for: Schema([Flight.self]),
        configurations: ModelConfiguration("a", url: url),
        ModelConfiguration("b", url: url)
      )
    }
    #expect(throws: SwiftDataError.configurationSchemaNotFoundInContainerSchema) {
      try ModelContainer(
        for: Schema([Flight.self]),
        configurations: configuration("more", [Flight.self, Ticket.self])
      )
    }
  }

  @Test func `erases all of them, for good`() throws {
    func open() throws -> ModelContainer {
      try ModelContainer(
        for: Schema([Ticket.self, Flight.self]),
        configurations: configuration("tickets", [Ticket.self]),
        configuration("flights", [Flight.self])
      )
    }
    try
      ({
        let container = try open()
        let context = ModelContext(container)
        context.insert(Ticket("A1", price: 1))
        context.insert(Flight("AB", 1))
        try context.save()
        try container.erase()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Flight>()) == 0)
      })()
    let container = try open()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Ticket>()) == 0)
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Flight>()) == 0)
  }

  @Test @MainActor func `has one context for the main actor`() throws {
    let container = try ModelContainer(
      for: Schema([Flight.self]),
      configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]
    )
    #expect(container.mainContext === container.mainContext)
    #expect(container.mainContext.autosaveEnabled)
    #expect(container.mainContext.container == container)
  }
}

// MARK: Versions

enum ShelfV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static let models: [any PersistentModel.Type] = [Shelf.self]

  @Model final class Shelf {
    var title: String

    init(_ title: String) { self.title = title }
  }
}

enum ShelfV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static let models: [any PersistentModel.Type] = [Shelf.self]

  @Model final class Shelf {
    var title: String
    var color: String?

    init(_ title: String) { self.title = title }
  }
}

enum ShelfPlan: SchemaMigrationPlan {
  static let schemas: [any VersionedSchema.Type] = [ShelfV1.self, ShelfV2.self]
  static let stages: [MigrationStage] = [
    .lightweight(fromVersion: ShelfV1.self, toVersion: ShelfV2.self)
  ]
}

enum OldShelfPlan: SchemaMigrationPlan {
  static let schemas: [any VersionedSchema.Type] = [ShelfV1.self]
  static let stages: [MigrationStage] = []
}

@Suite struct `A store of a migration plan` {
  let folder: TemporaryFolder
  let url: URL

  init() throws {
    folder = try TemporaryFolder()
    url = folder.url.appending(path: "shelves")
  }

  @discardableResult
  func open(
    _ version: any VersionedSchema.Type,
    _ plan: (any SchemaMigrationPlan.Type)?,
    allowsSave: Bool = true
  ) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: version),
      migrationPlan: plan,
      configurations: LogStoreConfiguration(url: url, allowsSave: allowsSave, durability: .relaxed)
    )
  }

  @Test func `opens when it is new, and when it is of the newest version`() throws {
    try
      ({
        let context = ModelContext(try open(ShelfV2.self, ShelfPlan.self))
        context.insert(ShelfV2.Shelf("a"))
        try context.save()
      })()
    let context = ModelContext(try open(ShelfV2.self, ShelfPlan.self))
    #expect(try context.fetch(FetchDescriptor<ShelfV2.Shelf>()).map(\.title) == ["a"])
  }

  @Test func `of an older version becomes the newest`() throws {
    try
      ({
        let context = ModelContext(try open(ShelfV1.self, OldShelfPlan.self))
        context.insert(ShelfV1.Shelf("a"))
        try context.save()
      })()
    let context = ModelContext(try open(ShelfV2.self, ShelfPlan.self))
    #expect(try context.fetch(FetchDescriptor<ShelfV2.Shelf>()).map(\.title) == ["a"])
  }

  @Test func `of a newer version is not opened with an older one`() throws {
    try open(ShelfV2.self, ShelfPlan.self)
    #expect(throws: SwiftDataError.backwardMigration) { try open(ShelfV1.self, OldShelfPlan.self) }
  }

  @Test func `is not opened with a schema that the plan does not know`() throws {
    #expect(throws: SwiftDataError.unknownSchema) { try open(ShelfV2.self, OldShelfPlan.self) }
  }

  @Test func `may keep a part of each version's models`() throws {
    enum Version: VersionedSchema {
      static let versionIdentifier = Schema.Version(1, 0, 0)
      static let models: [any PersistentModel.Type] = [ShelfV1.Shelf.self, Flight.self]
    }
    enum Plan: SchemaMigrationPlan {
      static let schemas: [any VersionedSchema.Type] = [Version.self]
      static let stages: [MigrationStage] = []
    }
    for _ in 1...2 {
      _ = try ModelContainer(
        for: Schema(versionedSchema: Version.self),
        migrationPlan: Plan.self,
        configurations: LogStoreConfiguration(
          "shelves",
          schema: Schema([ShelfV1.Shelf.self]),
          url: url,
          durability: .relaxed
        ),
        LogStoreConfiguration(
          "flights",
          schema: Schema([Flight.self]),
          url: folder.url.appending(path: "flights"),
          durability: .relaxed
        )
      )
    }
  }

  @Test func `without a plan takes up new properties when it may be written to`() throws {
    try open(ShelfV1.self, nil)
    #expect(throws: LogStoreError.self) { try open(ShelfV2.self, nil, allowsSave: false) }
    try open(ShelfV2.self, nil)
    try open(ShelfV2.self, nil, allowsSave: false)
    try open(ShelfV2.self, ShelfPlan.self)
  }
}
