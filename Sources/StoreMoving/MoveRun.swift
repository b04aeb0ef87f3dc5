#if PostgreSQL
import LogEngine
import PostgresStore
import RowFormat

/// A move under way: copies, compares, and follows what apps save meanwhile.
///
/// Rows are followed, not changes: the rows that the commits since the last state name are read again, as
/// one later state has them. So the target has one state of the source after each round, whatever happened in between.
/// Digests keep step: the old rows that are replaced are subtracted from a table's digest and the new ones added.
struct MoveRun<Route: MoveRoute> {
  private let route: Route
  private let report: (StoreMove.Progress) throws -> Void
  private var meter: Meter
  /// The digests of the source's tables, in their order.
  private var tables: [StoreMove.Report.Table] = []
  /// Rows that have to be read again, by table.
  private var pending: [UInt16: Set<UInt64>] = [:]
  private var following = StoreMove.Following()
  private var copying = Duration.zero
  private var comparing = Duration.zero

  /// Number of rows that are replaced by one statement.
  private static var chunk: Int { 4096 }
  /// A round that takes no longer has caught up with the app.
  private static var shortRound: Duration { .milliseconds(100) }
  /// Limits of the number of rows that wait for the next round, and of their wait: each round leaves dead rows on the
  /// server, and waiting rows are moved in the last moment, when the app waits, too.
  private static var pendingLimit: Int { 1000 }
  private static var pendingTime: Duration { .milliseconds(500) }
  /// The intervals between two looks for the end, in microseconds, and for saves.
  private static var pause: Int { 2000 }
  private static var advanceInterval: Duration { .milliseconds(50) }
  /// Limit of the number of times that everything is copied anew.
  private static var restartLimit: Int { 5 }

  init(_ route: Route, _ report: @escaping (StoreMove.Progress) throws -> Void) {
    self.route = route
    self.report = report
    meter = Meter(report)
  }

  mutating func run(
    _ extent: StoreMove.Extent,
    on fileSystem: any FileSystem
  ) throws -> StoreMove.Report {
    let route = route
    switch extent {
    case .rehearsal: try copyAll { try route.rehearse($0, step: $1) }
    case .move:
      try route.begin()
      try copyAll { try route.copy($0, step: $1) }
      try compareAll()
      try route.finish()
      route.settle()
    case .moveWhileWriting(let end):
      while try !moveFollowing(until: end, fileSystem) {
        following.restartCount += 1
        if following.restartCount > Self.restartLimit {
          throw MoveError.sourceTooFast(route.sourceName, attempts: following.restartCount)
        }
      }
      route.settle()
    }
    var isFollowed = false
    if case .moveWhileWriting = extent { isFollowed = true }
    return StoreMove.Report(
      source: route.sourceName,
      target: route.targetName,
      identifier: route.identifier,
      state: route.state,
      tables: tables,
      copying: copying,
      comparing: comparing,
      following: isFollowed ? following : nil
    )
  }

  // MARK: All rows

  private mutating func copyAll(
    _ copy: (TableDescription, () throws -> Void) throws -> RowDigest
  ) throws {
    let start = ContinuousClock.now
    let route = route
    tables = []
    for table in route.tables {
      try meter.begin(.copying, table, of: route.expectedRowCount(of: table))
      let digest = try copy(table) { try meter.advance() }
      try meter.end(at: digest.rowCount)
      tables.append(.init(name: table.name, digest: digest))
    }
    copying = start.duration(to: .now)
  }

  private mutating func compareAll() throws {
    let start = ContinuousClock.now
    let route = route
    for (table, moved) in zip(route.tables, tables) {
      try meter.begin(.comparing, table, of: moved.digest.rowCount)
      let found = try route.readBack(table) { try meter.reach($0) }
      try meter.end(at: found.rowCount)
      try compare(table, moved.digest, found)
    }
    comparing = start.duration(to: .now)
  }

  private func compare(
    _ table: TableDescription,
    _ source: RowDigest,
    _ target: RowDigest
  ) throws {
    guard source == target else {
      throw MoveError.digestsDiffer(table: table.name, source: source, target: target)
    }
  }

  // MARK: Beside apps

  /// Moves everything, and what is saved meanwhile.
  ///
  /// - Returns: Whether it has ended; `false` if all has to be copied again.
  private mutating func moveFollowing(
    until end: StoreMove.End,
    _ fileSystem: any FileSystem
  ) throws -> Bool {
    let route = route
    pending = [:]
    try route.begin()
    try copyAll { try route.copy($0, step: $1) }
    guard try catchUp() else { return false }
    // Once as a whole; from here on replaced rows are compared.
    try compareAll()
    // Another round makes up for its duration, while apps write.
    try route.prepare()
    guard try catchUp() else { return false }
    guard try follow(until: end, fileSystem) else { return false }
    let start = ContinuousClock.now
    repeat {
      guard collect(try route.advanceToEnd()) else { return false }
      try replacePending()
    } while route.isOwing
    for (table, moved) in zip(route.tables, tables) {
      let count = try route.rowCount(of: table)
      guard moved.digest.rowCount == count else {
        throw MoveError.rowsMissed(table: table.name, source: count, target: moved.digest.rowCount)
      }
    }
    try route.finish()
    following.ending = start.duration(to: .now)
    return true
  }

  /// Replaces what was saved, until a round is short.
  ///
  /// - Returns: Whether that went on without a restart.
  private mutating func catchUp() throws -> Bool {
    while true {
      let start = ContinuousClock.now
      guard collect(try route.advance()) else { return false }
      if pending.isEmpty { return true }
      try replacePending()
      if start.duration(to: .now) < Self.shortRound { return true }
    }
  }

  /// Replaces what is saved, round by round, until the end.
  ///
  /// - Returns: Whether that went on without a restart.
  private mutating func follow(
    until end: StoreMove.End,
    _ fileSystem: any FileSystem
  ) throws -> Bool {
    try reportFollowing()
    var lastAdvance = ContinuousClock.now
    var pendingSince = lastAdvance
    while true {
      switch end {
      case .sourceClosed: if try route.sourceIsClosed() { return true }
      case .caughtUp: return true
      case .told(let isTold): if isTold() { return true }
      }
      let now = ContinuousClock.now
      if lastAdvance.duration(to: now) >= Self.advanceInterval {
        lastAdvance = now
        if pending.isEmpty { pendingSince = now }
        guard collect(try route.advance()) else { return false }
        let isDue = pendingSince.duration(to: now) >= Self.pendingTime
        let count = pending.values.reduce(0) { $0 + $1.count }
        if count >= Self.pendingLimit || isDue, count > 0 {
          try replacePending()
          try reportFollowing()
        }
      }
      fileSystem.pause(microseconds: Self.pause)
    }
  }

  private func reportFollowing() throws {
    let count = following.rowCount
    try report(
      .init(phase: .following, table: route.state, rowCount: count, total: count)
    )
  }

  /// Notes the rows that have to be read again.
  ///
  /// - Returns: Whether that will do; `false` if all have to be copied again.
  private mutating func collect(_ rows: Set<RowReference>?) -> Bool {
    guard let rows else { return false }
    for row in rows { pending[row.table, default: []].insert(row.key) }
    return true
  }

  /// Brings the target to the state of the source that is read now.
  private mutating func replacePending() throws {
    defer { following.roundCount += 1 }
    for (place, table) in route.tables.enumerated() {
      guard let keys = pending[table.number]?.sorted() else { continue }
      var start = 0
      while start < keys.count {
        let part = Array(keys[start..<min(start + Self.chunk, keys.count)])
        let replacement = try route.replace(part, in: table)
        try compare(table, replacement.sent, replacement.found)
        var digest = tables[place].digest
        digest -= replacement.removed
        digest += replacement.sent
        tables[place] = .init(name: table.name, digest: digest)
        following.rowCount += part.count
        start += part.count
      }
    }
    pending = [:]
  }
}
#endif
