import LogEngine
import LogTools
import RowFormat
import Synchronization

/// One cell of the ``LifecycleCampaign``: a store, what is done to it, and what it must hold.
final class LifecycleRun {
  private typealias Rows = [UInt64: String]

  private static let path = "/store"
  private static let layout = RowLayout([.integer, .text])
  private static let tables: [CatalogueChange] = [
    .addTable(name: "numbers"),
    .addColumn(table: 1, name: "number", type: .integer, isNullable: false),
    .addColumn(table: 1, name: "text", type: .text, isNullable: true),
    .setLayout(table: 1, columns: [1, 2]),
  ]

  private let seed: UInt64
  private var random: SeededGenerator
  private var fileSystem: SimulatedFileSystem
  private var engine: StorageEngine?
  /// What was acknowledged.
  private var rows: Rows = [:]
  /// What had been when the last step began.
  private var rowsBefore: Rows = [:]
  /// The disk at some moment of the last step.
  private let moment = Moment()
  private var number = 0

  convenience init(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    try self.init(seed: seed, length: Self.length(using: &random))
  }

  private init(seed: UInt64, length: Int) throws {
    self.seed = seed
    random = SeededGenerator(seed: seed).forked(2)
    fileSystem = SimulatedFileSystem(seed: seed)
    let engine = try StorageEngine.open(at: Self.path, options: options, fileSystem: fileSystem)
    try engine.apply(Self.tables)
    self.engine = engine
    // The second row does not fit into the first segment, which can be packed then.
    try save(String(repeating: "x", count: 64_500))
    try save(String(repeating: "y", count: 2_000 + length * 8))
    try engine.close()
    self.engine = nil
    start(on: fileSystem.disk)
  }

  private var options: EngineOptions {
    var options = EngineOptions()
    options.background = .caller
    options.smallestSegment = 16 << 10
    options.largestSegment = 16 << 10
    options.checkpointInterval = 8 << 10
    options.compaction = .automatic
    options.idleDelay = .zero
    options.compactionStepByteCount = 4 << 10
    options.compactionPolicy.slackByteCount = 1
    options.compactionPolicy.packByteCounts = (8 << 10)...(64 << 10)
    options.history = seed % 2 == 0 ? .nothing : HistoryRetention(byteCount: 1)
    return options
  }

  /// Goes on with a disk as nobody has it open.
  private func start(on disk: Disk) {
    number += 1
    engine = nil
    let moment = moment
    fileSystem = SimulatedFileSystem(seed: seed &+ UInt64(number), disk: disk) { _, disk in
      moment.note(disk)
    }
  }

  // MARK: Lengths

  /// By how many times eight bytes the log is longer than the shortest; mostly so that the last page is nearly full.
  private static func length(using random: inout SeededGenerator) -> Int {
    if random.oneIn(4) { return Int.random(in: 0..<512, using: &random) }
    let rest = 8 * Int.random(in: 0..<8, using: &random)
    return ((-rest - shortestEnd) & 4095) / 8
  }

  /// Where the log ends in its segment if the second row is as short as it gets.
  private static let shortestEnd: Int = {
    guard let run = try? LifecycleRun(seed: 0, length: 0),
      let path = run.fileSystem.disk.paths.last(where: { $0.hasSuffix(".seg") }),
      let image = run.fileSystem.disk.image(of: path),
      let last = image.bytes(0..<image.size).lastIndex(where: { $0 != 0 })
    else { preconditionFailure("a store that is written and closed has a segment") }
    return (last + 8) & ~7
  }()
}

// MARK: Steps

extension LifecycleRun {
  func take(_ step: LifecycleCampaign.Step) throws {
    rowsBefore = rows
    moment.begin(seed: random.next())
    switch step {
    case .save: try save("saved")
    case .checkpoint: try open().checkpoint()
    case .compact: try open().compact(keeping: HistoryRetention(byteCount: 1))
    case .trim: try open().compact(keeping: .nothing)
    case .migrate: try migrate()
    case .discardMigration: try discardMigration()
    case .follow: try follow()
    case .backUp: try backUp()
    case .rest:
      let engine = try open()
      for _ in 0..<8 { engine.performBackgroundWork() }
    case .close:
      try open().close()
      engine = nil
      try checkMark()
    case .kill:
      _ = try open()
      start(on: fileSystem.disk)
    case .cutPower:
      _ = try open()
      start(on: powerCut(of: fileSystem.disk))
    }
  }

  @discardableResult
  private func open() throws -> StorageEngine {
    if let engine { return engine }
    let engine = try StorageEngine.open(at: Self.path, options: options, fileSystem: fileSystem)
    self.engine = engine
    return engine
  }

  private func save(_ text: String) throws {
    let saved = try Self.insert(text, into: open())
    rows.merge(saved) { $1 }
  }

  /// Inserts one row in one commit.
  ///
  /// - Returns: The row.
  private static func insert(_ text: String, into engine: StorageEngine) throws -> Rows {
    let key = engine.reserveKeys(1, in: 1).lowerBound
    var writer = RowWriter()
    writer.begin(layout)
    writer.set(0, integer: Int64(key))
    writer.append(1, text: text)
    let range = writer.finish()
    var batch = engine.makeBatch()
    batch.insert(
      RowReference(table: 1, key: key),
      layout: LayoutNumber(1),
      row: writer.bytes.extracting(range)
    )
    try engine.commit(&batch)
    return [key: "\(key) \(text)"]
  }

  private func migrate() throws {
    let staged = try open().makeStagedStore()
    number += 1
    let change = CatalogueChange.addColumn(
      table: 1,
      name: "column \(number)",
      type: .text,
      isNullable: true
    )
    try staged.engine.apply([change])
    let saved = try Self.insert("migrated", into: staged.engine)
    engine = try staged.publish()
    rows.merge(saved) { $1 }
  }

  private func discardMigration() throws {
    let staged = try open().makeStagedStore()
    _ = try Self.insert("discarded", into: staged.engine)
    staged.discard()
    engine = nil
  }

  private func follow() throws {
    let writer = try open()
    var options = options
    options.mode = .readOnly
    let reader = try StorageEngine.open(at: Self.path, options: options, fileSystem: fileSystem)
    try Self.expect(rows, in: reader, "the follower")
    try save("followed")
    writer.performBackgroundWork()
    try reader.refresh()
    try Self.expect(rows, in: reader, "the follower, later,")
  }

  private func backUp() throws {
    number += 1
    let path = "/backup-\(number)"
    try open().backup(to: path)
    let copy = try StorageEngine.open(at: path, options: options, fileSystem: fileSystem)
    try Self.expect(rows, in: copy, "the backup")
    try copy.close()
    let report = try StorageEngine.verify(at: path, fileSystem: fileSystem)
    guard report.problems.isEmpty else { throw Mismatch("the backup: \(report.problems)") }
  }
}

// MARK: Looking

extension LifecycleRun {
  /// Opens what the last step left behind, whether the process, the power or nothing ends with it.
  func check(_ result: inout CampaignResult) throws {
    let disk = fileSystem.disk
    try check(disk, [rows], "killed now", &result)
    for _ in 0..<2 { try check(powerCut(of: disk), [rows], "power cut now", &result) }
    if let disk = moment.disk {
      try check(disk, [rowsBefore, rows], "killed in the middle", &result)
      try check(powerCut(of: disk), [rowsBefore, rows], "power cut in the middle", &result)
    }
  }

  /// Closes the store, and looks at it a last time.
  func end(_ result: inout CampaignResult) throws {
    try open().close()
    engine = nil
    try checkMark()
    try check(fileSystem.disk, [rows], "closed", &result)
  }

  /// A store whose manifest says that it was closed ends with the mark that it was.
  private func checkMark() throws {
    let inspection = StoreInspection(at: Self.path, fileSystem: fileSystem)
    guard try inspection.manifests().last?.content?.isClean == true else { return }
    var options = options
    options.mode = .readOnly
    let reader = try StorageEngine.open(at: Self.path, options: options, fileSystem: fileSystem)
    guard reader.recovery.wasClosedCleanly else {
      throw Mismatch("the manifest is clean, and the log does not end with a close mark")
    }
  }

  private func powerCut(of disk: Disk) -> Disk {
    let scenarios = disk.scenarios(random: random.forked(1), limits: .few)
    _ = random.next()
    let scenario = scenarios.randomElement(using: &random) ?? .nothingKept
    return disk.afterPowerCut(scenario.fates(of: disk.pending))
  }

  private func check(
    _ disk: Disk,
    _ allowed: [Rows],
    _ place: String,
    _ result: inout CampaignResult
  ) throws {
    guard result.states.insert(disk.hash).inserted else { return }
    let fileSystem = SimulatedFileSystem(seed: random.next(), disk: disk)
    do {
      // In the middle of being published, a staged change has a manifest and not yet all its files.
      if try fileSystem.list(Self.path + "/staged") == nil {
        let before = try StorageEngine.verify(at: Self.path, fileSystem: fileSystem)
        guard before.isSound else { throw Mismatch("before opening: \(before.problems)") }
      }
      let engine = try StorageEngine.open(at: Self.path, options: options, fileSystem: fileSystem)
      let found = try Self.rows(of: engine)
      guard allowed.contains(found) else {
        throw Mismatch("rows \(found.keys.sorted()), expected \(allowed.map { $0.keys.sorted() })")
      }
      try engine.close()
      let after = try StorageEngine.verify(at: Self.path, fileSystem: fileSystem)
      guard after.isSound else { throw Mismatch("after closing: \(after.problems)") }
    } catch {
      throw Mismatch("\(place): \((error as? Mismatch)?.description ?? "\(error)")")
    }
  }

  private static func rows(of engine: StorageEngine) throws -> Rows {
    var rows: Rows = [:]
    try engine.scan(1) { key, _, row in
      rows[key] = "\(layout.integer(0, in: row)) \(layout.text(1, in: row))"
      return .proceed
    }
    return rows
  }

  private static func expect(_ rows: Rows, in engine: StorageEngine, _ who: String) throws {
    let found = try self.rows(of: engine)
    guard found == rows else {
      throw Mismatch("\(who) has rows \(found.keys.sorted()), not \(rows.keys.sorted())")
    }
  }
}

/// The disk at one moment of a step, every moment as likely as the others.
private final class Moment: Sendable {
  private struct State: Sendable {
    var disk: Disk?
    var count = 0
    var random = SeededGenerator(seed: 0)
  }

  private let state = Mutex(State())

  var disk: Disk? { state.withLock { $0.disk } }

  func begin(seed: UInt64) {
    state.withLock { $0 = State(random: SeededGenerator(seed: seed)) }
  }

  func note(_ disk: Disk) {
    state.withLock { state in
      state.count += 1
      if state.random.oneIn(state.count) { state.disk = disk }
    }
  }
}
