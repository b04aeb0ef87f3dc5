#if PostgreSQL
package import LogEngine
package import PostgresStore
import RowFormat

/// Moves all rows of a store between a log and a server: keys, references, places in lists and the store's identifier
/// stay as they are, so that identifiers of models stay valid.
///
///     let report = try StoreMove(
///       from: .log("trips.store"), to: .server(url: url, namespace: "trips")
///     ).run(.move) { progress in … }
///
/// The source is not changed, and nobody may write to it meanwhile. The target appears complete and compared, or not at
/// all.
package struct StoreMove {
  /// Where a store is, or will be.
  package enum Place: Sendable, Hashable {
    case log(String)
    /// A schema of a database.
    case server(url: String, namespace: String)
  }

  /// How far a move goes.
  package enum Extent: Sendable {
    case move
    /// All values are read and tested, and nothing is written.
    case rehearsal
  }

  /// How far a move has come.
  package struct Progress: Sendable, Hashable {
    package enum Phase: Sendable, Hashable { case copying, comparing }

    package let phase: Phase
    package let table: String
    package let rowCount: Int
    package let total: Int
  }

  /// What was moved.
  package struct Report: Sendable {
    package struct Table: Sendable {
      package let name: String
      package let digest: RowDigest
    }

    /// The source and the target, for people.
    package let source: String
    package let target: String
    /// The identifier of the store.
    package let identifier: String
    package let tables: [Table]
    /// How long copying and comparing took.
    package let copying: Duration
    package let comparing: Duration

    package var rowCount: Int { tables.reduce(0) { $0 + $1.digest.rowCount } }
  }

  private let source: Place
  private let target: Place
  private let fileSystem: any FileSystem

  /// Describes a move.
  ///
  /// - Parameters:
  ///   - source: Where the store is.
  ///   - target: Where it is to be: a place with nothing in it, of the other kind.
  ///   - fileSystem: The file system that holds the log.
  package init(
    from source: Place,
    to target: Place,
    on fileSystem: any FileSystem = PosixFileSystem()
  ) {
    self.source = source
    self.target = target
    self.fileSystem = fileSystem
  }

  /// Moves the store.
  ///
  /// - Parameters:
  ///   - extent: Whether anything is written.
  ///   - progress: Called now and then; what it throws ends the move.
  /// - Returns: What was moved.
  /// - Throws: ``MoveError``, `PostgresStoreError`, `StorageError`; then there is nothing at the target.
  package func run(
    _ extent: Extent,
    progress: @escaping (Progress) throws -> Void = { _ in }
  ) throws -> Report {
    switch (source, target) {
    case (.log(let path), .server(let url, let namespace)):
      return try move(
        LogSource(path, on: fileSystem),
        path,
        to: ServerImport(url: url, namespace: namespace),
        extent,
        progress
      )
    case (.server(let url, let namespace), .log(let path)):
      try LogTarget.check(path, on: fileSystem)
      return try move(ServerExport(url: url, namespace: namespace), to: path, extent, progress)
    default: preconditionFailure("a move is between a log and a server")
    }
  }

  // MARK: To a server

  private func move(
    _ source: LogSource,
    _ path: String,
    to target: ServerImport,
    _ extent: Extent,
    _ progress: @escaping (Progress) throws -> Void
  ) throws -> Report {
    var meter = Meter(progress)
    try target.check(source.tables)
    if extent == .move {
      try target.make(source.tables, identifier: source.identifier, version: source.version)
    }
    var highestRank: Int64 = 0
    var tables: [Report.Table] = []
    let start = ContinuousClock.now
    for table in source.tables {
      let layout = table.layout
      let ranks = table.rankColumns
      try meter.begin(.copying, table, of: source.rowCount(of: table))
      func visit(_ add: (RowReference, RawSpan) throws -> Void) throws {
        try source.forEachRow(of: table) { reference, row in
          for rank in ranks where !layout.isNull(rank, in: row) {
            highestRank = max(highestRank, layout.integer(rank, in: row))
          }
          try add(reference, row)
          try meter.advance()
        }
      }
      let digest =
        switch extent {
        case .move: try target.copy(table, open: source.open, visit)
        case .rehearsal: try RowDigest(of: table, open: source.open, visit)
        }
      try meter.end()
      tables.append(Report.Table(name: table.name, digest: digest))
    }
    let copied = ContinuousClock.now
    if extent == .move {
      for (table, moved) in zip(source.tables, tables) {
        try meter.begin(.comparing, table, of: moved.digest.rowCount)
        let found = try target.digest(of: table) { try meter.reach($0) }
        try meter.end()
        try compare(moved, found)
      }
      try target.commit(source.tables, highestRank: highestRank)
    }
    return Report(
      source: path,
      target: target.place,
      identifier: source.identifier,
      tables: tables,
      copying: start.duration(to: copied),
      comparing: copied.duration(to: .now)
    )
  }

  // MARK: From a server

  private func move(
    _ source: ServerExport,
    to path: String,
    _ extent: Extent,
    _ progress: @escaping (Progress) throws -> Void
  ) throws -> Report {
    var meter = Meter(progress)
    let target = extent == .move ? try LogTarget(path, on: fileSystem) : nil
    try target?.make(
      source.tables,
      identifier: source.identifier,
      version: source.version,
      rankBase: source.nextRank()
    )
    var tables: [Report.Table] = []
    let start = ContinuousClock.now
    for table in source.tables {
      try meter.begin(.copying, table, of: source.rowCount(of: table))
      var digest = RowDigest()
      if let target {
        try target.fill(table) { blob, add in
          digest = try source.forEachRow(of: table, blob: blob) { reference, row in
            try add(reference, row)
            try meter.advance()
          }
        }
      } else {
        digest = try source.forEachRow(of: table, blob: { _ in nil }) { _, _ in
          try meter.advance()
        }
      }
      try meter.end()
      tables.append(Report.Table(name: table.name, digest: digest))
    }
    let copied = ContinuousClock.now
    if let target {
      for (table, moved) in zip(source.tables, tables) {
        try meter.begin(.comparing, table, of: moved.digest.rowCount)
        let found = try target.digest(of: table) { try meter.reach($0) }
        try meter.end()
        try compare(moved, found)
      }
      try target.finish()
    }
    return Report(
      source: source.place,
      target: path,
      identifier: source.identifier,
      tables: tables,
      copying: start.duration(to: copied),
      comparing: copied.duration(to: .now)
    )
  }

  private func compare(_ moved: Report.Table, _ found: RowDigest) throws {
    guard found == moved.digest else {
      throw MoveError.digestsDiffer(table: moved.name, source: moved.digest, target: found)
    }
  }
}

extension TableDescription {
  /// The positions of the columns with the places of rows in lists.
  fileprivate var rankColumns: [Int] {
    columns.indices.filter { columns[$0].name.hasPrefix("_rank_") && columns[$0].type == .integer }
  }
}

/// Counts rows, and tells of them now and then.
private struct Meter {
  private let report: (StoreMove.Progress) throws -> Void
  private var phase = StoreMove.Progress.Phase.copying
  private var table = ""
  private var total = 0
  private var rowCount = 0

  init(_ report: @escaping (StoreMove.Progress) throws -> Void) { self.report = report }

  mutating func begin(
    _ phase: StoreMove.Progress.Phase,
    _ table: TableDescription,
    of total: Int
  ) throws {
    (self.phase, self.table, self.total, rowCount) = (phase, table.name, total, 0)
    try tell()
  }

  mutating func advance() throws {
    rowCount += 1
    if rowCount & 0xFFF == 0 { try tell() }
  }

  mutating func reach(_ rowCount: Int) throws {
    self.rowCount = rowCount
    try tell()
  }

  mutating func end() throws {
    rowCount = total
    try tell()
  }

  private func tell() throws {
    try report(
      StoreMove.Progress(phase: phase, table: table, rowCount: rowCount, total: total)
    )
  }
}
#endif
