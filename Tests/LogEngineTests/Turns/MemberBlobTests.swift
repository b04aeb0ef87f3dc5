import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

/// Processes that keep photos in one store, die at any call, and come back; by lot.
private struct Albums {
  let disk = InMemoryFileSystem()
  private let locks = LockBoard()
  private var members: [Member?] = [nil, nil, nil]
  private var random: SeededGenerator
  private var rows: [UInt64: PhotoRow] = [:]
  /// What the store may hold instead, because a member died while it committed.
  private var perhaps: [UInt64: PhotoRow]?
  private(set) var deathCount = 0
  private(set) var highestFileCount = 0

  private typealias Member = (store: PhotoStore, fileSystem: MortalFileSystem)

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    try open(.oneProcess).store.engine.close()
  }

  private func open(
    _ writers: EngineOptions.Writers,
    livingFor count: Int? = nil
  ) throws -> Member {
    let fileSystem = MortalFileSystem(disk, locks)
    if let count { fileSystem.live(for: count) }
    var options = PhotoStore.options
    options.writers = writers
    options.smallestSegment = 8192
    do {
      let store = try PhotoStore(on: fileSystem, options)
      fileSystem.live(for: .max)
      return (store, fileSystem)
    } catch {
      fileSystem.kill()
      throw error
    }
  }

  mutating func step() throws {
    let slot = Int.random(in: 0..<members.count, using: &random)
    guard let member = members[slot] else {
      let count = random.oneIn(8) ? Int.random(in: 1...60, using: &random) : nil
      do {
        members[slot] = try open(.severalProcesses, livingFor: count)
      } catch  where count != nil {
        deathCount += 1
      }
      return
    }
    let mayDie = random.oneIn(5)
    if mayDie { member.fileSystem.live(for: Int.random(in: 1...30, using: &random)) }
    do {
      switch Int.random(in: 0..<12, using: &random) {
      case 0..<6: try commit(member.store)
      case 6..<9: member.store.engine.performBackgroundWork()
      case 9: try member.store.engine.compact()
      default:
        try member.store.engine.close()
        members[slot] = nil
      }
    } catch  where member.fileSystem.isDead {}
    if member.fileSystem.isDead {
      deathCount += 1
      members[slot] = nil
    } else {
      member.fileSystem.live(for: .max)
    }
  }

  private mutating func commit(_ store: PhotoStore) throws {
    var after = rows
    var isUnderWay = false
    do {
      try store.engine.inTurn {
        try settle(store)
        after = rows
        var changes: [PhotoStore.Change] = []
        let keys = rows.keys.sorted().shuffled(using: &random)
        if let key = keys.first, random.oneIn(2) {
          changes.append(
            random.oneIn(2) ? .delete(key) : .replacePhoto(key, makeRow("replaced"))
          )
        }
        if rows.count < 8 {
          let key = try store.engine.takeKeys(1, in: PhotoStore.table).lowerBound
          changes.append(.insert(key, makeRow("new")))
        }
        if changes.isEmpty { return }
        after.apply(changes)
        isUnderWay = true
        try store.commit(changes)
        rows = after
        isUnderWay = false
      }
    } catch {
      if isUnderWay { perhaps = after }
      throw error
    }
    highestFileCount = max(highestFileCount, try store.engine.blobUsage().fileCount)
  }

  private mutating func makeRow(_ title: String) -> PhotoRow {
    PhotoRow(
      title: title,
      photo: Photo(seed: random.next(), byteCount: Int.random(in: 60...900, using: &random))
    )
  }

  private mutating func settle(_ store: PhotoStore) throws {
    do {
      try store.check(rows)
    } catch let error as Mismatch {
      guard let other = perhaps else { throw error }
      try store.check(other)
      rows = other
    }
    perhaps = nil
  }

  /// Ends all, and lets the next session look for files that nobody owns.
  mutating func finish(_ writers: EngineOptions.Writers) throws {
    for member in members {
      member?.fileSystem.live(for: .max)
      try member?.store.engine.close()
    }
    members = [nil, nil, nil]
    let (store, _) = try open(writers)
    try settle(store)
    store.settle()
    try store.check(rows)
    #expect(try store.engine.blobUsage().fileCount == rows.external(above: store.threshold).count)
    try store.engine.close()
    // Nothing is left to look for.
    #expect(try !open(.oneProcess).store.engine.isSweepingBlobs)
  }
}

@Suite struct `Several processes that keep blobs in one store` {
  @Test(
    arguments: Thoroughness.some(Array(1...24 as ClosedRange<UInt64>)),
    [EngineOptions.Writers.oneProcess, .severalProcesses]
  )
  func `leave none without an owner to those that come after them`(
    seed: UInt64,
    writers: EngineOptions.Writers
  ) throws {
    var albums = try Albums(seed: seed)
    for _ in 0..<200 { try albums.step() }
    try albums.finish(writers)
    #expect(albums.deathCount > 0 && albums.highestFileCount > 4)
  }

  /// Each turn wakes all members.
  @Test func `take no turn to remove what another may still read, and look again by themselves`()
    throws
  {
    let (disk, locks) = (InMemoryFileSystem(), LockBoard())
    var options = PhotoStore.options
    options.writers = .severalProcesses
    options.idleDelay = nil
    let stores = try (0..<2).map { _ in
      try PhotoStore(on: MortalFileSystem(disk, locks), options)
    }
    let (writer, reader) = (stores[0].engine, stores[1].engine)
    let turns = try #require(writer.writer?.turns)
    let housekeeper = try #require(writer.writer?.housekeeper)
    let key = try writer.takeKeys(1, in: PhotoStore.table).lowerBound
    let first = Photo(seed: 1, byteCount: 500)
    try stores[0].commit([.insert(key, PhotoRow(title: "a", photo: first))])
    try reader.refresh()
    reader.performBackgroundWork()
    let photo = Photo(seed: 2, byteCount: 500)
    try stores[0].commit([.replacePhoto(key, PhotoRow(title: "a", photo: photo))])
    let count = try turns.file.readHolder().turns
    for _ in 0..<10 { writer.performBackgroundWork() }
    #expect(try turns.file.readHolder().turns == count)
    #expect(try writer.blobUsage().fileCount == 2)
    #expect(housekeeper.delay != nil)
    try reader.refresh()
    reader.performBackgroundWork()
    for _ in 0..<10 { writer.performBackgroundWork() }
    #expect(try turns.file.readHolder().turns == count + 1)
    #expect(try writer.blobUsage().fileCount == 1)
    #expect(housekeeper.delay == nil)
  }
}
