#if PostgreSQL
import Foundation

/// Calls back when others have saved, until it is released: at the ring of a ``SaveBell``, and where there is none (a
/// pooler stands between, or the server has no LISTEN) within a second.
final class RemoteSaveWatch: Sendable {
  private let flag = StopFlag()

  /// What a watch looks at.
  struct Target: Sendable {
    let url: String
    let channel: String
    /// The table of commits, and the store whose own saves do not count.
    let commits: String
    let source: UUID
    /// The newest transaction that is known.
    let after: Int64
  }

  init(_ target: Target, _ arrival: @escaping @Sendable () -> Void) {
    let watcher = Watcher(target, flag, arrival)
    Thread.detachNewThread { watcher.run() }
  }

  deinit { flag.stop() }
}

/// Says that a thread is to end.
private final class StopFlag: @unchecked Sendable {
  private let lock = NSLock()
  private var value = false

  var isStopped: Bool { lock.withLock { value } }
  func stop() { lock.withLock { value = true } }
}

/// The thread of a watch.
private final class Watcher: @unchecked Sendable {
  private let target: RemoteSaveWatch.Target
  private let flag: StopFlag
  private let arrival: @Sendable () -> Void
  /// The newest transaction of others that was told.
  private var last: Int64

  /// How long the thread waits at most before it looks by itself.
  private static let longestWait = Duration.seconds(1)

  init(
    _ target: RemoteSaveWatch.Target,
    _ flag: StopFlag,
    _ arrival: @escaping @Sendable () -> Void
  ) {
    self.target = target
    self.flag = flag
    self.arrival = arrival
    last = target.after
  }

  func run() {
    var pause = Duration.milliseconds(10)
    while !flag.isStopped {
      do {
        try watch()
      } catch {
        Thread.sleep(forTimeInterval: pause.seconds)
        pause = min(pause * 2, Watcher.longestWait)
      }
    }
  }

  private func watch() throws {
    let connection = try Connection(
      target.url,
      applicationName: "logstore",
      RoundTripCounter()
    )
    _ = try? connection.run([Statement("LISTEN \(target.channel.quotedName)")])
    // A save that was rung for may not be part of the history yet, if an older transaction goes on.
    var wait = Duration.zero
    while !flag.isStopped {
      let wasRung = try connection.waitForNotice(
        atMost: wait,
        isWanted: { $0 != target.source.uuidString }
      )
      if let number = try newest(connection, after: last) {
        last = number
        wait = Watcher.longestWait
        arrival()
      } else {
        wait =
          wasRung ? .milliseconds(2) : min(max(wait * 2, .milliseconds(2)), Watcher.longestWait)
      }
    }
  }

  /// The newest transaction of others in the history, if there is one after a number.
  private func newest(_ connection: Connection, after number: Int64) throws -> Int64? {
    let statement = Statement(
      "SELECT max(xid) FROM \(target.commits) WHERE xid > $1 AND source IS DISTINCT FROM $2 "
        + "AND xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
    ) {
      $0.append(number)
      $0.append(target.source)
    }
    let result = try connection.run([statement])[0]
    return result.isNull(0, 0) ? nil : result.integer(0, 0)
  }
}
#endif
