import LogEngine
import RowFormat
import Synchronization

/// A store in memory with one table of a number and a text, and what it held after each commit.
final class MemoryStore: Sendable {
  let disk: InMemoryFileSystem
  let path = "store"
  private let configure: @Sendable (inout EngineOptions) -> Void
  private let recorder: EventRecorder?
  private let state = Mutex<State>(State())

  private struct State: Sendable {
    var engine: StorageEngine?
    /// The rows by commit.
    var history: [[UInt64: String]] = [[:]]
  }

  static let layout = RowLayout([.integer, .text])
  static let tableChanges: [CatalogueChange] = [
    .addTable(name: "numbers"),
    .addColumn(table: 1, name: "number", type: .integer, isNullable: false),
    .addColumn(table: 1, name: "text", type: .text, isNullable: true),
    .setLayout(table: 1, columns: [1, 2]),
  ]

  init(
    disk: InMemoryFileSystem = InMemoryFileSystem(),
    recorder: EventRecorder? = nil,
    _ configure: @escaping @Sendable (inout EngineOptions) -> Void = { _ in }
  ) throws {
    self.disk = disk
    self.recorder = recorder
    self.configure = configure
    try open()
    try engine.apply(Self.tableChanges)
    state.withLock { $0.history.append([:]) }
  }

  static func options(_ mode: EngineOptions.Mode = .readWrite) -> EngineOptions {
    var options = EngineOptions()
    options.mode = mode
    options.background = .caller
    options.smallestSegment = 16 << 10
    options.largestSegment = 32 << 10
    // So that compactions of a store as small as this have many steps, and packs.
    options.compactionStepByteCount = 2 << 10
    options.compactionPolicy.slackByteCount = 1
    options.compactionPolicy.packByteCounts = (8 << 10)...(64 << 10)
    return options
  }

  var engine: StorageEngine {
    guard let engine = state.withLock({ $0.engine }) else { preconditionFailure("not open") }
    return engine
  }

  func open() throws {
    var options = Self.options()
    configure(&options)
    let engine = try StorageEngine.open(
      at: path,
      options: options,
      fileSystem: disk,
      onEvent: recorder?.handler
    )
    state.withLock { $0.engine = engine }
  }

  /// Ends the store as a process that is killed does.
  func abandon() { state.withLock { $0.engine = nil } }

  func close() throws {
    try engine.close()
    abandon()
  }

  /// Opens the store a second time, beside the writer.
  func openReader(
    _ mode: EngineOptions.Mode = .readOnly,
    on fileSystem: (any FileSystem)? = nil,
    onEvent: EngineEventHandler? = nil
  ) throws -> StorageEngine {
    try StorageEngine.open(
      at: path,
      options: Self.options(mode),
      fileSystem: fileSystem ?? disk,
      onEvent: onEvent
    )
  }

  // MARK: Rows

  /// What the store held after each commit.
  var history: [[UInt64: String]] { state.withLock { $0.history } }
  var rows: [UInt64: String] { state.withLock { $0.history.last ?? [:] } }

  static func row(_ number: Int64, _ text: String) -> [UInt8] {
    var writer = RowWriter()
    writer.begin(layout)
    writer.set(0, integer: number)
    writer.append(1, text: text)
    let range = writer.finish()
    return writer.bytes.extracting(range).withUnsafeBytes { Array($0) }
  }

  enum Change {
    case insert(Int64, String)
    case update(UInt64, Int64)
    case replace(UInt64, Int64, String)
    case delete(UInt64)
  }

  /// Makes one commit.
  @discardableResult
  func commit(_ changes: [Change], author: String? = nil) throws -> [UInt64] {
    let engine = engine
    var batch = engine.makeBatch()
    batch.author = author
    var rows = rows
    var keys: [UInt64] = []
    for change in changes {
      switch change {
      case .insert(let number, let text):
        let key = engine.reserveKeys(1, in: 1).lowerBound
        keys.append(key)
        rows[key] = "\(number) \(text)"
        batch.insert(
          RowReference(table: 1, key: key),
          layout: LayoutNumber(1),
          row: Self.row(number, text).span.bytes
        )
      case .update(let key, let number):
        let text = rows[key].map { String($0.drop { $0 != " " }.dropFirst()) } ?? ""
        rows[key] = "\(number) \(text)"
        var changed = ColumnSet()
        changed.insert(0)
        batch.update(
          RowReference(table: 1, key: key),
          layout: LayoutNumber(1),
          changed: changed,
          row: Self.row(number, text).span.bytes
        )
      case .replace(let key, let number, let text):
        rows[key] = "\(number) \(text)"
        batch.update(
          RowReference(table: 1, key: key),
          layout: LayoutNumber(1),
          changed: .all,
          row: Self.row(number, text).span.bytes
        )
      case .delete(let key):
        rows[key] = nil
        batch.delete(RowReference(table: 1, key: key))
      }
    }
    try engine.commit(&batch)
    state.withLock { $0.history.append(rows) }
    return keys
  }

  /// Makes some commits of every kind, after which the log may have gone on to a new segment.
  func work(_ count: Int = 3, textLength: Int = 8) throws {
    for _ in 0..<count {
      let number = Int64(history.count)
      let text = String(repeating: "x", count: textLength)
      var changes: [Change] = [.insert(number, text), .insert(-number, "short")]
      if let key = rows.keys.max() { changes.append(.update(key, number)) }
      if history.count % 4 == 0, let key = rows.keys.min(), key != rows.keys.max() {
        changes.append(.delete(key))
      }
      try commit(changes)
    }
  }

  static func rows(of engine: StorageEngine) throws -> [UInt64: String] {
    var rows: [UInt64: String] = [:]
    try engine.scan(1) { key, _, row in
      rows[key] = "\(layout.integer(0, in: row)) \(layout.text(1, in: row))"
      return .proceed
    }
    return rows
  }

  static func rows(of view: ReadView) throws -> [UInt64: String] {
    var rows: [UInt64: String] = [:]
    try view.scan(1) { key, _, row in
      rows[key] = "\(layout.integer(0, in: row)) \(layout.text(1, in: row))"
      return .proceed
    }
    return rows
  }
}

// MARK: Files

extension MemoryStore {
  /// The files of the log, in order.
  var segments: [String] {
    let names = (try? disk.list(path + "/log")) ?? []
    return names.sorted().map { "\(path)/log/\($0)" }
  }

  func bytes(of path: String) throws -> [UInt8] { try disk.bytes(of: path) }

  /// Replaces a file's bytes; whoever has it open sees it.
  func write(_ bytes: [UInt8], to path: String) throws {
    let file = try disk.open(path, try disk.size(of: path) == nil ? .create : .write)
    try file.setSize(bytes.count)
    if !bytes.isEmpty { _ = try file.write(bytes.span.bytes, at: 0) }
  }
}

extension FileSystem {
  func bytes(of path: String) throws -> [UInt8] {
    let file = try open(path, .read)
    var bytes = [UInt8](repeating: 0, count: try file.size())
    try bytes.withUnsafeMutableBytes { buffer in
      var span = MutableRawSpan(_unsafeBytes: buffer)
      _ = try file.read(into: &span, at: 0)
    }
    return bytes
  }

  /// The paths of all files in a directory and those in it.
  func allFiles(in directory: String) throws -> [String] {
    var files: [String] = []
    for name in (try list(directory) ?? []).sorted() {
      let path = "\(directory)/\(name)"
      if try list(path) != nil {
        files += try allFiles(in: path)
      } else {
        files.append(path)
      }
    }
    return files
  }
}
