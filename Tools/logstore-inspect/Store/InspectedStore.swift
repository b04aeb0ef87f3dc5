import ArgumentParser
import LogEngine
import RowFormat
import Terminal

/// A store opened to be looked at, as of one commit, and the part of it that is shown.
///
/// A damaged store is opened as far as it can be read: ``damage`` then tells where that ends, and
/// ``finish()`` ends the command with it, once everything else was shown.
final class InspectedStore {
  let path: String
  let engine: StorageEngine
  /// The state that is shown.
  private(set) var view: ReadView
  /// The catalogue of that state.
  var catalogue: Catalogue { view.catalogue }
  /// The tables and columns that are shown.
  let visibility: Visibility
  /// The first damage that was met.
  private(set) var damage: StorageError?
  /// The rows that could not be read.
  private(set) var unreadableRows: [RowReference] = []
  /// The last commit that was visited before damage in the log.
  private var endOfWalk: CommitSequence?
  /// Whether the user wants a walk through rows or commits to end; asked now and then during the walk.
  var isInterrupted: () -> Bool = { false }
  private var stepCount = 0

  /// The extent of the tables and columns that are shown.
  enum Visibility {
    /// Those an app declares.
    case declared
    /// Also those the layers between app and engine keep for themselves, and columns no longer in use.
    case all
  }

  /// Opens a store to be read only.
  ///
  /// - Parameters:
  ///   - store: The store, and how it is read.
  ///   - visibility: The part of it that is shown.
  ///   - sequence: The commit whose state is shown; the newest, if `nil`.
  ///   - console: The environment with the store's file system.
  /// - Throws: ``ToolError`` if nothing of it can be read.
  convenience init(
    _ store: StoreOptions,
    _ visibility: Visibility = .declared,
    at sequence: UInt64? = nil,
    in console: Console
  ) throws(ToolError) {
    try self.init(
      store.path,
      visibility,
      at: sequence,
      on: console.fileSystem,
      reads: store.reads
    )
  }

  init(
    _ path: String,
    _ visibility: Visibility = .declared,
    at sequence: UInt64? = nil,
    on fileSystem: any FileSystem,
    reads: EngineOptions.ReadMethod = .mapped
  ) throws(ToolError) {
    self.path = StorePath.normalized(path)
    self.visibility = visibility
    do {
      let (engine, damage) = try Self.open(self.path, on: fileSystem, reads)
      self.engine = engine
      self.damage = damage
      view =
        if let sequence {
          try engine.makeReadView(at: CommitSequence(sequence))
        } else {
          engine.makeReadView()
        }
    } catch let error as StorageError {
      throw ToolError(error, at: path)
    } catch {
      throw ToolError("the store cannot be read: \(error)", place: path)
    }
  }

  private static func open(
    _ path: String,
    on fileSystem: any FileSystem,
    _ reads: EngineOptions.ReadMethod
  ) throws(StorageError) -> (StorageEngine, StorageError?) {
    var options = EngineOptions()
    options.mode = .readOnly
    options.missingStore = .fail
    options.reads = reads
    do throws(StorageError) {
      return (try StorageEngine.open(at: path, options: options, fileSystem: fileSystem), nil)
    } catch .corruption(let corruption) {
      options.mode = .readOnlyUpToDamage
      let engine = try StorageEngine.open(at: path, options: options, fileSystem: fileSystem)
      return (engine, engine.recovery.damage ?? .corruption(corruption))
    }
  }
}

// MARK: Following

extension InspectedStore {
  /// Moves on to the newest commit of the writer.
  ///
  /// - Returns: Whether there was a new one.
  func refresh() throws(StorageError) -> Bool {
    let previous = view.sequence
    try engine.refresh()
    if engine.lastCommit == previous { return false }
    view = engine.makeReadView()
    return true
  }

  /// Moves on to the newest commit of the writer, in as many steps as that takes, and forgets the damage that was met.
  func refreshWholly() throws(StorageError) {
    (damage, unreadableRows, endOfWalk) = (nil, [], nil)
    view = engine.makeReadView()
    // The result of a compaction becomes visible only once no view is of a commit before it: not even the last one here.
    while try refresh() {}
  }

  /// Shows the state of an earlier commit, until the next refresh.
  func look(at sequence: UInt64) throws {
    view = try engine.makeReadView(at: CommitSequence(sequence))
  }

  /// Ends a walk if the user wants it to end; called at each of its steps.
  ///
  /// - Throws: ``Interruption``.
  func checkInterruption() throws(Interruption) {
    stepCount &+= 1
    if stepCount & 0xFF == 0, isInterrupted() { throw Interruption() }
  }
}

extension StorageError {
  /// Whether a follower cannot continue because its writer compacted the store: its present files have to be
  /// found out anew.
  var leavesBehind: Bool {
    switch self {
    case .missingFile, .commitGone: true
    default: false
    }
  }
}

/// The end of a walk in the middle, at the user's request.
struct Interruption: Error {}

// MARK: Damage

extension InspectedStore {
  /// Records damage; the first counts.
  func recordDamage(_ error: StorageError) { damage = damage ?? error }

  /// Records a row that cannot be read.
  func recordDamage(_ error: StorageError, of row: RowReference) {
    recordDamage(error)
    unreadableRows.append(row)
  }

  /// Records damage that ends a walk through the log.
  func recordDamage(_ error: StorageError, after last: CommitSequence?) {
    recordDamage(error)
    endOfWalk = last ?? .zero
  }

  /// Ends a command: throws the damage that was met, if any.
  func finish() throws(ToolError) {
    guard let damage else { return }
    var error = ToolError(damage, at: path)
    // Nothing is wrong with what could not be read.
    if damage.isSystemFailure { throw error }
    error.status = .damaged
    let last = endOfWalk ?? view.sequence
    var shown = "what is shown ends with commit \(last.rawValue)"
    if !unreadableRows.isEmpty {
      let names = unreadableRows.prefix(8).map { name(of: $0).printable }
      let more = unreadableRows.count - names.count
      shown += " and lacks " + names.joined(separator: ", ")
      if more > 0 { shown += " and \(more.counted("more row"))" }
    }
    error.advice =
      "\(shown);\n`logstore-inspect verify` lists all damage, `salvage` copies what is left"
    throw error
  }
}

// MARK: Entities

extension InspectedStore {
  /// The tables that are shown, by name.
  var tables: [TableDefinition] {
    catalogue.tables.filter { isShown($0.name) }.sorted { $0.name < $1.name }
  }

  /// The tables to show: the one of an entity, or all if none is named.
  func tables(named entity: String?) throws(ToolError) -> [TableDefinition] {
    if let entity { [try table(named: entity)] } else { tables }
  }

  /// The table of an entity.
  func table(named entity: String) throws(ToolError) -> TableDefinition {
    if let table = catalogue.table(named: entity) { return table }
    // It may be in the part that cannot be read.
    try finish()
    let names = tables.map(\.name)
    throw ToolError(
      "the store has no such entity",
      place: path,
      expected: names.isEmpty
        ? "nothing: the store has no entities" : names.joined(separator: ", "),
      found: entity.printable,
      advice: NearestName.of(entity, among: names).map { "\($0)?" }
    )
  }

  /// The columns of a table that are shown, in the order rows are written in now.
  func columns(of table: TableDefinition) -> [ColumnDefinition] {
    let current = table.layout(table.currentLayout)?.columns ?? []
    let order = current + table.columns.map(\.number).filter { !current.contains($0) }
    return order.compactMap { table.column($0) }.filter(isShown)
  }

  func isShown(_ table: TableDefinition) -> Bool { isShown(table.name) }

  func isShown(_ column: ColumnDefinition) -> Bool {
    visibility == .all || (!column.isRetired && isShown(column.name))
  }

  /// Names that begin with an underscore belong to the layers below the app.
  private func isShown(_ name: String) -> Bool { visibility == .all || !name.hasPrefix("_") }

  func name(ofTable number: UInt16) -> String {
    catalogue.table(number)?.name ?? "table \(number)"
  }

  /// A row as people name it: `Entity/key`.
  func name(of reference: RowReference) -> String {
    "\(name(ofTable: reference.table))/\(reference.key)"
  }
}

// MARK: Rows

extension InspectedStore {
  /// Visits the rows of a table in key order; rows that cannot be read are noted and passed over.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - keys: The keys to visit.
  ///   - body: Called with each row's key, layout and bytes.
  /// - Throws: What `body` throws, unless it is damage.
  func forEachRow(
    of table: TableDefinition,
    keys: ClosedRange<UInt64> = 0...RowReference.maximumKey,
    _ body: (UInt64, LayoutNumber, RawSpan) throws -> ScanControl
  ) throws {
    let end = min(keys.upperBound, RowReference.maximumKey) + 1
    guard keys.lowerBound < end else { return }
    var next = keys.lowerBound
    while next < end {
      var visited: UInt64?
      do {
        return try view.scan(table.number, in: next..<end) { key, layout, row in
          next = key + 1
          try checkInterruption()
          visited = key
          let control = try body(key, layout, row)
          visited = nil
          return control
        }
      } catch let error as StorageError {
        if let visited {
          recordDamage(error, of: RowReference(table: table.number, key: visited))
          continue
        }
      }
      // A row after the last one is damaged.
      if try readUpToDamage(of: table.number, from: &next, to: end, body) == .stop { return }
    }
  }

  /// Visits rows one by one up to the first that cannot be read, which is noted.
  ///
  /// Keys may be far apart, also in a forged store: those of the index are visited, and no others.
  ///
  /// - Returns: Whether to continue after that row.
  private func readUpToDamage(
    of table: UInt16,
    from next: inout UInt64,
    to end: UInt64,
    _ body: (UInt64, LayoutNumber, RawSpan) throws -> ScanControl
  ) throws -> ScanControl {
    while let key = view.firstKey(of: table, from: next), key < end {
      next = key + 1
      let reference = RowReference(table: table, key: key)
      try checkInterruption()
      do {
        if try view.withRow(reference, { try body(key, $1, $0) }) == .stop { return .stop }
      } catch let error as StorageError {
        recordDamage(error, of: reference)
        return .proceed
      }
    }
    return .stop
  }
}

/// The path of a store as the engine wants it.
enum StorePath {
  /// The path without slashes at its end.
  static func normalized(_ path: String) -> String {
    var path = path[...]
    while path.count > 1, path.last == "/" { path.removeLast() }
    return String(path)
  }

  /// Refuses an empty name of a copy: that of an unset variable, for instance.
  static func checkDestination(_ path: String) throws(ValidationError) {
    if path.isEmpty {
      throw ValidationError("The destination must be a path, and is an empty text.")
    }
  }
}
