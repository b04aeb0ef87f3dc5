import Foundation
import LogEngine
import LogStore
import RowFormat
import SwiftData
import Testing

// One store, and versions of an app for which its attributes are set, or derived.

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

private enum LedgersV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Plain.Ledger.self, Plain.Entry.self] }
}

private enum LedgersV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Ledger.self, Entry.self] }

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
}

private enum LedgersPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [LedgersV1.self, LedgersV2.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: LedgersV1.self,
        toVersion: LedgersV2.self,
        willMigrate: { context in
          for ledger in try context.fetch(FetchDescriptor<Plain.Ledger>()) {
            if let entry = ledger.entries.first { context.delete(entry) }
          }
          try context.save()
        },
        didMigrate: { context in
          for ledger in try context.fetch(FetchDescriptor<LedgersV2.Ledger>()) {
            guard ledger.entryCount == 2 else { throw LedgersError.notComputed(ledger.entryCount) }
            context.insert(LedgersV2.Entry(10, in: ledger))
          }
          try context.save()
        }
      )
    ]
  }
}

private enum LedgersError: Error { case notComputed(Int) }

@Suite struct `A store whose attributes become derived` {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open<R>(
    _ schema: Schema,
    allowsSave: Bool = true,
    _ body: (ModelContext) throws -> R
  ) throws -> R {
    let configuration = ModelConfiguration(
      schema: schema,
      url: folder.url.appending(path: "ledgers.store"),
      allowsSave: allowsSave
    )
    let container = try ModelContainer(for: schema, configurations: configuration)
    return try body(ModelContext(container))
  }

  private func fill() throws {
    try open(Plain.schema) { context in
      for name in ["Ä", "B"] {
        let ledger = Plain.Ledger(name)
        context.insert(ledger)
        for amount in 1...3 { context.insert(Plain.Entry(amount, in: ledger)) }
      }
      try context.save()
    }
  }

  private func derived(_ context: ModelContext) throws -> [[Int]] {
    try context.fetch(FetchDescriptor<Derived.Ledger>(sortBy: [SortDescriptor(\.name)]))
      .map { [$0.entryCount, $0.total] }
  }

  @Test func `has them computed for the rows there are`() throws {
    try fill()
    #expect(try open(Derived.schema, derived) == [[3, 6], [3, 6]])
    // From then on, saves keep them.
    try open(Derived.schema) { context in
      let ledger = try #require(try context.fetch(FetchDescriptor<Derived.Ledger>()).first)
      context.insert(Derived.Entry(4, in: ledger))
      try context.save()
      #expect((ledger.entryCount, ledger.total) == (4, 10))
    }
    #expect(Set(try open(Derived.schema, derived)) == [[3, 6], [4, 10]])
  }

  @Test func `has them computed anew after an app wrote it that derives nothing`() throws {
    try fill()
    _ = try open(Derived.schema, derived)
    try open(Plain.schema) { context in
      let ledgers = try context.fetch(FetchDescriptor<Plain.Ledger>())
      for ledger in ledgers { context.insert(Plain.Entry(10, in: ledger)) }
      try context.save()
    }
    #expect(try open(Derived.schema, derived) == [[4, 16], [4, 16]])
  }

  @Test func `has added ones computed, but for dates that nobody knows`() throws {
    try fill()
    let start = Date.now.addingTimeInterval(-1)
    try open(Added.schema) { context in
      let ledgers = try context.fetch(FetchDescriptor<Added.Ledger>())
      #expect(Set(ledgers.map(\.searchName)) == ["a", "b"])
      #expect(ledgers.allSatisfy { $0.modified >= start && $0.lastModified == nil })
    }
  }

  /// A library from before derived attributes knows nothing of the entries, but writes its schema down.
  @Test func `has them computed anew after a library wrote it that knows of none`() throws {
    try fill()
    _ = try open(Derived.schema, derived)
    let path = folder.url.appending(path: "ledgers.store").path
    let engine = try StorageEngine.open(at: path)
    let entries = try #require(engine.catalogue.tables.first { $0.name == "Entry" })
    try engine.apply([
      .setMetadata(key: "schema.version", value: Array("1.0.0 (0000000000000001)".utf8))
    ])
    var batch = engine.makeBatch()
    batch.delete(RowReference(table: entries.number, key: 1))
    _ = try engine.commit(&batch)
    try engine.close()
    #expect(try open(Derived.schema, derived).map(\.[0]).sorted() == [2, 3])
  }

  @Test func `has them computed anew after rows were imported without models`() throws {
    try fill()
    _ = try open(Derived.schema, derived)
    let path = folder.url.appending(path: "ledgers.store").path
    let engine = try StorageEngine.open(at: path)
    let entries = try #require(engine.catalogue.tables.first { $0.name == "Entry" })
    try engine.apply([.setMetadata(key: "derived.schema", value: [])])
    var batch = engine.makeBatch()
    batch.delete(RowReference(table: entries.number, key: 1))
    _ = try engine.commit(&batch)
    try engine.close()
    #expect(try open(Derived.schema, derived).map(\.[0]).sorted() == [2, 3])
  }

  /// An import that has no values for them writes zero and an empty text.
  @Test func `has them computed in rows that were imported without them`() throws {
    try fill()
    let start = Date.now.addingTimeInterval(-1)
    let known = Date(timeIntervalSinceReferenceDate: 1000)
    try open(Added.schema) { _ in }
    let engine = try StorageEngine.open(at: folder.url.appending(path: "ledgers.store").path)
    try engine.apply([.setMetadata(key: "derived.schema", value: [])])
    let table = try #require(engine.catalogue.tables.first { $0.name == "Ledger" })
    let layout = try #require(table.layout(table.currentLayout))
    let entries = try #require(engine.catalogue.tables.first { $0.name == "Entry" })
    let entryLayout = try #require(entries.layout(entries.currentLayout))
    let names = layout.columns.map { table.column($0)?.name ?? "" }
    let entryNames = entryLayout.columns.map { entries.column($0)?.name ?? "" }
    var batch = engine.makeBatch()
    for (name, date) in [("Éa", 0), ("Öb", 1000)] as [(String, Double)] {
      var writer = RowWriter()
      writer.begin(layout.layout)
      for (place, column) in names.enumerated() {
        switch column {
        case "name": writer.append(place, text: name)
        case "searchName": writer.append(place, text: "")
        case "entryCount", "total": writer.set(place, integer: 0)
        case "modified": writer.set(place, double: date)
        default: break
        }
      }
      let key = engine.reserveKeys(1, in: table.number).lowerBound
      let owner = RowReference(table: table.number, key: key)
      let range = writer.finish()
      batch.insert(owner, layout: table.currentLayout, row: writer.bytes.extracting(range))
      writer.removeAll()
      writer.begin(entryLayout.layout)
      for (place, column) in entryNames.enumerated() {
        switch column {
        case "amount": writer.set(place, integer: 5)
        case "ledger": writer.set(place, reference: owner)
        case "_rank_ledger": writer.set(place, integer: 1)
        default: break
        }
      }
      let entry = engine.reserveKeys(1, in: entries.number).lowerBound
      let entryRange = writer.finish()
      batch.insert(
        RowReference(table: entries.number, key: entry),
        layout: entries.currentLayout,
        row: writer.bytes.extracting(entryRange)
      )
    }
    _ = try engine.commit(&batch)
    try engine.close()
    try open(Added.schema) { context in
      let ledgers = try context.fetch(FetchDescriptor<Added.Ledger>())
      #expect(Set(ledgers.map(\.searchName)) == ["a", "b", "ea", "ob"])
      let imported = ledgers.filter { $0.searchName.count == 2 }
      #expect(imported.map { [$0.entryCount, $0.total] } == [[1, 5], [1, 5]])
      #expect(imported.allSatisfy { $0.lastModified == nil })
      #expect(imported.allSatisfy { ($0.modified == known) == ($0.searchName == "ob") })
      #expect(ledgers.allSatisfy { $0.modified == known || $0.modified >= start })
    }
  }

  @Test func `has them in every stage of a plan, whatever its code changes`() throws {
    try fill()
    let configuration = ModelConfiguration(
      schema: Schema(versionedSchema: LedgersV2.self),
      url: folder.url.appending(path: "ledgers.store")
    )
    let container = try ModelContainer(
      for: Schema(versionedSchema: LedgersV2.self),
      migrationPlan: LedgersPlan.self,
      configurations: configuration
    )
    let ledgers = try ModelContext(container).fetch(FetchDescriptor<LedgersV2.Ledger>())
    // Three entries, one of which the code of the stage deletes before it adds one of 10 afterwards.
    #expect(ledgers.map(\.entryCount) == [3, 3])
    #expect(ledgers.allSatisfy { $0.total == $0.entries.map(\.amount).reduce(0, +) })
    #expect(ledgers.map(\.total).allSatisfy { $0 >= 13 })
  }

  @Test func `cannot be read only before that`() throws {
    try fill()
    #expect {
      try open(Derived.schema, allowsSave: false, derived)
    } throws: {
      $0 as? SwiftDataError == .migrationUnavailable && "\($0)".contains("Ledger.entryCount")
    }
    _ = try open(Derived.schema, derived)
    #expect(try open(Derived.schema, allowsSave: false, derived) == [[3, 6], [3, 6]])
  }
}
