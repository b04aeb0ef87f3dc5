import Foundation
import LogStore
import ModelRuntime
import PostgresStore
import Testing

// One namespace, and versions of an app for which its attributes are set, or derived.

private enum Plain {
  @Model final class Ledger {
    var name: String
    var entryCount: Int
    var total: Int = 7
    @Relationship(inverse: \Entry.ledger) var entries: [Entry] = []
    init(_ name: String) {
      self.name = name
      entryCount = -1
    }
  }
  @Model final class Entry {
    var amount: Int
    var ledger: Ledger?
    init(_ amount: Int, in ledger: Ledger?) {
      self.amount = amount
      self.ledger = ledger
    }
  }
  static let schema = Schema([Ledger.self, Entry.self])
}

private enum Derived {
  @Model final class Ledger {
    var name: String
    @Derived(.count(\Ledger.entries)) var entryCount: Int
    @Derived(.sum(of: \Entry.amount, over: \Ledger.entries)) var total: Int
    @Relationship(inverse: \Entry.ledger) var entries: [Entry] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Entry {
    var amount: Int
    var ledger: Ledger?
    init(_ amount: Int, in ledger: Ledger?) {
      self.amount = amount
      self.ledger = ledger
    }
  }
  static let schema = Schema([Ledger.self, Entry.self])
}

private enum Added {
  @Model final class Ledger {
    var name: String
    @Derived(.count(\Ledger.entries)) var entryCount: Int
    @Derived(.sum(of: \Entry.amount, over: \Ledger.entries)) var total: Int
    @Derived(.canonical(\Ledger.name)) var searchName: String
    @Derived(.modificationDate) var modified: Date
    @Derived(.modificationDate) var lastModified: Date?
    @Derived(.count(\Ledger.tags)) var tagCount: Int
    @Relationship(inverse: \Entry.ledger) var entries: [Entry] = []
    @Relationship(inverse: \Tag.ledgers) var tags: [Tag] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Entry {
    var amount: Int
    var ledger: Ledger?
    init(_ amount: Int, in ledger: Ledger?) {
      self.amount = amount
      self.ledger = ledger
    }
  }
  @Model final class Tag {
    var name: String
    var ledgers: [Ledger] = []
    init(_ name: String) { self.name = name }
  }
  static let schema = Schema([Ledger.self, Entry.self, Tag.self])
}

private enum Narrow {
  @Model final class Ledger {
    var name: String
    @Derived(.sum(of: \Entry.small, over: \Ledger.entries)) var sum: Int8
    @Relationship(inverse: \Entry.ledger) var entries: [Entry] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Entry {
    @Attribute(originalName: "amount") var small: Int8
    var ledger: Ledger?
    init(_ amount: Int8, in ledger: Ledger?) {
      small = amount
      self.ledger = ledger
    }
  }
  static let schema = Schema([Ledger.self, Entry.self])
}

private enum Counted: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Ledger.self, Entry.self] }

  @Model final class Ledger {
    var name: String
    @Derived(.count(\Ledger.entries)) var entryCount: Int
    @Derived(.canonical(\Ledger.name)) var searchName: String
    @Relationship(inverse: \Entry.ledger) var entries: [Entry] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Entry {
    var amount: Int
    var ledger: Ledger?
    init(_ amount: Int, in ledger: Ledger?) {
      self.amount = amount
      self.ledger = ledger
    }
  }
}

private enum Uncounted: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Ledger.self, Entry.self] }

  @Model final class Ledger {
    var name: String
    @Relationship(inverse: \Entry.ledger) var entries: [Entry] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Entry {
    var amount: Int
    var ledger: Ledger?
    init(_ amount: Int, in ledger: Ledger?) {
      self.amount = amount
      self.ledger = ledger
    }
  }
}

/// The code of the stage names each ledger by what it reads of derived attributes.
private enum CountingPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Uncounted.self, Counted.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: Uncounted.self,
        toVersion: Counted.self,
        willMigrate: nil,
        didMigrate: { context in
          for ledger in try context.fetch(FetchDescriptor<Counted.Ledger>()) {
            ledger.name = "\(ledger.searchName) \(ledger.entryCount)"
          }
          try context.save()
        }
      )
    ]
  }
}

@Suite struct `A namespace whose attributes become derived` {
  private let namespace: TestNamespace

  init() throws { namespace = try TestNamespace() }

  private func open<R>(
    _ schema: Schema,
    allowsSave: Bool = true,
    _ body: (ModelContext) throws -> R
  ) throws -> R {
    let configuration = PostgresStoreConfiguration(
      url: namespace.configuration.url,
      namespace: namespace.name,
      allowsSave: allowsSave
    )
    let container = try ModelContainer(for: schema, configurations: [configuration])
    return try body(ModelContext(container))
  }

  private func fill(_ amounts: ClosedRange<Int> = 1...3) throws {
    try open(Plain.schema) { context in
      for name in ["Ä", "B"] {
        let ledger = Plain.Ledger(name)
        context.insert(ledger)
        for amount in amounts { context.insert(Plain.Entry(amount, in: ledger)) }
      }
      context.insert(Plain.Ledger("C"))
      try context.save()
    }
  }

  private func derived(_ context: ModelContext) throws -> [[Int]] {
    try context.fetch(FetchDescriptor<Derived.Ledger>(sortBy: [SortDescriptor(\.name)]))
      .map { [$0.entryCount, $0.total] }
  }

  @Test func `has them computed before the code of a stage reads them`() throws {
    try open(Schema(versionedSchema: Uncounted.self)) { context in
      let ledger = Uncounted.Ledger("Ä")
      context.insert(ledger)
      for amount in 1...3 { context.insert(Uncounted.Entry(amount, in: ledger)) }
      try context.save()
    }
    let container = try ModelContainer(
      for: Schema(versionedSchema: Counted.self),
      migrationPlan: CountingPlan.self,
      configurations: [namespace.configuration]
    )
    let ledgers = try ModelContext(container).fetch(FetchDescriptor<Counted.Ledger>())
    #expect(ledgers.map(\.name) == ["a 3"])
    #expect(ledgers.map(\.searchName) == ["a 3"])
  }

  @Test func `has them computed for the rows there are`() throws {
    try fill()
    #expect(try open(Derived.schema, derived) == [[3, 6], [0, 0], [3, 6]])
    // From then on, saves keep them.
    try open(Derived.schema) { context in
      let ledgers = FetchDescriptor<Derived.Ledger>(predicate: #Predicate { $0.name == "B" })
      let ledger = try #require(try context.fetch(ledgers).first)
      context.insert(Derived.Entry(4, in: ledger))
      try context.save()
      #expect((ledger.entryCount, ledger.total) == (4, 10))
    }
    #expect(try open(Derived.schema, derived) == [[4, 10], [0, 0], [3, 6]])
  }

  @Test func `is not computed again while the same models open it`() throws {
    try fill()
    _ = try open(Derived.schema, derived)
    let session = try ServerSession(namespace.server.url)
    try session.run("UPDATE \(namespace.name).\"Ledger\" SET \"entryCount\" = 77")
    #expect(try open(Derived.schema, derived).map { $0[0] } == [77, 77, 77])
  }

  @Test func `has them computed anew after an app wrote it that derives nothing`() throws {
    try fill()
    _ = try open(Derived.schema, derived)
    try open(Plain.schema) { context in
      let ledgers = try context.fetch(FetchDescriptor<Plain.Ledger>())
      for ledger in ledgers { context.insert(Plain.Entry(10, in: ledger)) }
      try context.save()
    }
    #expect(try open(Derived.schema, derived) == [[4, 16], [1, 10], [4, 16]])
  }

  @Test func `has added ones computed, but for dates that nobody knows`() throws {
    try fill()
    let start = Date.now.addingTimeInterval(-1)
    try open(Added.schema) { context in
      let ledgers = try context.fetch(FetchDescriptor<Added.Ledger>())
      #expect(Set(ledgers.map(\.searchName)) == ["a", "b", "c"])
      #expect(ledgers.allSatisfy { $0.modified >= start && $0.lastModified == nil })
      #expect(ledgers.map(\.tagCount) == [0, 0, 0])
      let tag = Added.Tag("new")
      tag.ledgers = ledgers
      context.insert(tag)
      try context.save()
      #expect(ledgers.map(\.tagCount) == [1, 1, 1])
      #expect(ledgers.allSatisfy { $0.lastModified != nil })
    }
  }

  @Test func `stays as it was if a sum does not fit`() throws {
    try fill(40...43)
    // Where the type of the summands is not known, those that there are fit.
    let session = try ServerSession(namespace.server.url)
    try session.run(
      "DELETE FROM \(namespace.name)._logstore_meta WHERE key LIKE 'properties.%'"
    )
    #expect {
      try open(Narrow.schema) { _ in }
    } throws: {
      $0 as? SwiftDataError == .modelValidationFailure && "\($0)".contains("166")
        && "\($0)".contains("Ledger.sum")
    }
    #expect(try open(Derived.schema, derived) == [[4, 166], [0, 0], [4, 166]])
  }

  @Test func `cannot be read only before that`() throws {
    try fill()
    #expect {
      try open(Derived.schema, allowsSave: false, derived)
    } throws: {
      $0 as? SwiftDataError == .migrationUnavailable && "\($0)".contains("Ledger.entryCount")
    }
    _ = try open(Derived.schema, derived)
    let expected = [[3, 6], [0, 0], [3, 6]]
    #expect(try open(Derived.schema, allowsSave: false, derived) == expected)
  }

  @Test func `has them after a move from a log store, and the log store after a move back`() throws
  {
    let folder = FileManager.default.temporaryDirectory.appending(path: "move-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func log<R>(_ name: String, _ body: (ModelContext) throws -> R) throws -> R {
      let container = try ModelContainer(
        for: Deriving.schema,
        configurations: [LogStoreConfiguration(url: folder.appending(path: name))]
      )
      return try body(ModelContext(container))
    }
    func addExpenses(_ context: ModelContext) throws -> [String] {
      for voyage in try Deriving.voyages(context) {
        for number in 1...3 {
          context.insert(
            Deriving.Expense(number, amount: number, bytes: .max / 10, weight: 0.5, of: voyage)
          )
        }
      }
      try context.save()
      try Deriving.check(context)
      return try Deriving.derived(context)
    }
    let before = try log("there.store") { context in
      for serial in 1...3 { context.insert(Deriving.Voyage(serial, "Ä\(serial)")) }
      return try addExpenses(context)
    }
    let server = [namespace.configuration.url]
    let schema = ["--namespace", namespace.name]
    try inspect(["move", folder.appending(path: "there.store").path] + server + schema)
    let there = try open(Deriving.schema) { context in
      #expect(try Deriving.derived(context) == before)
      return try addExpenses(context)
    }
    try inspect(["move"] + server + [folder.appending(path: "back.store").path] + schema)
    try log("back.store") { context in
      #expect(try Deriving.derived(context) == there)
      _ = try addExpenses(context)
    }
  }

  private func inspect(_ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(filePath: CommandLine.arguments[0])
      .deletingLastPathComponent().appending(path: "logstore-inspect")
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(arguments)")
  }
}
