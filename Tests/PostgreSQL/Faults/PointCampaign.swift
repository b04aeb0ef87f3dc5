import FaultProxy
import Foundation
import ModelRuntime
import PostgresStore

/// Saves through a proxy, has a fault strike somewhere in the bytes, and compares what the server holds with what it must.
///
/// After each fault: every change that was acknowledged is there, once; the history has one transaction for each; nothing
/// threw, unless the server could not be reached for longer than the store may wait, and then the error says what is known.
final class PointCampaign {
  /// What strikes.
  enum Strike: String, CaseIterable {
    /// The proxy closes a connection.
    case cut
    /// The proxy closes a connection, and what was on its way reaches the server after the change was made.
    case late
    /// The server ends the sessions of the store.
    case terminate
    /// The server cannot be reached for longer than the store waits.
    case unreachable
    /// The server is ended at once, and started again.
    case restart

    /// Whether something is done while the bytes wait.
    var isInterlude: Bool {
      switch self {
      case .cut, .late: false
      case .terminate, .unreachable, .restart: true
      }
    }
  }

  private let server: FaultyServer
  private let proxy: FaultProxy
  private let namespace = "campaign"
  private let seed: UInt64
  private var random: SplitMix
  /// Stores through the proxy: one that waits for as long as it takes, and one that does not.
  private let patient: ModelContainer
  private let impatient: ModelContainer
  /// A store that no fault concerns.
  private let witness: ModelContainer
  private var ledger = Ledger()
  private var commitCount = 0
  private let interludeEnd = DispatchSemaphore(value: 0)
  private var lastTraffic: [Direction: Int] = [.toServer: 2000, .toClient: 500]

  private(set) var struck: [Strike: Int] = [:]
  private(set) var saveCount = 0
  /// Changes that the store could not say anything certain about, and how many of them were there.
  private(set) var unresolved = (count: 0, kept: 0)
  private(set) var lateByteCount = 0
  private(set) var violations: [String] = []

  /// - Throws: What keeps the server, the proxy or the stores from being there.
  init(seed: UInt64) throws {
    self.seed = seed
    random = SplitMix(seed)
    server = try FaultyServer()
    proxy = try FaultProxy(
      in: "\(server.folder)p",
      to: server.folder,
      seed: seed,
      splitting: Splitting(longestPiece: 700, delayedPieces: 40, longestDelay: 2000)
    )
    witness = try PointCampaign.container(server.url, namespace, budget: .seconds(600))
    let url = FaultyServer.url(in: proxy.folder)
    patient = try PointCampaign.container(url, namespace, budget: .seconds(600))
    impatient = try PointCampaign.container(url, namespace, budget: .milliseconds(30))
  }

  deinit {
    proxy.close()
    server.remove()
  }

  private static func container(
    _ url: String,
    _ namespace: String,
    budget: Duration
  ) throws -> ModelContainer {
    var configuration = PostgresStoreConfiguration(url: url, namespace: namespace)
    configuration.reconnectBudget = budget
    // What goes wrong with locks is said, and does not hold up the campaign.
    configuration.statementTimeout = .seconds(120)
    return try ModelContainer(for: CampaignModels.schema, configurations: [configuration])
  }

  /// Strikes so many times.
  ///
  /// - Parameters:
  ///   - points: How often.
  ///   - restarts: How many of them restart the server.
  ///   - progress: Called after each point.
  func run(points: Int, restarts: Int, _ progress: (Int) -> Void = { _ in }) {
    for point in 0..<points {
      let isRestart = restarts > 0 && point % max(1, points / restarts) == points / restarts / 2
      let strike = isRestart ? .restart : nextStrike()
      do {
        try self.point(strike)
        try compare("point \(point), \(strike)")
      } catch {
        report("point \(point), \(strike): \(error)")
      }
      struck[strike, default: 0] += 1
      progress(point + 1)
    }
  }

  private func nextStrike() -> Strike {
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<8: .cut
    case 8..<11: .late
    case 11..<18: .terminate
    default: .unreachable
    }
  }

  private func report(_ violation: String) {
    violations.append("seed \(seed), \(violation)")
    // Goes on from what is there, so that one violation is told once.
    if let actual = try? Ledger(of: witness) { ledger.goOn(from: actual) }
    commitCount = (try? countCommits()) ?? commitCount
  }

  // MARK: One point

  /// Makes changes until the fault has struck.
  private func point(_ strike: Strike) throws {
    let struckBefore = proxy.struckCount
    arm(strike)
    let delivery = strike == .late ? try Delivery(proxy, server) : nil
    defer { delivery?.stop() }
    repeat {
      let before = Direction.allCases.map(proxy.passedCount)
      try change(strike)
      for direction in Direction.allCases {
        lastTraffic[direction] = proxy.passedCount(direction) - before[direction.rawValue]
      }
    } while proxy.struckCount == struckBefore
    // The change may have ended before what strikes behind its last byte.
    if strike.isInterlude { interludeEnd.wait() }
    proxy.admit()
    delivery?.stop()
    // What arrives now belongs to an attempt that was given up.
    lateByteCount += proxy.deliverHeld()
  }

  private func arm(_ strike: Strike) {
    let direction: Direction =
      strike == .late || Bool.random(using: &random) ? .toServer : .toClient
    let count = Int.random(in: 0...max(1, lastTraffic[direction] ?? 0), using: &random)
    proxy.arm(fault(strike), in: direction, after: count)
  }

  private func fault(_ strike: Strike) -> Fault {
    switch strike {
    case .cut: .cut
    case .late: .late
    case .unreachable: interlude { [proxy] in proxy.refuse() }
    case .restart:
      interlude { [server] in
        do { try server.restart() } catch { print("\(error)") }
      }
    case .terminate:
      interlude { [server] in
        try? server.session().run(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'logstore'"
        )
      }
    }
  }

  private func interlude(_ body: @escaping @Sendable () -> Void) -> Fault {
    .interlude { [interludeEnd] in
      body()
      interludeEnd.signal()
    }
  }

  private func change(_ strike: Strike) throws {
    let change = ledger.nextChange(&random)
    saveCount += 1
    if strike != .unreachable {
      try change.make(in: ModelContext(patient))
      ledger.apply(change)
      commitCount += 1
      return
    }
    do {
      try change.make(in: ModelContext(impatient))
      ledger.apply(change)
      commitCount += 1
    } catch let error as PostgresStoreError {
      try settle(change, error)
    }
  }

  /// Looks what became of a change that threw: with most errors it was not made.
  private func settle(_ change: Ledger.Change, _ error: PostgresStoreError) throws {
    proxy.admit()
    switch error {
    case .cannotConnect, .connectionLost, .noFreeConnection: return
    case .saveUnresolved:
      unresolved.count += 1
      try endSessions()
      if try countCommits() > commitCount {
        unresolved.kept += 1
        commitCount += 1
        ledger.apply(change)
      }
    default: throw error
    }
  }

  /// Waits until no session of the stores is in the middle of something.
  private func endSessions() throws {
    let sessions = "FROM pg_stat_activity WHERE application_name = 'logstore' AND state <> 'idle'"
    let session = try server.session()
    while try session.integer("SELECT count(*) \(sessions)") > 0 {}
  }

  // MARK: Comparing

  private func countCommits() throws -> Int {
    try server.session().integer("SELECT count(*) FROM \(namespace)._logstore_commit")
  }

  private func compare(_ place: String) throws {
    try endSessions()
    let commits = try countCommits()
    if commits != commitCount {
      report("\(place): \(commits) commits are there, \(commitCount) were acknowledged")
    }
    let actual = try Ledger(of: witness)
    if actual != ledger {
      report(
        "\(place): expected \(ledger.lines), \(ledger.freeEntries), found \(actual.lines), \(actual.freeEntries)"
      )
    }
  }
}

/// Delivers what a proxy holds back as soon as somebody waits for the session it belongs to.
private final class Delivery: @unchecked Sendable {
  private let condition = NSCondition()
  // Guarded by the condition.
  private var isStopped = false
  private var hasEnded = false

  init(_ proxy: FaultProxy, _ server: FaultyServer) throws {
    let session = Sent(session: try server.session())
    Thread.detachNewThread { [self] in
      let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'logstore'"
      while !condition.withLock({ isStopped }) {
        if (try? session.session.integer(waiting)) ?? 0 > 0 { proxy.deliverHeld() }
      }
      condition.withLock {
        hasEnded = true
        condition.broadcast()
      }
    }
  }

  private struct Sent: @unchecked Sendable { let session: SQLSession }

  func stop() {
    condition.withLock {
      isStopped = true
      while !hasEnded { condition.wait() }
    }
  }
}
