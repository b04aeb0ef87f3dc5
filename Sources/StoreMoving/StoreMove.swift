#if PostgreSQL
package import LogEngine
package import PostgresStore

/// Moves all rows of a store between a log and a server: keys, references, places in lists and the store's identifier
/// stay as they are, so that identifiers of models stay valid.
///
///     let report = try StoreMove(
///       from: .log("trips.store"), to: .server(url: url, namespace: "trips")
///     ).run(.move) { progress in … }
///
/// The source is not changed. The target appears complete and compared, or not at all.
package struct StoreMove {
  /// The present or future place of a store.
  package enum Place: Sendable, Hashable {
    case log(String)
    /// A schema of a database.
    case server(url: String, namespace: String)
  }

  /// The extent of a move.
  package enum Extent: Sendable {
    /// No process may write to the source meanwhile.
    case move
    /// Saves of apps meanwhile are moved, too.
    case moveWhileWriting(until: End)
    /// All values are read and tested, and nothing is written.
    case rehearsal
  }

  /// The end of a move beside which apps write.
  package enum End: Sendable {
    /// The moment from which no process has the source open for writing: known only for a log.
    case sourceClosed
    /// The moment at which the rest takes little time to move; apps may still write to the source.
    case caughtUp
    /// The moment at which a closure returns `true`, which is called again and again.
    case told(@Sendable () -> Bool)
  }

  /// The progress of a move.
  package struct Progress: Sendable, Hashable {
    package enum Phase: Sendable, Hashable {
      case copying, comparing
      /// Everything is moved and compared but for the latest saves of apps: it is time to close the source.
      case following
    }

    package let phase: Phase
    package let table: String
    package let rowCount: Int
    package let total: Int
  }

  /// The result of a move.
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
    /// The state of the source that the target has: a commit, or a snapshot of the server.
    package let state: String
    package let tables: [Table]
    /// The durations of copying and comparing.
    package let copying: Duration
    package let comparing: Duration
    /// The saves that were made meanwhile and moved; `nil` if none could be made.
    package let following: Following?

    package var rowCount: Int { tables.reduce(0) { $0 + $1.digest.rowCount } }
  }

  /// The saves that were made during the move, and moved.
  package struct Following: Sendable {
    /// Number of replacements and removals of rows; a row counts each time.
    package var rowCount = 0
    /// Number of rounds.
    package var roundCount = 0
    /// Number of times everything was copied anew, since tables were changed or the log was packed.
    package var restartCount = 0
    /// The time from the decision to end until the target could be opened.
    package var ending = Duration.zero
  }

  private let source: Place
  private let target: Place
  private let fileSystem: any FileSystem

  /// Describes a move.
  ///
  /// - Parameters:
  ///   - source: The place of the store.
  ///   - target: Its new place: with nothing in it, and of the other kind.
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
  ///   - extent: Whether anything is written, and whether apps may write meanwhile.
  ///   - progress: Called now and then; what it throws ends the move.
  /// - Returns: The report.
  /// - Throws: ``MoveError``, `PostgresStoreError`, `StorageError`; then there is nothing at the target.
  package func run(
    _ extent: Extent,
    progress: @escaping (Progress) throws -> Void = { _ in }
  ) throws -> Report {
    let isFollowed = if case .moveWhileWriting = extent { true } else { false }
    switch (source, target) {
    case (.log(let path), .server(let url, let namespace)):
      let route = LogToServer(
        from: try LogSource(path, isFollowed ? .besideApp : .alone, on: fileSystem),
        path,
        to: try ServerImport(url: url, namespace: namespace)
      )
      var run = MoveRun(route, progress)
      return try run.run(extent, on: fileSystem)
    case (.server(let url, let namespace), .log(let path)):
      try LogTarget.check(path, on: fileSystem)
      let source = try ServerExport(
        url: url,
        namespace: namespace,
        isFollowed ? .besideApps : .alone
      )
      let target: LogTarget? =
        if case .rehearsal = extent { nil } else { try LogTarget(path, on: fileSystem) }
      var run = MoveRun(ServerToLog(from: source, to: target, path), progress)
      return try run.run(extent, on: fileSystem)
    default: preconditionFailure("a move is between a log and a server")
    }
  }
}
#endif
