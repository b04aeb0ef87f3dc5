import Foundation
import LogStore
import ModelRuntime
import PostgresStore
import Testing

@Suite struct `Moving a store while an app writes` {
  @Test(arguments: [1, 2, 3] as [UInt64])
  func `takes along what is saved in a log, until its app closes it`(seed: UInt64) throws {
    let place = try MovePlace()
    let written = try place.fill()
    let move: RunningMove
    var keys: Set<PersistentIdentifier> = []
    do {
      let container = try place.logContainer(at: place.log)
      var app = RandomApp(container, seed: seed)
      for _ in 0..<50 { try app.save() }
      move = try place.startMove(.toServer)
      while !move.isReadyOrEnded { try app.save() }
      for _ in 0..<100 { try app.save() }
      let context = ModelContext(container)
      keys = Set(try context.fetchIdentifiers(FetchDescriptor<Leg>()))
    }
    // Opened at once: it waits until the move has ended.
    let context = ModelContext(try place.serverContainer())
    #expect(Set(try context.fetchIdentifiers(FetchDescriptor<Leg>())) == keys, "seed \(seed)")
    let moved = try move.outcome()
    #expect(moved.status == 0, "seed \(seed): \(moved.output)")
    #expect(try moved.digests() == place.digests(.toServer), "seed \(seed)")
    #expect(try moved.digests() == place.digests(.fromServer), "seed \(seed)")
    #expect(try moved.following().rows > 0)
    // The unique constraints hold, and the app goes on.
    var app = RandomApp(try place.serverContainer(), seed: seed + 100)
    for _ in 0..<20 { try app.save() }
    _ = try written.journey(in: context)
    let leg = Leg("new")
    context.insert(leg)
    try context.save()
    #expect(!keys.contains(leg.persistentModelID))
  }

  @Test func `makes the indexes of lists before the app opens the server's side`() throws {
    let place = try MovePlace()
    do { _ = try place.fill() }
    let moved = try place.startMove(.toServer).outcome()
    #expect(moved.status == 0, "\(moved.output)")
    let session = try ServerSession(place.namespace.server.url)
    func indexes() throws -> [String] {
      try session.texts(
        "SELECT indexdef FROM pg_indexes WHERE schemaname = '\(place.namespace.name)' AND indexname LIKE '%_inverse' "
          + "ORDER BY indexname"
      )
    }
    let made = try indexes()
    #expect(!made.isEmpty)
    _ = try place.serverContainer()
    #expect(try indexes() == made)
  }

  @Test func `reads rows again whose large values an app removes meanwhile`() throws {
    let place = try MovePlace()
    let move: RunningMove
    do {
      let context = ModelContext(try place.logContainer(at: place.log))
      var journeys: [Journey] = []
      for number in 0..<300 {
        let journey = Journey("\(number)")
        journey.map = Data(repeating: UInt8(number & 0xFF), count: 70_000)
        context.insert(journey)
        journeys.append(journey)
      }
      try context.save()
      move = try place.startMove(.toServer)
      var number = 0
      while !move.isReadyOrEnded {
        // From the last one on: the move meets rows whose values are gone since it began.
        let journey = journeys[299 - number % 300]
        number += 1
        journey.map = number % 5 == 0 ? nil : Data(repeating: UInt8(number & 0xFF), count: 70_000)
        try context.save()
      }
    }
    let moved = try move.outcome()
    #expect(moved.status == 0, "\(moved.output)")
    #expect(try moved.digests() == place.digests(.toServer))
  }

  @Test func `goes on when the app compacts its log`() throws {
    let place = try MovePlace()
    let move: RunningMove
    do {
      let container = try place.logContainer(at: place.log)
      let store = try #require(container.stores(of: LogStore.self).first)
      var app = RandomApp(container, seed: 7)
      for _ in 0..<30 { try app.save() }
      move = try place.startMove(.toServer)
      while !move.isReadyOrEnded {
        try app.save()
        try store.compact()
      }
      for _ in 0..<30 {
        try app.save()
        try store.compact()
      }
    }
    let moved = try move.outcome()
    #expect(moved.status == 0, "\(moved.output)")
    #expect(try moved.digests() == place.digests(.toServer))
  }

  @Test(arguments: [4, 5, 6] as [UInt64])
  func `takes along what is saved on a server, until it is told to end`(seed: UInt64) throws {
    let place = try MovePlace()
    var app = RandomApp(try place.serverContainer(), seed: seed)
    for _ in 0..<30 { try app.save() }
    let move = try place.startMove(.fromServer)
    while !move.isReadyOrEnded { try app.save() }
    for _ in 0..<30 { try app.save() }
    move.tell()
    let moved = try move.outcome()
    #expect(moved.status == 0, "seed \(seed): \(moved.output)")
    #expect(try moved.digests() == place.digests(.fromServer), "seed \(seed)")
    #expect(try moved.following().rows > 0)
    let server = ModelContext(try place.serverContainer())
    let keys = Set(try server.fetchIdentifiers(FetchDescriptor<Leg>()))
    var back = RandomApp(try place.logContainer(at: place.back), seed: seed + 100)
    for _ in 0..<20 { try back.save() }
    let context = ModelContext(try place.logContainer(at: place.back))
    let leg = Leg("new")
    context.insert(leg)
    try context.save()
    #expect(!keys.contains(leg.persistentModelID))
  }

  @Test(arguments: [MovePlace.Direction.toServer, .fromServer])
  func `ends with one state of an app that goes on`(_ direction: MovePlace.Direction) throws {
    let place = try MovePlace()
    let container =
      direction == .toServer ? try place.logContainer(at: place.log) : try place.serverContainer()
    let context = ModelContext(container)
    let (left, right) = (Journey("left"), Journey("right"))
    context.insert(left)
    context.insert(right)
    func save() throws {
      left.rating += 1
      right.rating -= 1
      left.legs.append(Leg("more"))
      if left.legs.count > 20 {
        right.legs.append(left.legs[0])
        try context.save()
      }
      try context.save()
    }
    for _ in 0..<10 { try save() }
    let move = try place.startMove(direction, "--until", "caught-up")
    while !move.isReadyOrEnded { try save() }
    for _ in 0..<20 { try save() }
    let moved = try move.outcome()
    #expect(moved.status == 0, "\(moved.output)")
    let copy = ModelContext(
      direction == .toServer ? try place.serverContainer() : try place.logContainer(at: place.back)
    )
    let journeys = try copy.fetch(FetchDescriptor<Journey>(sortBy: [SortDescriptor(\.code)]))
    try #require(journeys.map(\.code) == ["left", "right"])
    #expect(journeys[0].rating > 0)
    #expect(journeys[0].rating + journeys[1].rating == 0)
    #expect(Double(journeys[0].legs.count + journeys[1].legs.count) == journeys[0].rating)
  }

  @Test func `copies anew when an app brings new columns`() throws {
    let place = try MovePlace()
    func withTrees<S: VersionedSchema>(_: S.Type, _ body: (ModelContext) throws -> Void) throws {
      let container = try ModelContainer(
        for: Schema(versionedSchema: S.self),
        migrationPlan: Ages.self,
        configurations: [LogStoreConfiguration(url: place.log)]
      )
      try body(ModelContext(container))
    }
    try withTrees(Younger.self) { context in
      context.insert(Younger.Tree("oak"))
      try context.save()
    }
    let move = try place.startMove(.toServer, "--until", "told")
    move.waitUntilReady()
    try withTrees(Older.self) { context in
      context.insert(Older.Tree("elm", height: 7))
      try context.save()
    }
    move.tell()
    let moved = try move.outcome()
    #expect(moved.status == 0, "\(moved.output)")
    #expect(try moved.following().restarts > 0)
    #expect(try moved.digests() == place.digests(.toServer))
    let container = try ModelContainer(
      for: Schema(versionedSchema: Older.self),
      migrationPlan: Ages.self,
      configurations: [place.namespace.configuration]
    )
    let trees = try ModelContext(container).fetch(
      FetchDescriptor<Older.Tree>(sortBy: [SortDescriptor(\.title)])
    )
    #expect(trees.map(\.title) == ["elm", "oak"])
    #expect(trees.map(\.height) == [7, 12])
  }

  @Test func `copies anew when history was deleted before it was read`() throws {
    let place = try MovePlace()
    let context = ModelContext(try place.serverContainer())
    context.insert(Leg("first"))
    try context.save()
    let move = try place.startMove(.fromServer)
    move.waitUntilReady()
    let session = try ServerSession(place.namespace.server.url)
    let namespace = place.namespace.name
    // As another process does that deletes its history in the same moment.
    try session.run("BEGIN")
    try session.run(
      "INSERT INTO \(namespace).\"Leg\" SELECT _id + 500, place, journey, \"_rank_journey\" FROM \(namespace).\"Leg\""
    )
    try session.run(
      "INSERT INTO \(namespace)._logstore_meta SELECT 'history.deleted', pg_current_xact_id()::text "
        + "ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    )
    try session.run("COMMIT")
    move.tell()
    let moved = try move.outcome()
    #expect(moved.status == 0, "\(moved.output)")
    #expect(try moved.following().restarts > 0)
    #expect(try moved.digests() == place.digests(.fromServer))
  }

  @Test func `says that rows were written which the history does not know`() throws {
    let place = try MovePlace()
    let context = ModelContext(try place.serverContainer())
    context.insert(Leg("first"))
    try context.save()
    let move = try place.startMove(.fromServer)
    move.waitUntilReady()
    let session = try ServerSession(place.namespace.server.url)
    try session.run("DELETE FROM \(place.namespace.name).\"Leg\"")
    move.tell()
    let moved = try move.outcome()
    #expect(moved.status != 0)
    #expect(moved.output.contains("without a note in the history"), "\(moved.output)")
    #expect(!FileManager.default.fileExists(atPath: place.back.path))
  }

  @Test(arguments: [MovePlace.Direction.toServer, .fromServer])
  func `leaves nothing that a next move would not remove when it is killed`(
    _ direction: MovePlace.Direction
  ) throws {
    let place = try MovePlace()
    let written = try place.fill()
    if direction == .fromServer { #expect(try place.move(.toServer).status == 0) }
    let before = try place.files(of: place.log)
    let move = try place.startMove(direction, "--until", "told")
    move.waitUntilReady()
    move.kill()
    #expect(try place.files(of: place.log) == before)
    let again = try place.move(direction)
    #expect(again.status == 0, "\(again.output)")
    let container =
      direction == .toServer ? try place.serverContainer() : try place.logContainer(at: place.back)
    try written.check(in: ModelContext(container))
    let names = try FileManager.default.contentsOfDirectory(atPath: place.folder.path)
    #expect(!names.contains { $0.hasSuffix(".moving") })
  }

  @Test func `leaves the server empty if a value cannot be moved that is saved later`() throws {
    let place = try MovePlace()
    _ = try place.fill()
    let container = try place.logContainer(at: place.log)
    let move = try place.startMove(.toServer)
    move.waitUntilReady()
    let context = ModelContext(container)
    context.insert(Leg("a\u{0}b"))
    try context.save()
    let moved = try move.outcome()
    #expect(moved.status == 1)
    #expect(moved.output.contains("U+0000"), "\(moved.output)")
    #expect(try place.isServerEmpty)
  }

  @Test func `copies anew when a part of the history was deleted before, and another one is now`()
    throws
  {
    let place = try MovePlace()
    let context = ModelContext(try place.serverContainer())
    context.insert(Leg("first"))
    try context.save()
    let session = try ServerSession(place.namespace.server.url)
    let namespace = place.namespace.name
    // What was deleted first is newer than what is deleted while the move goes on.
    try session.run(
      "INSERT INTO \(namespace)._logstore_meta VALUES ('history.deleted', '\(1 << 60)'), ('history.deletions', '1')"
    )
    let move = try place.startMove(.fromServer)
    move.waitUntilReady()
    try session.run("BEGIN")
    try session.run("UPDATE \(namespace).\"Leg\" SET place = 'second'")
    try session.run(
      "UPDATE \(namespace)._logstore_meta SET value = '2' WHERE key = 'history.deletions'"
    )
    try session.run("COMMIT")
    move.tell()
    let moved = try move.outcome()
    #expect(moved.status == 0, "\(moved.output)")
    #expect(try moved.following().restarts > 0)
    #expect(try moved.digests() == place.digests(.fromServer))
  }

  @Test func `takes along a table without columns`() throws {
    let place = try MovePlace()
    let context = ModelContext(try place.serverContainer())
    context.insert(Leg("first"))
    try context.save()
    let session = try ServerSession(place.namespace.server.url)
    let namespace = place.namespace.name
    try session.run("CREATE TABLE \(namespace).\"Mark\" (_id bigint PRIMARY KEY)")
    try session.run("INSERT INTO \(namespace).\"Mark\" VALUES (\(3 << 48 + 1))")
    try session.run("INSERT INTO \(namespace)._logstore_entity VALUES (3, 'Mark', 2)")
    try session.run("INSERT INTO \(namespace)._logstore_meta VALUES ('columns.Mark', '')")
    let moved = try place.move(.fromServer)
    #expect(moved.status == 0, "\(moved.output)")
    #expect(try moved.digests()["Mark"]?.hasPrefix("1 ") == true, "\(moved.output)")
  }
}
