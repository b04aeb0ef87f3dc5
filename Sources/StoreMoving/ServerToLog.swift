#if PostgreSQL
import PostgresStore
import RowFormat

/// The way from a server to a log.
final class ServerToLog: MoveRoute {
  private let source: ServerExport
  /// `nil` if nothing is to be written.
  private let target: LogTarget?
  let targetName: String

  init(from source: ServerExport, to target: LogTarget?, _ path: String) {
    self.source = source
    self.target = target
    targetName = path
  }

  var sourceName: String { source.place }
  var identifier: String { source.identifier }
  var state: String { source.state }
  var tables: [TableDescription] { source.tables }

  private var written: LogTarget {
    guard let target else { preconditionFailure("a rehearsal writes nothing") }
    return target
  }

  func rowCount(of table: TableDescription) throws -> Int { try source.rowCount(of: table) }

  func expectedRowCount(of table: TableDescription) throws -> Int {
    try source.expectedRowCount(of: table)
  }

  func begin() throws {
    try written.startAgain()
    try written.make(source.tables, identifier: source.identifier)
  }

  func copy(_ table: TableDescription, step: () throws -> Void) throws -> RowDigest {
    var digest = RowDigest()
    try written.fill(table, .empty) { blob, add in
      digest = try source.forEachRow(of: table, blob: blob) { reference, row in
        try add(reference, row)
        try step()
      }
    }
    return digest
  }

  func rehearse(_ table: TableDescription, step: () throws -> Void) throws -> RowDigest {
    try source.forEachRow(of: table, blob: { _ in nil }) { _, _ in try step() }
  }

  func readBack(
    _ table: TableDescription,
    progress: (Int) throws -> Void
  ) throws -> RowDigest {
    try written.digest(of: table, progress: progress)
  }

  func prepare() {}

  func advance() throws -> Set<RowReference>? { try source.advance().map(Set.init) }

  func replace(_ keys: [UInt64], in table: TableDescription) throws -> RowReplacement {
    var replacement = RowReplacement()
    replacement.removed = try written.digest(of: table, keys: keys)
    var gone = Set(keys)
    try written.fill(table, .replacing) { blob, add in
      replacement.sent = try source.forEachRow(of: table, keys: keys, blob: blob) {
        reference,
        row in
        gone.remove(reference.key)
        try add(reference, row)
      }
    }
    try written.delete(gone.sorted(), of: table)
    replacement.found = try written.digest(of: table, keys: keys)
    return replacement
  }

  /// A row comes with its values.
  var isOwing: Bool { false }

  /// A server does not tell who is going to save.
  func sourceIsClosed() -> Bool { false }

  func advanceToEnd() throws -> Set<RowReference>? { try source.advanceAndLock().map(Set.init) }

  func finish() throws {
    try written.finish(source.tables, version: source.version, rankBase: source.nextRank())
  }

  func settle() {}
}
#endif
