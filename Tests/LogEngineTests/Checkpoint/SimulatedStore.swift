import Locking
import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

/// A store on a simulated disk, with one table of a number and a text.
final class SimulatedStore {
  static let path = "/store"
  static let text = String(repeating: "row ", count: 20)
  let fileSystem: SimulatedFileSystem
  let engine: StorageEngine
  let layout = RowLayout([.integer, .text])

  /// Opens a store, or makes one.
  ///
  /// - Parameters:
  ///   - fileSystem: Where it is.
  ///   - hooked: The same, as the engine is to see it.
  ///   - durability: When a commit returns.
  ///   - mode: What may be done to it.
  ///   - segment: The size of its segments.
  ///   - checkedPageLimit: The number of pages of a checkpoint up to which they are checked at the opening.
  ///   - onEvent: What is called with events.
  /// - Throws: What the engine throws.
  init(
    _ fileSystem: SimulatedFileSystem = SimulatedFileSystem(seed: 1),
    hooked: HookedFileSystem? = nil,
    durability: EngineOptions.Durability = .full,
    mode: EngineOptions.Mode = .readWrite,
    segment: Int = 16 << 10,
    checkedPageLimit: Int = EngineOptions().checkedPageLimit,
    onEvent: EngineEventHandler? = nil
  ) throws {
    self.fileSystem = fileSystem
    var options = EngineOptions()
    options.background = .caller
    options.smallestSegment = segment
    options.largestSegment = segment
    options.durability = durability
    options.mode = mode
    options.checkedPageLimit = checkedPageLimit
    engine = try StorageEngine.open(
      at: Self.path,
      options: options,
      fileSystem: hooked ?? fileSystem,
      onEvent: onEvent
    )
    if engine.catalogue.tables.isEmpty {
      try engine.apply([
        .addTable(name: "numbers"),
        .addColumn(table: 1, name: "number", type: .integer, isNullable: false),
        .addColumn(table: 1, name: "text", type: .text, isNullable: true),
        .setLayout(table: 1, columns: [1, 2]),
      ])
    }
  }

  /// Opens a store on a copy of a disk.
  convenience init(
    on disk: Disk,
    mode: EngineOptions.Mode = .readWrite,
    segment: Int = 16 << 10
  ) throws {
    try self.init(SimulatedFileSystem(seed: 2, disk: disk), mode: mode, segment: segment)
  }

  var disk: Disk { fileSystem.disk }
  var usages: SegmentUsages { engine.state.log.tail.withLock { $0.usages } }

  /// The checkpoints' paths, oldest first.
  var checkpoints: [String] { disk.paths.filter { $0.hasPrefix("/store/index/") } }

  /// The segments' paths, oldest first.
  var segments: [String] { disk.paths.filter { $0.hasPrefix("/store/log/") } }

  /// From now on, the device has room for so many bytes more.
  func leave(_ free: Int) {
    var plan = FaultPlan()
    plan.capacity = disk.byteCount + free
    fileSystem.setFaults(plan)
  }

  // MARK: Rows

  /// Inserts rows in one commit.
  ///
  /// - Parameters:
  ///   - count: How many.
  ///   - first: The first one's key; one that was never given out, if `nil`.
  ///   - text: What each says.
  /// - Throws: What the engine throws.
  func insert(_ count: Int, at first: UInt64? = nil, text: String = SimulatedStore.text) throws {
    var batch = engine.makeBatch()
    let keys = first.map { $0..<($0 + UInt64(count)) } ?? engine.reserveKeys(count, in: 1)
    for key in keys {
      withRow(Int64(key), text) {
        batch.insert(RowReference(table: 1, key: key), layout: LayoutNumber(1), row: $0)
      }
    }
    try engine.commit(&batch)
  }

  /// Gives a row another number.
  func update(_ key: UInt64, number: Int64, text: String = SimulatedStore.text) throws {
    var changed = ColumnSet()
    changed.insert(0)
    try change(changed, of: key, number, text)
  }

  /// Gives a row another text, and writes it whole.
  func replace(_ key: UInt64, text: String) throws { try change(.all, of: key, Int64(key), text) }

  private func change(
    _ changed: ColumnSet,
    of key: UInt64,
    _ number: Int64,
    _ text: String
  ) throws {
    var batch = engine.makeBatch()
    withRow(number, text) {
      batch.update(
        RowReference(table: 1, key: key),
        layout: LayoutNumber(1),
        changed: changed,
        row: $0
      )
    }
    try engine.commit(&batch)
  }

  func delete(_ key: UInt64) throws {
    var batch = engine.makeBatch()
    batch.delete(RowReference(table: 1, key: key))
    try engine.commit(&batch)
  }

  /// Every row, by key.
  func rows() throws -> [UInt64: String] {
    var rows: [UInt64: String] = [:]
    try engine.scan(1) { key, _, row in
      rows[key] = "\(layout.integer(0, in: row)) \(layout.text(1, in: row))"
      return .proceed
    }
    #expect(engine.rowCount(of: 1) == rows.count)
    return rows
  }

  func withRow(_ number: Int64, _ text: String, _ body: (RawSpan) -> Void) {
    var writer = RowWriter()
    writer.begin(layout)
    writer.set(0, integer: number)
    writer.append(1, text: text)
    let range = writer.finish()
    body(writer.bytes.extracting(range))
  }
}

extension Disk {
  /// This disk after some damage.
  func damaged(_ path: String, _ kind: Damage.Kind) -> Disk {
    var disk = self
    Damage(path: path, kind: kind).apply(to: &disk)
    return disk
  }

  /// The bytes of a file.
  func bytes(of path: String) -> [UInt8] {
    image(of: path).map { $0.bytes(0..<$0.size) } ?? []
  }
}
