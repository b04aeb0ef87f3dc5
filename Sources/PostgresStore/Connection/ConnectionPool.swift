#if PostgreSQL
import Foundation
import ModelRuntime

/// The sessions of a store: up to a limit, each lent for one operation.
final class ConnectionPool: @unchecked Sendable {
  private let url: String
  private let limit: Int
  private let budget: Duration
  private let applicationName: String
  private let statementLimit: StatementLimit?
  let roundTrips = RoundTripCounter()

  private let condition = NSCondition()
  // Guarded by the condition, as is what follows.
  private var idle: [Connection] = []
  private var lentCount = 0
  private var isClosed = false
  private var hasConnected = false
  /// Whether sessions belong to one server for their whole life; `nil` until there was one.
  private var isDirect: Bool?
  /// Whether the pool has one session, and never opens another.
  private let isFixed: Bool

  init(
    url: String,
    limit: Int,
    budget: Duration,
    applicationName: String,
    statementLimit: StatementLimit?
  ) {
    self.url = url
    self.limit = max(limit, 1)
    self.budget = budget
    self.applicationName = applicationName
    self.statementLimit = statementLimit
    isFixed = false
  }

  /// Lends one session, which is in the middle of a transaction, and no other.
  ///
  /// Nothing is tried again: the transaction would have to begin anew, which is not for its parts to do.
  ///
  /// - Parameters:
  ///   - connection: The session.
  ///   - budget: The longest wait while another thread has the session.
  init(lending connection: Connection, budget: Duration) {
    url = ""
    limit = 1
    self.budget = budget
    applicationName = ""
    isFixed = true
    idle = [connection]
    statementLimit = nil
  }

  /// Lends a session to a closure.
  ///
  /// - Throws: `SwiftDataError.storeClosed`, ``PostgresStoreError/noFreeConnection(limit:waited:)``,
  ///   ``PostgresStoreError/cannotConnect(to:reason:)``, or what the closure throws.
  func withConnection<R>(_ body: (Connection) throws -> R) throws -> R {
    let connection = try borrow()
    defer { giveBack(connection) }
    return try body(connection)
  }

  /// Runs an operation that may be repeated: again in a new session if its session was lost, and again after it lost
  /// against the transaction of another session.
  ///
  /// - Parameter operation: The work; it must leave nothing behind if it throws.
  /// - Returns: The result of the operation.
  /// - Throws: What the operation throws otherwise, or when the budget for new sessions is spent.
  func retrying<R>(_ operation: (Connection) throws -> R) throws -> R {
    var backoff = makeBackoff()
    while true {
      do {
        return try withConnection(operation)
      } catch PostgresStoreError.connectionLost(let place, let reason) {
        // Those that were opened before the server went away went with it.
        dropIdle()
        guard !isFixed, backoff.wait() else {
          throw PostgresStoreError.connectionLost(to: place, reason: reason)
        }
      } catch PostgresStoreError.server(let error) where error.isTransient {
        guard !isFixed, backoff.wait() else { throw PostgresStoreError.server(error) }
      }
    }
  }

  /// Lends a session that does not count, for ``giveBackBeyondLimit(_:)``.
  ///
  /// - Parameter opening: The first work in the session, done again in another one if the session was lost.
  /// - Returns: The session.
  /// - Throws: `SwiftDataError.storeClosed`, ``PostgresStoreError/cannotConnect(to:reason:)``, or what the opening throws.
  func lendBeyondLimit<R>(_ opening: (Connection) throws -> R) throws -> Connection {
    var backoff = makeBackoff()
    while true {
      let connection =
        try condition.withLock {
          if isClosed { throw ConnectionPool.closed }
          return idle.popLast()
        } ?? connect()
      do {
        _ = try opening(connection)
        return connection
      } catch PostgresStoreError.connectionLost(let place, let reason) {
        dropIdle()
        guard backoff.wait() else {
          throw PostgresStoreError.connectionLost(to: place, reason: reason)
        }
      } catch {
        connection.rollBack()
        giveBackBeyondLimit(connection)
        throw error
      }
    }
  }

  /// Takes back a session of ``lendBeyondLimit(_:)``; one that is in a transaction, or more than the limit, is ended.
  func giveBackBeyondLimit(_ connection: Connection) {
    condition.withLock {
      if connection.isIdle, !isClosed, idle.count + lentCount < limit {
        idle.append(connection)
        condition.signal()
      }
    }
  }

  /// Waits between attempts, for as long as the configuration allows.
  func makeBackoff() -> Backoff { Backoff(budget) }

  /// Ends all sessions that are not lent, and those as they are given back.
  func close() {
    condition.withLock {
      isClosed = true
      idle = []
      condition.broadcast()
    }
  }

  /// Whether the pool still lends sessions.
  var isOpen: Bool { condition.withLock { !isClosed } }

  private func borrow() throws -> Connection {
    let deadline = Date.now.addingTimeInterval(budget.seconds)
    condition.lock()
    while true {
      if isClosed {
        condition.unlock()
        throw ConnectionPool.closed
      }
      if let connection = idle.popLast() {
        lentCount += 1
        condition.unlock()
        return connection
      }
      if lentCount < limit { break }
      guard condition.wait(until: deadline) else {
        condition.unlock()
        throw PostgresStoreError.noFreeConnection(limit: limit, waited: budget)
      }
    }
    lentCount += 1
    condition.unlock()
    do {
      return try connect()
    } catch {
      condition.withLock {
        lentCount -= 1
        condition.signal()
      }
      throw error
    }
  }

  /// Work that was scheduled before a store was closed, a ring of its bell for instance, opens no session afterwards.
  private static var closed: SwiftDataError {
    .storeClosed.explained("the store was closed: make another container")
  }

  private func giveBack(_ connection: Connection) {
    condition.withLock {
      lentCount -= 1
      if connection.isIdle, !isClosed { idle.append(connection) }
      condition.signal()
    }
  }

  private func dropIdle() { condition.withLock { idle = [] } }

  /// Opens a session; again and again, while the server is away for less than the budget.
  ///
  /// Only a server that was there once is waited for: an address that never led anywhere fails at once.
  private func connect() throws -> Connection {
    if isFixed {
      throw PostgresStoreError.connectionLost(
        to: "the server",
        reason: "the transaction of the migration has ended"
      )
    }
    var backoff = Backoff(condition.withLock { hasConnected } ? budget : .zero)
    while true {
      do {
        let connection = try Connection(
          url,
          applicationName: applicationName,
          roundTrips,
          limit: statementLimit
        )
        condition.withLock { hasConnected = true }
        let isDirect = try condition.withLock { self.isDirect } ?? connection.isDirect()
        condition.withLock { self.isDirect = isDirect }
        if isDirect { connection.keepStatements() }
        return connection
      } catch {
        guard backoff.wait() else { throw error }
      }
    }
  }
}

/// Waits a little longer each time, up to a second, until a budget is spent.
struct Backoff {
  private var next = Duration.milliseconds(5)
  private let end: ContinuousClock.Instant

  init(_ budget: Duration) { end = .now + budget }

  /// Waits.
  ///
  /// - Returns: `false`, at once, if the budget is spent.
  mutating func wait() -> Bool {
    let now = ContinuousClock.now
    guard now < end else { return false }
    // Not all at the same time: sessions that lost against each other would meet again.
    let jittered = next * Double.random(in: 0.5...1)
    Thread.sleep(forTimeInterval: min(jittered, end - now).seconds)
    next = min(next * 2, .seconds(1))
    return true
  }
}

extension Duration {
  var seconds: TimeInterval {
    let (seconds, attoseconds) = components
    return TimeInterval(seconds) + TimeInterval(attoseconds) * 1e-18
  }
}
#endif
