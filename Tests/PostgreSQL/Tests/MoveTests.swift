import Foundation
import LogStore
import ModelRuntime
import PostgresStore
import Testing

@Suite struct `Moving a store` {
  @Test func `to a server and back keeps identifiers, values and the order of lists`() throws {
    let place = try MovePlace()
    let written = try place.fill()
    let there = try place.move(.toServer)
    #expect(there.status == 0, "\(there.output)")
    do {
      let context = ModelContext(try place.serverContainer())
      try written.check(in: context)
      let journey = try #require(try written.journey(in: context))
      journey.legs.append(Leg("added on the server"))
      context.insert(Journey("second"))
      try context.save()
    }
    let back = try place.move(.fromServer)
    #expect(back.status == 0, "\(back.output)")
    let context = ModelContext(try place.logContainer(at: place.back))
    try written.check(in: context, ["added on the server"])
    let journey = try #require(try written.journey(in: context))
    journey.legs.append(Leg("added after the return"))
    try context.save()
    let last = ModelContext(try place.logContainer(at: place.back))
    try written.check(in: last, ["added on the server", "added after the return"])
  }

  @Test func `gives both sides the same digests`() throws {
    let place = try MovePlace()
    _ = try place.fill()
    let rehearsal = try place.move(.toServer, "--dry-run")
    #expect(try place.isServerEmpty)
    let there = try place.move(.toServer)
    // The first opening gives numbers columns of their own: the digest is the same.
    _ = try place.serverContainer()
    let back = try place.move(.fromServer)
    let again = try place.move(.fromServer, "--dry-run", to: "again.store")
    let digests = try [rehearsal, there, back, again].map { try $0.digests() }
    #expect(digests[0].keys.sorted() == ["Journey", "Leg"])
    #expect(digests.allSatisfy { $0 == digests[0] }, "\(digests)")
    #expect(!FileManager.default.fileExists(atPath: place.path("again.store")))
  }

  @Test func `waits for the server's own work on a table`() throws {
    let place = try MovePlace()
    _ = try place.fill()
    #expect(try place.move(.toServer).status == 0)
    let session = try ServerSession(place.namespace.server.url)
    try session.run("BEGIN")
    // The lock that VACUUM and ANALYZE take.
    try session.run(
      "LOCK TABLE \"\(place.namespace.name)\".\"Leg\" IN SHARE UPDATE EXCLUSIVE MODE"
    )
    let (outcome, done) = (OutcomeBox(), DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      outcome.value = Result { try place.move(.fromServer, "--dry-run") }
      done.signal()
    }
    let watching = try ServerSession(place.namespace.server.url)
    let waiting =
      "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '\"\(place.namespace.name)\".\"Leg\"'::regclass"
    var isOver = false
    while try !isOver && watching.integer(waiting) == 0 {
      isOver = done.wait(timeout: .now()) == .success
    }
    try session.run("COMMIT")
    if !isOver { done.wait() }
    let ended = try #require(try outcome.value?.get())
    #expect(ended.status == 0, "\(ended.output)")
  }

  private final class OutcomeBox: @unchecked Sendable {
    var value: Result<MovePlace.Outcome, any Error>?
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `keeps any values that a server can hold`(seed: UInt64) throws {
    let place = try MovePlace()
    var random = SeededGenerator(seed: seed)
    let values = (0..<120).map { AnyJourney($0, &random) }
    try place.withLog { context in
      for value in values { value.insert(into: context) }
      try context.save()
      // Other layouts of the log: rows that were changed, and rows that are packed.
      for journey in try context.fetch(FetchDescriptor<Journey>()).prefix(20) {
        journey.rating = -journey.rating
        journey.rating = -journey.rating
        journey.ends = journey.ends
      }
      try context.save()
    }
    #expect(try place.move(.toServer).status == 0, "seed \(seed)")
    let server = ModelContext(try place.serverContainer())
    #expect(try AnyJourney.all(in: server) == values, "seed \(seed)")
    #expect(try place.move(.fromServer).status == 0, "seed \(seed)")
    let log = ModelContext(try place.logContainer(at: place.back))
    #expect(try AnyJourney.all(in: log) == values, "seed \(seed)")
  }

  @Test func `takes rows that are older than a property with its default`() throws {
    let place = try MovePlace()
    let configuration = LogStoreConfiguration(url: place.log)
    func open(_ schema: any VersionedSchema.Type) throws -> ModelContext {
      ModelContext(
        try ModelContainer(
          for: Schema(versionedSchema: schema),
          migrationPlan: Ages.self,
          configurations: [configuration]
        )
      )
    }
    do {
      let context = try open(Younger.self)
      context.insert(Younger.Tree("oak"))
      try context.save()
    }
    do {
      let context = try open(Older.self)
      context.insert(Older.Tree("elm", height: 7))
      try context.save()
    }
    #expect(try place.move(.toServer).status == 0)
    let session = try ServerSession(place.namespace.server.url)
    let table = "\(place.namespace.name).\"Tree\""
    #expect(try session.integer("SELECT height FROM \(table) WHERE title = 'oak'") == 12)
    #expect(try session.integer("SELECT height FROM \(table) WHERE title = 'elm'") == 7)
  }

  @Test func `gives no key again that was used`() throws {
    let place = try MovePlace()
    let gone = try place.withLog { context in
      context.insert(Leg("stays"))
      let leg = Leg("goes")
      context.insert(leg)
      try context.save()
      let identifier = leg.persistentModelID
      context.delete(leg)
      try context.save()
      return identifier
    }
    #expect(try place.move(.toServer).status == 0)
    #expect(try place.move(.fromServer).status == 0)
    for container in [try place.serverContainer(), try place.logContainer(at: place.back)] {
      let context = ModelContext(container)
      let leg = Leg("new")
      context.insert(leg)
      try context.save()
      #expect(leg.persistentModelID != gone)
    }
  }

  @Test func `lets tokens of the history expire`() throws {
    let place = try MovePlace()
    _ = try place.fill()
    func token(_ context: ModelContext) throws -> DefaultHistoryToken? {
      try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last?.token
    }
    func history(_ context: ModelContext, after token: DefaultHistoryToken) throws -> Int {
      try context.fetchHistory(
        HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token })
      ).count
    }
    let old = try place.withLog { try #require(try token($0)) }
    _ = try place.move(.toServer)
    let server = ModelContext(try place.serverContainer())
    #expect(throws: SwiftDataError.historyTokenExpired) { try history(server, after: old) }
    server.insert(Leg("news"))
    try server.save()
    var newer: DefaultHistoryToken?
    // Other tests' transactions hold the history back.
    while newer == nil { newer = try token(server) }
    let news = try #require(newer)
    _ = try place.move(.fromServer)
    let log = ModelContext(try place.logContainer(at: place.back))
    #expect(throws: SwiftDataError.historyTokenExpired) { try history(log, after: old) }
    #expect(throws: SwiftDataError.historyTokenExpired) { try history(log, after: news) }
  }
}

@Suite struct `A move that cannot be` {
  @Test func `names the value that the server cannot hold, and leaves nothing behind`() throws {
    let place = try MovePlace()
    try place.withLog { context in
      for number in 0..<5000 { context.insert(Journey("\(number)")) }
      try context.save()
      context.insert(Journey("last", title: "a\u{0}b"))
      try context.save()
    }
    let before = try place.files(of: place.log)
    for arguments in [["--dry-run"], []] {
      let result = try place.move(.toServer, arguments)
      #expect(result.status == 1)
      #expect(result.output.contains("Journey/5001, column title"), "\(result.output)")
      #expect(result.output.contains("U+0000"))
      #expect(try place.isServerEmpty)
    }
    #expect(try place.files(of: place.log) == before)
  }

  @Test func `says that the target is not empty`() throws {
    let place = try MovePlace()
    _ = try place.fill()
    #expect(try place.move(.toServer).status == 0)
    let second = try place.move(.toServer)
    #expect(second.status == 1)
    #expect(second.output.contains("is not empty"), "\(second.output)")
    let onto = try place.move(.fromServer, to: "trips.store")
    #expect(onto.status == 1)
    #expect(onto.output.contains("is not empty"), "\(onto.output)")
  }

  @Test func `refuses a log that an app has open`() throws {
    let place = try MovePlace()
    _ = try place.fill()
    let container = try place.logContainer(at: place.log)
    let result = try place.move(.toServer)
    #expect(result.status == 3)
    #expect(result.output.contains("is written to by"), "\(result.output)")
    #expect(try place.isServerEmpty)
    withExtendedLifetime(container) {}
  }

  @Test func `refuses tables that a transaction writes to`() throws {
    let place = try MovePlace()
    _ = try place.fill()
    _ = try place.move(.toServer)
    let session = try ServerSession(place.namespace.server.url)
    try session.run("BEGIN")
    try session.run("UPDATE \(place.namespace.name).\"Leg\" SET place = 'x'")
    let result = try place.move(.fromServer)
    try session.run("ROLLBACK")
    #expect(result.status == 3)
    #expect(result.output.contains("is written to by"), "\(result.output)")
    #expect(!FileManager.default.fileExists(atPath: place.back.path))
    #expect(try place.move(.fromServer).status == 0)
  }

  @Test(
    arguments: [
      ("ALTER TABLE #.\"Leg\" ALTER place TYPE bytea USING place::bytea", "place of Leg as text"),
      ("DELETE FROM #._logstore_meta WHERE key = 'columns.Leg'", "open it once with the app"),
      ("UPDATE #._logstore_meta SET value = '9' WHERE key = 'format'", "format 9"),
      ("UPDATE #.\"Leg\" SET _id = 5", "with its number"),
      ("UPDATE #.\"Journey\" SET stops = '{\"$uuid\": 3}'", "column stops"),
    ]
  )
  func `refuses a schema that is not as a store leaves it`(sql: String, complaint: String) throws {
    let place = try MovePlace()
    try place.withLog { context in
      let journey = Journey("one")
      journey.legs = [Leg("only")]
      context.insert(journey)
      try context.save()
    }
    _ = try place.move(.toServer)
    let session = try ServerSession(place.namespace.server.url)
    try session.run(sql.replacing("#", with: place.namespace.name))
    let result = try place.move(.fromServer)
    #expect(result.status == 1)
    #expect(result.output.contains(complaint), "\(result.output)")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: place.folder.path) == ["trips.store"]
    )
  }

  @Test func `says where no store is, and no password`() throws {
    let place = try MovePlace()
    let missing = try place.move(.toServer)
    #expect(missing.status == 1)
    let empty = try place.move(.fromServer)
    #expect(empty.status == 1)
    #expect(empty.output.contains("there is no store in schema"), "\(empty.output)")
    _ = try place.fill()
    let nowhere = try MovePlace.run([
      "move", place.log.path, "postgresql://ann:secret@127.0.0.1:1/no?connect_timeout=1",
    ])
    #expect(nowhere.status == 1)
    #expect(nowhere.output.contains("no connection"), "\(nowhere.output)")
    #expect(!nowhere.output.contains("secret"))
  }
}

// MARK: Models

enum Younger: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Tree.self] }

  @Model final class Tree {
    var name: String
    init(_ name: String) { self.name = name }
  }
}

enum Older: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Tree.self] }

  @Model final class Tree {
    @Attribute(originalName: "name") var title: String
    var height: Int = 12

    init(_ title: String, height: Int) {
      self.title = title
      self.height = height
    }
  }
}

enum Ages: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Younger.self, Older.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Younger.self, toVersion: Older.self)]
  }
}

/// The values of a journey, at random; dates are those that a server keeps to the last bit.
private struct AnyJourney: Equatable {
  private let code: String
  private let title: String
  private let begins: Date
  private let ends: Date?
  private let budget: Decimal
  private let rating: Double
  private let stops: [Stop]
  private let codes: [Int: String]
  private let map: Data?

  init(_ number: Int, _ random: inout SeededGenerator) {
    func text(_ limit: Int, _ random: inout SeededGenerator) -> String {
      var text = ""
      for _ in 0..<Int.random(in: 0...limit, using: &random) {
        let range =
          [1...0x7F, 0xC0...0x2FF, 0x300...0x36F, 0xAC00...0xD7A3, 0x1F300...0x1F64F]
          .randomElement(using: &random) ?? 65...66
        let value = UInt32(Int.random(in: range, using: &random))
        text.unicodeScalars.append(Unicode.Scalar(value) ?? "?")
      }
      return text
    }
    func date(_ random: inout SeededGenerator) -> Date {
      // Microseconds that a double tells apart, so that nothing is rounded.
      let seconds = Double(Int.random(in: -1_000_000_000...1_000_000_000, using: &random))
      return Date(timeIntervalSinceReferenceDate: seconds + 0.5)
    }
    func double(_ random: inout SeededGenerator) -> Double {
      [
        0, -0.0, 0.1, -1.5e-300, 1e300, .infinity, -.infinity, .nan, .pi, 5, 9_007_199_254_740_992,
      ].randomElement(using: &random) ?? 0
    }
    code = "\(number)"
    title = text(12, &random)
    begins = date(&random)
    ends = Bool.random(using: &random) ? date(&random) : nil
    budget =
      ["0", "-1", "0.10", "12345678901234567890.125", "-0.000001", "1e20"].randomElement(
        using: &random
      )
      .flatMap { Decimal(string: $0) } ?? 0
    rating = double(&random)
    stops = (0..<Int.random(in: 0...3, using: &random)).map { _ in
      Stop(
        place: text(5, &random) + (Bool.random(using: &random) ? "\u{0}" : ""),
        nights: Int.random(in: .min ... .max, using: &random),
        price: double(&random),
        day: date(&random),
        ticket: Data(text(4, &random).utf8)
      )
    }
    codes = [Int.random(in: -9...9, using: &random): text(3, &random)]
    let length = [nil, 0, 10, 3000, 200_000].randomElement(using: &random) ?? nil
    map = length.map { Data((0..<$0).map { UInt8(truncatingIfNeeded: $0 &* 31) }) }
  }

  private init(_ journey: Journey) {
    code = journey.code
    title = journey.title
    begins = journey.begins
    ends = journey.ends
    budget = journey.budget
    rating = journey.rating
    stops = journey.stops
    codes = journey.codes
    map = journey.map
  }

  func insert(into context: ModelContext) {
    let journey = Journey(code, title: title)
    journey.begins = begins
    journey.ends = ends
    journey.budget = budget
    journey.rating = rating
    journey.stops = stops
    journey.codes = codes
    journey.map = map
    context.insert(journey)
  }

  static func all(in context: ModelContext) throws -> [AnyJourney] {
    try context.fetch(FetchDescriptor<Journey>()).map(AnyJourney.init)
      .sorted { (Int($0.code) ?? 0) < (Int($1.code) ?? 0) }
  }

  /// To the last bit: NaN is itself, zero has a sign, and a text its scalars.
  static func == (lhs: AnyJourney, rhs: AnyJourney) -> Bool {
    func same(_ lhs: Double, _ rhs: Double) -> Bool { lhs.bitPattern == rhs.bitPattern }
    func same(_ lhs: String, _ rhs: String) -> Bool { lhs.utf8.elementsEqual(rhs.utf8) }
    return lhs.code == rhs.code && same(lhs.title, rhs.title) && lhs.begins == rhs.begins
      && lhs.ends == rhs.ends && lhs.budget == rhs.budget && same(lhs.rating, rhs.rating)
      && lhs.codes == rhs.codes && lhs.map == rhs.map && lhs.stops.count == rhs.stops.count
      && zip(lhs.stops, rhs.stops).allSatisfy {
        same($0.place, $1.place) && $0.nights == $1.nights && $0.day == $1.day
          && $0.ticket == $1.ticket
          && ($0.price.isNaN && $1.price.isNaN || same($0.price, $1.price))
      }
  }
}
