#if PostgreSQL
import LogEngine
import PostgresStore
import RowFormat

/// The way from a log to a server.
final class LogToServer: MoveRoute {
  private let source: LogSource
  private let target: ServerImport
  let sourceName: String
  /// The last place in a list that a row was seen to have.
  private var highestRank: Int64 = 0

  init(from source: LogSource, _ path: String, to target: ServerImport) {
    self.source = source
    self.target = target
    sourceName = path
  }

  var targetName: String { target.place }
  var identifier: String { source.identifier }
  var state: String { "commit \(source.commit.rawValue)" }
  var tables: [TableDescription] { source.tables }

  func rowCount(of table: TableDescription) -> Int { source.rowCount(of: table) }

  func expectedRowCount(of table: TableDescription) -> Int { rowCount(of: table) }

  func begin() throws {
    try target.startAgain()
    try target.make(source.tables, identifier: source.identifier)
  }

  func copy(_ table: TableDescription, step: () throws -> Void) throws -> RowDigest {
    let (sent, skipped) = try target.copy(table, open: source.open) { add in
      try visit(table) {
        try add($0, $1)
        try step()
      }
    }
    source.owe(skipped)
    return sent
  }

  func rehearse(_ table: TableDescription, step: () throws -> Void) throws -> RowDigest {
    try target.check([table])
    return try RowDigest(of: table, open: source.open) { add in
      try visit(table) {
        try add($0, $1)
        try step()
      }
    }
  }

  private func visit(
    _ table: TableDescription,
    keys: [UInt64]? = nil,
    _ body: (RowReference, RawSpan) throws -> Void
  ) throws {
    let layout = table.layout
    let ranks = table.rankColumns
    try source.forEachRow(of: table, keys: keys) { reference, row in
      for rank in ranks where !layout.isNull(rank, in: row) {
        highestRank = max(highestRank, layout.integer(rank, in: row))
      }
      try body(reference, row)
    }
  }

  func readBack(
    _ table: TableDescription,
    progress: (Int) throws -> Void
  ) throws -> RowDigest {
    try target.digest(of: table, progress: progress)
  }

  func prepare() throws { try target.addIndexes(to: source.tables) }

  func advance() throws -> Set<RowReference>? { try source.advance() }

  func replace(_ keys: [UInt64], in table: TableDescription) throws -> RowReplacement {
    let replacement = try target.replace(keys, in: table, open: source.open) { add in
      try visit(table, keys: keys, add)
    }
    source.owe(replacement.skipped)
    return replacement
  }

  var isOwing: Bool { source.isOwing }

  func sourceIsClosed() throws -> Bool { try source.lockIfFree() }

  func advanceToEnd() throws -> Set<RowReference>? {
    // Of a log that is open still, the end is the commit that is the newest now.
    guard try source.lockIfFree() else { return try source.advance() }
    var touched: Set<RowReference> = []
    var commit: CommitSequence
    repeat {
      commit = source.commit
      guard let more = try source.advance() else { return nil }
      touched.formUnion(more)
    } while source.commit != commit
    return touched
  }

  func finish() throws {
    try target.commit(source.tables, version: source.version, highestRank: highestRank)
  }

  func settle() { target.analyze(source.tables) }
}
#endif
