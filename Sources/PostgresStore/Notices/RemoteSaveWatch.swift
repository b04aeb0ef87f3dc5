#if PostgreSQL
import Foundation

/// Calls back when others have saved, until it is stopped or released: at the ring of a ``SaveBell``, and where there is none
/// (a pooler stands between, or the server has no LISTEN) within a second.
final class RemoteSaveWatch: Sendable {
  private let flag = StopFlag()

  /// What a watch looks at.
  struct Target: Sendable {
    let url: String
    let channel: String
    let saves: RemoteSaves
    /// The newest transaction that is known.
    let after: Int64
  }

  /// - Parameters:
  ///   - target: What to look at.
  ///   - arrival: What is done; if it throws, it is done again later.
  init(_ target: Target, _ arrival: @escaping @Sendable () throws -> Void) {
    let watcher = Watcher(target, flag, arrival)
    Thread.detachNewThread { watcher.run() }
  }

  deinit { stop() }

  /// Calls back no more; the session of the watch ends within a second.
  func stop() { flag.stop() }
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
  private let arrival: @Sendable () throws -> Void
  /// The newest transaction that was looked at: what others saved up to it was told.
  private var last: Int64
  /// How long the thread waits before it tries again what failed.
  private var pause = Watcher.shortestWait

  /// How long the thread waits at most before it looks by itself.
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
    // Through a pooler, another session would listen from then on, and for whom nobody knows.
    if try connection.isDirect() {
      _ = try? connection.run([Statement("LISTEN \(target.channel.quotedName)")])
    }
    var wait = Duration.zero
    while !flag.isStopped {
      try connection.waitForNotice(atMost: wait)
      let horizon = try target.saves.horizon.read(connection)
      let statement = target.saves.news(after: last, before: horizon)
      let news = RemoteSaves.News(try connection.run([statement])[0], after: last)
      // Stopped while it waited, it tells nobody of what was saved since.
      if news.hasOthers, !flag.isStopped { try arrival() }
      last = news.newest
      // Only now: what fails each time would otherwise be tried again at once, in a new session each time.
      pause = Watcher.shortestWait
      wait =
        news.isPending
        ? min(max(wait * 2, Watcher.shortestWait), Watcher.longestWait) : Watcher.longestWait
    }
  }
}
#endif
