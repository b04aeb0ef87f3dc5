import Foundation
import ModelRuntime
import Synchronization
import Testing

@testable import PostgresStore

/// What the code of a test's stages throws.
private struct Refusal: Error, Equatable {}

/// What several threads count.
private final class Calls: Sendable {
  private let counts = Mutex<[Int: Int]>([:])
  var all: [Int: Int] { counts.withLock { $0 } }
  func add(_ number: Int) { counts.withLock { $0[number, default: 0] += 1 } }
}

/// What the code of a stage leaves behind.
private final class Kept<Value>: @unchecked Sendable {
  var value: Value?
}

@Suite struct `Stages that run code on a PostgreSQL server` {
  private let namespace: TestNamespace
  private let session: ServerSession

  init() throws {
    namespace = try TestNamespace()
    session = try ServerSession(namespace.configuration.url)
  }

  private func open(
    _ version: any VersionedSchema.Type,
    plan: (any SchemaMigrationPlan.Type)? = HikersPlan.self
  ) throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: version),
        migrationPlan: plan,
        configurations: [namespace.configuration]
      )
    )
  }

  /// Two hikers of one name, and one of another, with hikes and huts.
  private func writeFirstVersion() throws {
    let context = try open(HikersV1.self)
    let huts = ["Alp", "Tarn"].map { HikersV1.Hut($0) }
    for (number, name) in ["Ann Lee", "Bo Ray", "Ann Lee"].enumerated() {
      let hiker = HikersV1.Hiker(name, load: 10 + number)
      context.insert(hiker)
      hiker.hikes = [HikersV1.Hike("out \(number)"), HikersV1.Hike("back \(number)")]
      hiker.huts = number == 0 ? [huts[0]] : huts
    }
    try context.save()
  }

  /// All that the namespace holds: the definitions of its tables, and their rows.
  private func contents() throws -> String {
    let definitions = try session.text(
      "SELECT string_agg(concat_ws(' ', table_name, column_name, data_type), '; ' "
        + "ORDER BY table_name, ordinal_position) FROM information_schema.columns "
        + "WHERE table_schema = '\(namespace.name)'"
    )
    let rules = try session.text(
      "SELECT string_agg(x, '; ' ORDER BY x) FROM (SELECT indexdef AS x FROM pg_indexes WHERE schemaname = "
        + "'\(namespace.name)' UNION SELECT conname FROM pg_constraint k JOIN pg_namespace n "
        + "ON n.oid = k.connamespace WHERE n.nspname = '\(namespace.name)') AS t"
    )
    let tables = [
      "Hiker", "Hike", "Hut", "_logstore_meta", "_logstore_commit", "_logstore_change",
    ]
    let rows = try tables.map {
      try session.text(
        "SELECT string_agg(t::text, '; ' ORDER BY t::text) FROM \"\(namespace.name)\".\"\($0)\" AS t"
      ) ?? ""
    }
    return ([definitions ?? "", rules ?? ""] + rows).joined(separator: "\n")
  }

  private func check(_ context: ModelContext) throws {
    let hikers = try context.fetch(
      FetchDescriptor<HikersV3.Hiker>(sortBy: [SortDescriptor(\.name)])
    )
    #expect(hikers.map(\.name) == ["Ann Lee", "Bo Ray"])
    #expect(hikers.map(\.first) == ["Ann", "Bo"])
    #expect(hikers.map(\.last) == ["Lee", "Ray"])
    #expect(hikers.map(\.load) == ["22 lb", "24 lb"])
    #expect(hikers[0].hikes.map(\.name) == ["out 0", "back 0", "out 2", "back 2"])
    #expect(hikers[0].huts.map(\.title).sorted() == ["Alp", "Tarn"])
    #expect(hikers[1].huts.map(\.title).sorted() == ["Alp", "Tarn"])
    for hut in try context.fetch(FetchDescriptor<HikersV3.Hut>()) {
      #expect(Set(hut.guests) == Set(hikers), "\(hut.title)")
    }
  }

  @Test func `merge and split values, in one transaction`() throws {
    try writeFirstVersion()
    let before = try session.integer(
      "SELECT count(*) FROM \"\(namespace.name)\"._logstore_commit"
    )
    let context = try open(HikersV3.self)
    try check(context)
    #expect(
      try session.integer("SELECT count(*) FROM \"\(namespace.name)\"._logstore_commit")
        == before + 1
    )
    // Names are unique from the second version on.
    context.insert(HikersV3.Hiker("Bo Ray"))
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<HikersV3.Hiker>()) == 2)
    #expect(throws: SwiftDataError.backwardMigration) { try open(HikersV2.self) }
    #expect(throws: SwiftDataError.backwardMigration) { try open(HikersV1.self, plan: nil) }
  }

  @Test(arguments: 0..<4)
  func `leave everything as it was when one throws after it has saved`(failing: Int) throws {
    try writeFirstVersion()
    let before = try contents()
    let error = #expect(throws: SwiftDataError.self) {
      try HikersPlan.$hook.withValue({ number, context in
        switch number {
        case 0: context.insert(HikersV1.Hut("new"))
        case 1, 2: context.insert(HikersV2.Hut("new"))
        default: context.insert(HikersV3.Hut("new"))
        }
        try context.save()
        if number == failing { throw Refusal() }
      }) {
        try open(HikersV3.self)
      }
    }
    #expect(error == .loadIssueModelContainer)
    #expect(error?.underlyingError as? Refusal == Refusal())
    let message = error?.message ?? ""
    #expect(message.contains(failing % 2 == 0 ? "willMigrate" : "didMigrate"))
    #expect(message.contains("from HikersV\(failing / 2 + 1) (\(failing / 2 + 1).0.0)"))
    #expect(try contents() == before)
    try check(try open(HikersV3.self))
  }

  @Test func `run once when a fleet starts`() throws {
    try writeFirstVersion()
    let calls = Calls()
    let errors = Errors()
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      errors.collect {
        try HikersPlan.$hook.withValue({ number, _ in calls.add(number) }) {
          try check(try open(HikersV3.self))
        }
      }
    }
    #expect(errors.all.map { "\($0)" } == [])
    #expect(calls.all == [0: 1, 1: 1, 2: 1, 3: 1])
  }

  @Test func `are one transaction of the history`() throws {
    try writeFirstVersion()
    let context = try HikersPlan.$hook.withValue({ number, context in
      context.author = "stage \(number)"
      if number == 1 {
        context.insert(HikersV2.Hut("Pass"))
        try context.save()
      }
    }) {
      try open(HikersV2.self)
    }
    var transactions: [DefaultHistoryTransaction] = []
    // Transactions of other tests that go on hold the history back.
    while transactions.count < 2 { transactions = try context.fetchHistory(HistoryDescriptor()) }
    #expect(transactions.count == 2)
    let changes = try #require(transactions.last?.changes)
    let deleted = changes.compactMap { change -> DefaultHistoryDelete<HikersV2.Hiker>? in
      guard case .delete(let delete) = change else { return nil }
      return delete as? DefaultHistoryDelete<HikersV2.Hiker>
    }
    #expect(deleted.count == 1)
    let inserted = changes.filter { if case .insert = $0 { true } else { false } }
    #expect(inserted.count == 1)
    #expect(transactions.last?.author == "stage 1")
  }

  @Test func `take back a save that the server refuses, and go on`() throws {
    try writeFirstVersion()
    try session.run(
      "ALTER TABLE \"\(namespace.name)\".\"Hut\" ADD CONSTRAINT short CHECK (length(title) < 8)"
    )
    let refusals = Kept<PostgresStoreError>()
    let context = try HikersPlan.$hook.withValue({ number, context in
      guard number == 1 else { return }
      context.insert(HikersV2.Hut("fine"))
      try context.save()
      let other = ModelContext(context.container)
      other.insert(HikersV2.Hut("too long a title"))
      do {
        try other.save()
      } catch let error as PostgresStoreError {
        refusals.value = error
      }
      let hut = HikersV2.Hut("late")
      hut.guests = try context.fetch(FetchDescriptor<HikersV2.Hiker>())
      context.insert(hut)
      try context.save()
    }) {
      try open(HikersV2.self)
    }
    guard case .server(let refusal) = refusals.value else {
      Issue.record("\(String(describing: refusals.value))")
      return
    }
    #expect(refusal.constraint == "short")
    let huts = try context.fetch(FetchDescriptor<HikersV2.Hut>(sortBy: [SortDescriptor(\.title)]))
    #expect(huts.map(\.title) == ["Alp", "Tarn", "fine", "late"])
    #expect(huts.last?.guests.count == 2)
  }

  @Test func `keep saves of older programs waiting, and not what they read`() throws {
    try writeFirstVersion()
    let table = "\"\(namespace.name)\".\"Hiker\""
    let states = Kept<String?>()
    let counts = Kept<Int>()
    let session = session
    _ = try HikersPlan.$hook.withValue({ number, _ in
      guard number == 0 else { return }
      counts.value = try session.integer("SELECT count(*) FROM \(table)")
      try session.run("BEGIN")
      defer { try? session.run("ROLLBACK") }
      do {
        try session.run("LOCK TABLE \(table) IN ROW EXCLUSIVE MODE NOWAIT")
      } catch PostgresStoreError.server(let error) {
        states.value = error.state
      }
    }) {
      try open(HikersV2.self)
    }
    #expect(states.value == SQLState.lockNotAvailable)
    // What the stage has deleted is not deleted yet to others.
    #expect(counts.value == 3)
  }

  @Test func `lend a context for as long as their code runs`() throws {
    try writeFirstVersion()
    let kept = Kept<ModelContext>()
    _ = try HikersPlan.$hook.withValue({ number, context in
      if number == 0 { kept.value = context }
    }) {
      try open(HikersV2.self)
    }
    let context = try #require(kept.value)
    #expect(throws: SwiftDataError.storeClosed) {
      try context.fetch(FetchDescriptor<HikersV1.Hiker>())
    }
    context.insert(HikersV1.Hut("late"))
    #expect(throws: SwiftDataError.storeClosed) { try context.save() }
  }

  @Test func `have to make unique what becomes unique`() throws {
    try writeFirstVersion()
    enum Careless: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [HikersV1.self, HikersV2.self] }
      static var stages: [MigrationStage] {
        [
          .custom(
            fromVersion: HikersV1.self,
            toVersion: HikersV2.self,
            willMigrate: nil,
            didMigrate: { _ in }
          )
        ]
      }
    }
    let before = try contents()
    let error = #expect(throws: SwiftDataError.self) {
      try open(HikersV2.self, plan: Careless.self)
    }
    #expect(error == .loadIssueModelContainer)
    #expect(
      error?.underlyingError as? PostgresStoreError
        == .duplicateValues(entity: "Hiker", properties: ["name"], keys: [1, 3])
    )
    #expect(error?.message.contains("the custom stage from HikersV1 (1.0.0)") == true)
    #expect(try contents() == before)
  }

  @Test func `may make unique what becomes unique in either piece of code`() throws {
    try writeFirstVersion()
    enum Late: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [HikersV1.self, HikersV2.self] }
      static var stages: [MigrationStage] {
        [
          .custom(
            fromVersion: HikersV1.self,
            toVersion: HikersV2.self,
            willMigrate: nil,
            didMigrate: { context in
              let hikers = try context.fetch(FetchDescriptor<HikersV2.Hiker>())
              for (number, hiker) in hikers.enumerated() { hiker.name += " \(number)" }
            }
          )
        ]
      }
    }
    let context = try open(HikersV2.self, plan: Late.self)
    #expect(Set(try context.fetch(FetchDescriptor<HikersV2.Hiker>()).map(\.name)).count == 3)
    let constraint = try session.integer(
      "SELECT count(*) FROM pg_constraint WHERE conname = 'Hiker_name_unique' "
        + "AND connamespace = '\(namespace.name)'::regnamespace"
    )
    #expect(constraint == 1)
  }

  @Test func `have to give values to properties that need one`() throws {
    try writeFirstVersion()
    enum Forgetful: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { HikersPlan.schemas }
      static var stages: [MigrationStage] {
        [
          HikersPlan.first,
          .custom(
            fromVersion: HikersV2.self,
            toVersion: HikersV3.self,
            willMigrate: nil,
            didMigrate: { context in
              for hiker in try context.fetch(FetchDescriptor<HikersV3.Hiker>()) {
                (hiker.load, hiker.first) = ("none", "A")
              }
            }
          ),
        ]
      }
    }
    let before = try contents()
    let error = #expect(throws: SwiftDataError.self) {
      try open(HikersV3.self, plan: Forgetful.self)
    }
    #expect(
      error?.underlyingError as? PostgresStoreError
        == .missingValue(entity: "Hiker", property: "last", key: 1)
    )
    #expect(try contents() == before)
  }

  @Test func `see the models of their store, and none of another`() throws {
    let other = try TestNamespace()
    func open(_ version: any VersionedSchema.Type) throws -> ModelContext {
      func schema(_ isIncluded: (any PersistentModel.Type) -> Bool) -> Schema {
        Schema(version.models.filter(isIncluded), version: version.versionIdentifier)
      }
      var camps = namespace.configuration
      camps.schema = schema { $0 != TentsV1.Tent.self }
      var tents = other.configuration
      tents.schema = schema { $0 == TentsV1.Tent.self }
      return ModelContext(
        try ModelContainer(
          for: Schema(versionedSchema: version),
          migrationPlan: TentsPlan.self,
          configurations: [camps, tents]
        )
      )
    }
    let first = try open(TentsV1.self)
    first.insert(TentsV1.Camp("Tarn"))
    first.insert(TentsV1.Tent(2))
    try first.save()
    let second = try open(TentsV2.self)
    // A tent of the other store seemed not to be there.
    #expect(try second.fetch(FetchDescriptor<TentsV2.Camp>()).map(\.title) == ["Tarn: 0, then 1"])
    #expect(try second.fetch(FetchDescriptor<TentsV1.Tent>()).map(\.beds).sorted() == [2, 3])
  }
}

private enum TentsV1: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Camp.self, Tent.self] }

  @Model final class Camp {
    var title: String
    init(_ title: String) { self.title = title }
  }

  @Model final class Tent {
    var beds: Int
    init(_ beds: Int) { self.beds = beds }
  }
}

private enum TentsV2: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Camp.self, TentsV1.Tent.self] }

  @Model final class Camp {
    var title: String
    var height: Int = 0
    init(_ title: String) { self.title = title }
  }
}

private enum TentsPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [TentsV1.self, TentsV2.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: TentsV1.self,
        toVersion: TentsV2.self,
        willMigrate: nil,
        didMigrate: { context in
          let tents = FetchDescriptor<TentsV1.Tent>(predicate: #Predicate { $0.beds > 0 })
          let before = try context.fetchCount(tents)
          context.insert(TentsV1.Tent(3))
          try context.save()
          for camp in try context.fetch(FetchDescriptor<TentsV2.Camp>()) {
            camp.title += ": \(before), then \(try context.fetchCount(tents))"
          }
        }
      )
    ]
  }
}
