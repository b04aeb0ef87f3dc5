import Foundation
import LogEngine
import LogStore
import LogTools
import SwiftData
import Synchronization
import Testing

// One process opens one file more than once.

@Suite struct `A file that a process opens again` {
  enum Kind: String, CaseIterable { case model, log }

  let folder: TemporaryFolder
  var url: URL { folder.url.appending(path: "notes.store") }

  init() throws { folder = try TemporaryFolder() }

  static func configuration(_ kind: Kind, _ url: URL) -> any DataStoreConfiguration {
    switch kind {
    case .model: ModelConfiguration("notes", url: url)
    case .log: LogStoreConfiguration("notes", url: url)
    }
  }

  func open(
    _ version: any VersionedSchema.Type,
    _ kind: Kind = .log,
    plan: (any SchemaMigrationPlan.Type)? = nil,
    at url: URL? = nil
  ) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: version),
      migrationPlan: plan,
      configurations: [Self.configuration(kind, url ?? self.url)]
    )
  }

  @Test(arguments: Kind.allCases, Kind.allCases)
  func `is one store for containers of the same models`(first: Kind, second: Kind) throws {
    let one = ModelContext(try open(NotesV2.self, first))
    let other = ModelContext(try open(NotesV2.self, second))
    NotesV2.insert("one", into: one)
    try one.save()
    NotesV2.insert("other", into: other)
    try other.save()
    #expect(try one.fetchCount(FetchDescriptor<NotesV2.Note>()) == 2)
    #expect(try other.fetchCount(FetchDescriptor<NotesV2.Note>()) == 2)
  }

  @Test func `is one store however its path is spelled`() throws {
    let link = folder.url.appending(path: "link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url)
    let toStore = folder.url.appending(path: "direct")
    let first = try open(NotesV2.self)
    try FileManager.default.createSymbolicLink(at: toStore, withDestinationURL: url)
    var contexts = [ModelContext(first)]
    for other in [
      link.appending(path: "notes.store"),
      toStore,
      folder.url.appending(path: "x/../notes.store"),
      URL(fileURLWithPath: url.path + "/"),
      URL(fileURLWithPath: folder.url.path + "//./notes.store"),
    ] {
      contexts.append(ModelContext(try open(NotesV2.self, at: other)))
    }
    for (number, context) in contexts.enumerated() {
      NotesV2.insert("\(number)", into: context)
      try context.save()
    }
    for context in contexts {
      #expect(try context.fetchCount(FetchDescriptor<NotesV2.Note>()) == contexts.count)
    }
  }

  /// As a migration is tested: in one variable, over one file.
  @Test(arguments: Kind.allCases)
  func `with a newer version is migrated, and the older container is notified`(kind: Kind) throws {
    var container = try open(NotesV1.self, kind)
    let older = ModelContext(container)
    older.insert(NotesV1.Note("kept", count: 4))
    try older.save()
    let note = try #require(try older.fetch(FetchDescriptor<NotesV1.Note>()).first)
    #expect(note.note == "kept")

    container = try open(NotesV2.self, kind, plan: NotesPlan.self)
    let newer = ModelContext(container)
    #expect(
      try NotesV2.facts(newer) == [NoteFacts(message: "kept", count: 4, severity: 40, tags: [])]
    )
    #expect(throws: SwiftDataError.storeClosed) {
      try older.fetch(FetchDescriptor<NotesV1.Note>())
    }
    #expect(throws: SwiftDataError.storeClosed) {
      try older.fetchCount(FetchDescriptor<NotesV1.Note>())
    }
    note.note = "changed"
    #expect(throws: SwiftDataError.storeClosed) { try older.save() }
    #expect(note.note == "changed")
    NotesV2.insert("more", into: newer)
    try newer.save()
    #expect(try newer.fetchCount(FetchDescriptor<NotesV2.Note>()) == 2)
  }

  @Test func `with models that must be refused stays open for those who have it`() throws {
    let container = try open(NotesV2.self)
    #expect(throws: SwiftDataError.backwardMigration) { try open(NotesV1.self) }
    #expect(throws: SwiftDataError.unknownSchema) {
      try open(NotesV2Beside.self, plan: NotesPlan.self)
    }
    let context = ModelContext(container)
    NotesV2.insert("still here", into: context)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<NotesV2.Note>()) == 1)
  }

  @Test func `with some of its models is shared`() throws {
    func open(_ types: [any PersistentModel.Type]) throws -> ModelContext {
      ModelContext(
        try ModelContainer(for: Schema(types), configurations: [LogStoreConfiguration(url: url)])
      )
    }
    let all = try open([NotesV2.Note.self, Ticket.self])
    let some = try open([NotesV2.Note.self])
    NotesV2.insert("note", into: some)
    try some.save()
    all.insert(Ticket("1A", price: 1))
    try all.save()
    #expect(try all.fetchCount(FetchDescriptor<NotesV2.Note>()) == 1)
    #expect(try some.fetchCount(FetchDescriptor<NotesV2.Note>()) == 1)
  }

  @Test func `with a promise the open one does not make is refused, and the reverse is not`() throws
  {
    func open(_ durability: LogStoreConfiguration.Durability) throws -> ModelContainer {
      try ModelContainer(
        for: Schema(versionedSchema: NotesV2.self),
        configurations: [LogStoreConfiguration(url: url, durability: durability)]
      )
    }
    do {
      let relaxed = try open(.relaxed)
      #expect {
        try open(.full)
      } throws: { error in
        if case .weakerDurability? = error as? LogStoreError { true } else { false }
      }
      #expect(throws: LogStoreError.self) { try open(.relaxed(interval: .milliseconds(10))) }
      _ = try open(.relaxed(interval: .seconds(5)))
      withExtendedLifetime(relaxed) {}
    }
    let full = try open(.full)
    _ = try open(.relaxed)
    withExtendedLifetime(full) {}
  }

  @Test func `twice in one container is refused`() throws {
    let link = folder.url.appending(path: "link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url)
    #expect(throws: SwiftDataError.duplicateConfiguration) {
      try ModelContainer(
        for: Schema([NotesV2.Note.self, Ticket.self]),
        configurations: [
          LogStoreConfiguration("a", schema: Schema([NotesV2.Note.self]), url: url),
          ModelConfiguration(
            "b",
            schema: Schema([Ticket.self]),
            url: link.appending(path: "notes.store")
          ),
        ]
      )
    }
  }

  @Test func `from the code of its own migration is refused, and not waited for`() throws {
    do {
      let context = ModelContext(try open(NotesV1.self))
      context.insert(NotesV1.Note("first", count: 1))
      try context.save()
    }
    Reentrant.url.withLock { $0 = url }
    #expect(throws: SwiftDataError.loadIssueModelContainer) {
      try open(NotesV2.self, plan: Reentrant.self)
    }
    #expect(
      try NotesV1.facts(ModelContext(open(NotesV1.self)))
        == [NoteFacts(message: "first", count: 1, severity: 0, tags: [])]
    )
  }

  private enum Reentrant: SchemaMigrationPlan {
    static let url = Mutex<URL?>(nil)
    static var schemas: [any VersionedSchema.Type] { [NotesV1.self, NotesV2.self] }
    static var stages: [MigrationStage] {
      [
        .custom(
          fromVersion: NotesV1.self,
          toVersion: NotesV2.self,
          willMigrate: { _ in
            guard let url = url.withLock({ $0 }) else { return }
            _ = try ModelContainer(
              for: Schema(versionedSchema: NotesV1.self),
              configurations: [LogStoreConfiguration(url: url)]
            )
          },
          didMigrate: nil
        )
      ]
    }
  }
}

// MARK: The folder goes

extension `A file that a process opens again` {
  @Test(arguments: [false, true])
  func `after its folder was removed is a new one`(isRemade: Bool) throws {
    let older = ModelContext(try open(NotesV2.self))
    for number in 0..<100 { NotesV2.insert("\(number)", into: older) }
    try older.save()
    try FileManager.default.removeItem(at: url)
    if isRemade {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }
    do {
      let newer = ModelContext(try open(NotesV2.self))
      #expect(try newer.fetchCount(FetchDescriptor<NotesV2.Note>()) == 0)
      NotesV2.insert("anew", into: newer)
      try newer.save()
      NotesV2.insert("lost", into: older)
      #expect(throws: SwiftDataError.storeClosed) { try older.save() }
      #expect(throws: SwiftDataError.storeClosed) {
        try older.fetchCount(FetchDescriptor<NotesV2.Note>())
      }
    }
    #expect(try StorageEngine.verify(at: url.path).problems == [])
    #expect(
      try ModelContext(open(NotesV2.self)).fetchCount(FetchDescriptor<NotesV2.Note>()) == 1
    )
  }

  @Test func `after its folder was moved is where it is now, and another at the old place`() throws
  {
    let moved = folder.url.appending(path: "moved.store")
    let older = ModelContext(try open(NotesV2.self))
    NotesV2.insert("moved", into: older)
    try older.save()
    try FileManager.default.moveItem(at: url, to: moved)
    let there = ModelContext(try open(NotesV2.self, at: moved))
    #expect(try NotesV2.facts(there).map(\.message) == ["moved"])
    #expect(throws: SwiftDataError.storeClosed) {
      try older.fetchCount(FetchDescriptor<NotesV2.Note>())
    }
    let here = ModelContext(try open(NotesV2.self))
    #expect(try here.fetchCount(FetchDescriptor<NotesV2.Note>()) == 0)
    NotesV2.insert("more", into: there)
    try there.save()
    #expect(try there.fetchCount(FetchDescriptor<NotesV2.Note>()) == 2)
  }
}

// MARK: Threads

extension `A file that a process opens again` {
  /// Runs a closure on several threads at once, and returns what they threw.
  private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) -> [String]
  {
    let problems = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: count) { number in
      do {
        try body(number)
      } catch {
        problems.withLock { $0.append("\(error)") }
      }
    }
    return problems.withLock { $0 }
  }

  @Test(arguments: Kind.allCases)
  func `from several threads at once is opened once`(kind: Kind) throws {
    let url = url
    let problems = onThreads(8) { number in
      let container = try ModelContainer(
        for: Schema(versionedSchema: NotesV2.self),
        configurations: [Self.configuration(kind, url)]
      )
      let context = ModelContext(container)
      NotesV2.insert("\(number)", into: context)
      try context.save()
    }
    #expect(problems == [])
    let context = ModelContext(try open(NotesV2.self, kind))
    #expect(try context.fetchCount(FetchDescriptor<NotesV2.Note>()) == 8)
  }

  /// The last container goes on one thread while the next is opened on another.
  @Test(arguments: Kind.allCases)
  func `while its last container goes waits for that`(kind: Kind) throws {
    let url = url
    let problems = onThreads(3) { thread in
      for round in 0..<40 {
        let container = try ModelContainer(
          for: Schema(versionedSchema: NotesV2.self),
          configurations: [Self.configuration(kind, url)]
        )
        let context = ModelContext(container)
        NotesV2.insert("\(thread) \(round)", into: context)
        try context.save()
      }
    }
    #expect(problems == [])
    let context = ModelContext(try open(NotesV2.self, kind))
    #expect(try context.fetchCount(FetchDescriptor<NotesV2.Note>()) == 120)
  }
}
