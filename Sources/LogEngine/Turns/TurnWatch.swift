import Locking
import LogFormat
import Synchronization

/// Learns of other processes' turns, soon after they ended.
///
/// A thread sleeps until `TURN` is written to, or the log where that is only read, and looks what there is. It is woken some
/// three hundred times a second at most, however often others save; when nobody does, it sleeps.
final class TurnWatch: Sendable {
  /// Called after other processes have committed.
  let handler = Lock<(@Sendable () -> Void)?>(nil, .compactionListener)
  private let watch: any FileWatch
  private let isStopped = Atomic<Bool>(false)
  private let monitor = Monitor()

  /// How long the thread rests after it was woken, in microseconds.
  private static let rest = 3000

  private init(_ watch: any FileWatch) { self.watch = watch }

  /// Begins to watch.
  ///
  /// - Parameters:
  ///   - path: The file that is written to.
  ///   - fileSystem: Where it is.
  ///   - look: Called after it was written to; returns whether there was news, and `nil` once there is no store any more.
  /// - Returns: `nil` if the file system cannot tell of changes, or there is no thread left.
  static func start(
    _ path: String,
    _ fileSystem: any FileSystem,
    _ look: @escaping @Sendable () -> Bool?
  ) -> TurnWatch? {
    guard let watch = fileSystem.watch(path) else { return nil }
    let watcher = TurnWatch(watch)
    return Thread.start({ watcher.run(look) }) ? watcher : nil
  }

  private func run(_ look: () -> Bool?) {
    while !isStopped.load(ordering: .acquiring), watch.wait() {
      guard !isStopped.load(ordering: .acquiring), let isNews = look() else { return }
      if isNews, let handler = handler.withLock({ $0 }) { handler() }
      monitor.withMutex {
        if !isStopped.load(ordering: .acquiring) {
          _ = monitor.wait(for: .time, atMost: Self.rest)
        }
      }
    }
  }

  /// Has the thread end, soon.
  func stop() {
    watch.cancel()
    monitor.withMutex {
      isStopped.store(true, ordering: .releasing)
      monitor.broadcast(.time)
    }
  }
}
