@testable import Appender
import Foundation
import ModelRuntime
@testable import PostgresStore
import Testing

@Suite struct `Both ends of relationships on a PostgreSQL server` {
  private static let writerCount = 4
  private static let saveCount = 10
  private let namespace: TestNamespace

  init() throws { namespace = try TestNamespace() }

  private func open(connectionLimit: Int = 8) throws -> ModelContainer {
    var configuration = namespace.configuration
    configuration.connectionLimit = connectionLimit
    return try ModelContainer(
      for: Schema([Reader.self, Club.self, Note.self, Card.self]),
      configurations: [configuration]
    )
  }

  private func reader(_ context: ModelContext) throws -> Reader {
    try #require(try context.fetch(FetchDescriptor<Reader>()).first)
  }

  private func insertReader() throws -> ModelContext {
    let context = ModelContext(try open())
    context.insert(Reader("Ann"))
    try context.save()
    return context
  }

  /// Checks that the reader has what every save gave it, and that the other ends say the same.
  private func check(_ names: Set<String>) throws {
    let context = ModelContext(try open())
    let reader = try self.reader(context)
    #expect(reader.notes.count == names.count)
    #expect(Set(reader.notes.map(\.text)) == names)
    #expect(reader.clubs.count == names.count)
    #expect(Set(reader.clubs.map(\.name)) == names)
    for club in try context.fetch(FetchDescriptor<Club>()) {
      #expect(club.readers.map(\.name) == ["Ann"], "\(club.name)")
    }
    let cards = try context.fetch(FetchDescriptor<Card>())
    #expect(Set(cards.map(\.text)) == names)
    // Of all cards one is the reader's, and the reader knows it.
    #expect(cards.filter { $0.reader != nil }.map(\.text) == [reader.card?.text])
  }

  private static func names(_ writers: some Sequence<String>) -> Set<String> {
    Set(writers.flatMap { name in (0..<saveCount).map { "\(name) \($0)" } })
  }

  @Test(arguments: [1, 8])
  func `lose nothing when several containers write at once`(connectionLimit: Int) throws {
    _ = try insertReader()
    let errors = Errors()
    DispatchQueue.concurrentPerform(iterations: Self.writerCount) { writer in
      errors.collect {
        let container = try open(connectionLimit: connectionLimit)
        try Appender.append(Self.saveCount, as: "\(writer)", in: container)
      }
    }
    #expect(errors.all.map { "\($0)" } == [])
    try check(Self.names((0..<Self.writerCount).map { "\($0)" }))
  }

  @Test func `lose nothing when threads of a store with one session write at once`() throws {
    _ = try insertReader()
    let errors = Errors()
    let container = try open(connectionLimit: 1)
    DispatchQueue.concurrentPerform(iterations: Self.writerCount) { writer in
      errors.collect { try Appender.append(Self.saveCount, as: "\(writer)", in: container) }
    }
    #expect(errors.all.map { "\($0)" } == [])
    try check(Self.names((0..<Self.writerCount).map { "\($0)" }))
  }

  @Test func `lose nothing when several processes write at once`() throws {
    _ = try insertReader()
    let container = try open()
    let others = try ["first", "second"].map { try OtherProcess(namespace, $0, Self.saveCount) }
    for other in others { try other.waitUntilReady() }
    for other in others { other.start() }
    try Appender.append(Self.saveCount, as: "here", in: container)
    for other in others { #expect(other.wait() == 0) }
    try check(Self.names(["first", "second", "here"]))
  }

  @Test func `wait while another machine has its turn, and other saves do not`() throws {
    let context = try insertReader()
    let reader = try self.reader(context)
    let other = try OtherMachine(namespace)
    try other.beginTurn()
    let unconcerned = ModelContext(try open())
    unconcerned.insert(Note("nobody's"))
    try unconcerned.save()
    reader.notes.append(Note("mine"))
    let save = Saving(context)
    // Until the save waits for the lock; meanwhile the other machine adds a note.
    let waiting =
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory' "
      + "AND application_name = '\(namespace.name)'"
    let watcher = try ServerSession(namespace.server.url)
    while try watcher.integer(waiting) == 0 {}
    try other.appendNote("theirs")
    #expect(save.errors.map { "\($0)" } == [])
    let read = try self.reader(ModelContext(try open()))
    #expect(Set(read.notes.map(\.text)) == ["mine", "theirs"])
  }

  @Test func `are read again by a save whose turn the server has ended`() throws {
    let context = try insertReader()
    let reader = try self.reader(context)
    let watcher = try ServerSession(namespace.server.url)
    let blocker = try ServerSession(namespace.server.url)
    try blocker.run("BEGIN")
    try blocker.run("SELECT 1 FROM \(namespace.name).\"Reader\" FOR UPDATE")
    reader.notes.append(Note("mine"))
    // In the middle of its turn, the save waits for the row.
    let save = Saving(context)
    let blocked =
      "FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND wait_event <> 'advisory' "
      + "AND application_name = '\(namespace.name)'"
    while try watcher.integer("SELECT count(*) \(blocked)") == 0 {}
    // The other machine is the next, before the save can take its turn again.
    let other = try OtherMachine(namespace)
    let process = try other.process
    let turn = Working { try other.beginTurn() }
    let queued =
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory' AND pid = \(process)"
    while try watcher.integer(queued) == 0 {}
    try watcher.run("SELECT pg_terminate_backend(pid) \(blocked)")
    try blocker.run("ROLLBACK")
    #expect(turn.errors.map { "\($0)" } == [])
    try other.appendNote("theirs")
    #expect(save.errors.map { "\($0)" } == [])
    let read = try self.reader(ModelContext(try open()))
    #expect(read.notes.map(\.text).sorted() == ["mine", "theirs"])
  }

  @Test func `are written in the end, however many turns the server ends before`() throws {
    let context = try insertReader()
    let reader = try self.reader(context)
    let watcher = try ServerSession(namespace.server.url)
    let blocker = try ServerSession(namespace.server.url)
    try blocker.run("BEGIN")
    try blocker.run("SELECT 1 FROM \(namespace.name).\"Reader\" FOR UPDATE")
    reader.notes.append(Note("mine"))
    let save = Saving(context)
    let blocked =
      "FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND wait_event <> 'advisory' "
      + "AND application_name = '\(namespace.name)'"
    // A session that is told to end may be seen again before it does.
    var ended: Set<Int> = [0]
    while ended.count <= 20 {
      let process = try watcher.integer("SELECT coalesce(max(pid), 0)::bigint \(blocked)")
      guard ended.insert(process).inserted else { continue }
      try watcher.run("SELECT pg_terminate_backend(\(process))")
    }
    try blocker.run("ROLLBACK")
    #expect(save.errors.map { "\($0)" } == [])
    #expect(try self.reader(ModelContext(try open())).notes.map(\.text) == ["mine"])
  }

  @Test func `are given to others by a machine that vanished in its turn`() throws {
    let container = try open()
    let store = try #require(container.stores(of: PostgresStore.self).first)
    let turn = try Turn(store.pool, store: store.identifier, idleLimit: .milliseconds(1))
    // Waits until the server has ended the first one.
    let next = try Turn(store.pool, store: store.identifier, idleLimit: .seconds(600))
    var isSaved = false
    #expect(throws: (any Error).self) {
      let nothing = Statement("SELECT 1::bigint WHERE false")
      next.end()
      _ = try turn.commit(lookUp: nothing) { connection in
        _ = try connection.run([Turn.savepoint, .commit])
        isSaved = true
        return 1
      }
    }
    #expect(!isSaved)
    turn.end()
  }

  @Test func `cost one round trip for the turn and one for the members`() throws {
    let container = try open()
    let context = ModelContext(container)
    let reader = Reader("Ann")
    context.insert(reader)
    let note = Note("one")
    context.insert(note)
    try context.save()
    let store = try #require(container.stores(of: PostgresStore.self).first)
    func roundTrips(_ body: () throws -> Void) rethrows -> Int {
      let before = store.roundTripCount
      try body()
      return store.roundTripCount - before
    }
    let named = try roundTrips {
      reader.name = "Anne"
      try context.save()
    }
    let listed = try roundTrips {
      reader.notes.append(note)
      try context.save()
    }
    // The row is read, the changes are sent, and committed.
    #expect(named == 3)
    #expect(listed == 5)
  }

  @Test func `keep pairs pairs when two containers set them`() throws {
    let first = try insertReader()
    let reader = try self.reader(first)
    let second = ModelContext(try open())
    let same = try self.reader(second)
    reader.card = Card("1")
    same.card = Card("2")
    try first.save()
    try second.save()
    let context = ModelContext(try open())
    #expect(try self.reader(context).card?.text == "2")
    let cards = try context.fetch(FetchDescriptor<Card>(sortBy: [SortDescriptor(\.text)]))
    #expect(cards.map { $0.reader?.name } == [nil, "Ann"])
  }

  @Test func `are written by batches in turns, after what another machine wrote in its own`() throws
  {
    let context = try insertReader()
    for text in ["mine", "theirs"] { context.insert(Card(text)) }
    try context.save()
    let mine = FetchDescriptor<Card>(predicate: #Predicate { $0.text == "mine" })
    let card = try #require(try context.fetch(mine).first)
    let other = try OtherMachine(namespace)
    try other.beginTurn()
    let sent = Sent(context: context, card: card)
    let batch = Working {
      try sent.context.batchUpdate(Reader.self, .set(\.card, to: sent.card))
    }
    let waiting =
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory' "
      + "AND application_name = '\(namespace.name)'"
    let watcher = try ServerSession(namespace.server.url)
    while try watcher.integer(waiting) == 0 {}
    // A card that the batch has not seen: its end has to be taken back.
    try other.giveCard("theirs")
    #expect(batch.errors.map { "\($0)" } == [])
    let read = ModelContext(try open())
    #expect(try self.reader(read).card?.text == "mine")
    let cards = try read.fetch(FetchDescriptor<Card>(sortBy: [SortDescriptor(\.text)]))
    #expect(cards.map { $0.reader?.name } == ["Ann", nil])
  }

  @Test func `agree after batches of several containers at once`() throws {
    let context = ModelContext(try open())
    for number in 0..<3 {
      context.insert(Reader("\(number)"))
      context.insert(Card("\(number)"))
    }
    try context.save()
    let errors = Errors()
    DispatchQueue.concurrentPerform(iterations: Self.writerCount) { writer in
      errors.collect {
        let container = try open()
        var chance = SeededGenerator(seed: UInt64(writer))
        for _ in 0..<30 {
          let context = ModelContext(container)
          let name = "\(Int.random(in: 0..<3, using: &chance))"
          let cards = try context.fetch(FetchDescriptor<Card>(sortBy: [SortDescriptor(\.text)]))
          let card = try #require(cards.randomElement(using: &chance))
          try context.batchUpdate(
            Reader.self,
            where: #Predicate { $0.name == name },
            .set(\.card, to: card)
          )
        }
      }
    }
    #expect(errors.all.map { "\($0)" } == [])
    let read = ModelContext(try open())
    var (cards, readers): ([String: String], [String: String]) = ([:], [:])
    for reader in try read.fetch(FetchDescriptor<Reader>()) {
      cards[reader.name] = reader.card?.text
    }
    for card in try read.fetch(FetchDescriptor<Card>()) { readers[card.text] = card.reader?.name }
    #expect(readers == Dictionary(uniqueKeysWithValues: cards.map { ($1, $0) }))
  }

  @Test func `lose no save that was acknowledged when sessions are killed`() throws {
    _ = try insertReader()
    let killer = try ServerSession(namespace.server.url)
    let container = try open()
    for number in 0..<40 {
      if number % 3 == 0 {
        try killer.run(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            + "WHERE application_name = '\(namespace.name)'"
        )
      }
      try Appender.append(1, as: "\(number)", in: container)
    }
    try check(Set((0..<40).map { "\($0) 0" }))
  }
}

/// A machine that does with SQL what a store does in its turn.
private final class OtherMachine: Sendable {
  private let session: ServerSession
  private let namespace: String

  init(_ namespace: TestNamespace) throws {
    session = try ServerSession(namespace.server.url)
    self.namespace = namespace.name
  }

  var process: Int { get throws { try session.integer("SELECT pg_backend_pid()::bigint") } }

  func beginTurn() throws {
    let question =
      "SELECT value FROM \(namespace)._logstore_meta WHERE key = 'store.identifier'"
    let identifier = try #require(try session.text(question))
    try session.run("BEGIN")
    try session.run(
      "SELECT pg_advisory_xact_lock(hashtextextended('logstore ends \(identifier)', 0))"
    )
  }

  /// Gives the reader a card that is there, and ends the turn.
  func giveCard(_ text: String) throws {
    let card = "(SELECT _id FROM \(namespace).\"Card\" WHERE text = '\(text)')"
    let reader = "(SELECT _id FROM \(namespace).\"Reader\")"
    try session.run("UPDATE \(namespace).\"Reader\" SET card = \(card)")
    try session.run("UPDATE \(namespace).\"Card\" SET reader = \(reader) WHERE text = '\(text)'")
    try session.run("COMMIT")
  }

  /// Appends a note to the list of the reader, and ends the turn.
  func appendNote(_ text: String) throws {
    let table = try session.integer(
      "SELECT number::bigint FROM \(namespace)._logstore_entity WHERE name = 'Note'"
    )
    let row = table << 48 + 900_000
    try session.run("INSERT INTO \(namespace).\"Note\" (_id, text) VALUES (\(row), '\(text)')")
    try session.run(
      "UPDATE \(namespace).\"Reader\" SET notes = coalesce(notes, '{}') || \(row)::bigint"
    )
    try session.run("COMMIT")
  }
}

/// What one thread hands to another.
private struct Sent: @unchecked Sendable {
  let context: ModelContext
  let card: Card
}

/// Work that another thread does.
final class Working: @unchecked Sendable {
  private let collected = Errors()
  private let done = DispatchSemaphore(value: 0)

  init(_ body: @escaping @Sendable () throws -> Void) {
    Thread.detachNewThread { [collected, done] in
      collected.collect(body)
      done.signal()
    }
  }

  /// Waits for the work.
  var errors: [any Error] {
    done.wait()
    return collected.all
  }
}

/// A save of a context that one thread hands to another.
struct Saving {
  private struct Sent: @unchecked Sendable { let context: ModelContext }
  private let work: Working

  init(_ context: ModelContext) {
    let sent = Sent(context: context)
    work = Working { try sent.context.save() }
  }

  var errors: [any Error] { work.errors }
}

/// `Appender`, on the same tables.
private final class OtherProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  private struct NotReady: Error {}

  init(_ namespace: TestNamespace, _ name: String, _ count: Int) throws {
    process.executableURL = URL(filePath: CommandLine.arguments[0])
      .deletingLastPathComponent().appending(path: "Appender")
    process.arguments = [namespace.server.url, namespace.name, name, "\(count)"]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  func waitUntilReady() throws {
    guard output.fileHandleForReading.availableData == Data("ready\n".utf8) else {
      throw NotReady()
    }
  }

  func start() { try? input.fileHandleForWriting.close() }

  func wait() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }
}
