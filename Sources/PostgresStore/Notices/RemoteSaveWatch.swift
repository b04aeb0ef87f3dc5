#if PostgreSQL
import Foundation

/// Calls back when others have saved, until it is stopped or released: at the ring of a ``SaveBell``, or, if there is none
/// (a pooler is between, or the server has no LISTEN), within a second.
final class RemoteSaveWatch: Sendable {
  private let flag = StopFlag()

  /// The saves that a watch looks for.
  struct Target: Sendable {
    let url: String
    let channel: String
    let saves: RemoteSaves
    /// The newest transaction that is known.
    let after: Int64
  }

  /// - Parameters:
  ///   - target: The saves to look for.
  ///   - arrival: Called on an arrival; if it throws, it is called again later.
  init(_ target: Target, _ arrival: @escaping @Sendable () throws -> Void) {
    let watcher = Watcher(target, flag, arrival)
    Thread.detachNewThread { watcher.run() }
  }

  deinit { stop() }

  /// Calls back no more; the session of the watch ends within a second.
  func stop() { flag.stop() }
}

/// Tells a thread to end.
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
  private let arrival: @Sendable () throws -> Void
  /// The newest transaction that was looked at: the saves of others up to it were reported.
  private var last: Int64
  /// The pause before a failed attempt is repeated.
  private var pause = Watcher.shortestWait

  /// The longest wait before the thread looks by itself.
  private static let longestWait = Duration.seconds(1)
  private static let shortestWait = Duration.milliseconds(2)

  init(
    _ target: RemoteSaveWatch.Target,
    _ flag: StopFlag,
    _ arrival: @escaping @Sendable () throws -> Void
  ) {
    self.target = target
    self.flag = flag
    self.arrival = arrival
    last = target.after
  }

  func run() {
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
    // Through a pooler, another session would listen from then on, for an unknown user.
    if try connection.isDirect() {
      _ = try? connection.run([Statement("LISTEN \(target.channel.quotedName)")])
    }
    var wait = Duration.zero
    while !flag.isStopped {
      try connection.waitForNotice(atMost: wait)
      let horizon = try target.saves.horizon.read(connection)
      let statement = target.saves.news(after: last, before: horizon)
      let news = RemoteSaves.News(try connection.run([statement])[0], after: last)
      // A watch that was stopped while it waited reports nothing that was saved since.
      if news.hasOthers, !flag.isStopped { try arrival() }
      last = news.newest
      // Only now: an attempt that always fails would otherwise be repeated at once, in a new session each time.
      pause = Watcher.shortestWait
      wait =
        news.isPending
        ? min(max(wait * 2, Watcher.shortestWait), Watcher.longestWait) : Watcher.longestWait
    }
  }
}
#endif
