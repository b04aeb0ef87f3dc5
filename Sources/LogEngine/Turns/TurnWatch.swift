import Locking
import LogFormat
import Synchronization

/// Learns of other processes' turns, soon after they ended.
///
/// A thread sleeps until `TURN` is written to, or the log where that is only read, and looks what there is. It is woken some
/// three hundred times a second at most, however often others save; when nobody does, it sleeps. Where the system does not
/// tell of changes, or has too many to tell already, a worker looks ten times a second.
final class TurnWatch: Sendable {
  /// Called after other processes have committed.
  let handler = Lock<(@Sendable () -> Void)?>(nil, .compactionListener)
  /// What tells of changes; `nil` if a worker looks.
  private let watch: (any FileWatch)?
  private let worker = Lock<Worker?>(nil, .housekeepingWorker)
  private let isStopped = Atomic<Bool>(false)
  private let monitor = Monitor()

  /// How long the thread rests after it was woken, in microseconds.
  private static let rest = 3000

  /// How often the worker looks, in microseconds.
  private static let interval = 100_000

  private init(_ watch: (any FileWatch)?) { self.watch = watch }

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
    return Thread.start({ watcher.run(watch, look) }) ? watcher : nil
  }

  /// Begins to look now and then.
  ///
  /// - Parameter look: As in ``start(_:_:_:)``.
  /// - Returns: What looks, until it is stopped.
  static func startTimer(_ look: @escaping @Sendable () -> Bool?) -> TurnWatch {
    let watcher = TurnWatch(nil)
    let worker = Worker(
      of: .usual,
      delay: { [weak watcher] in watcher?.delay },
      work: { [weak watcher] in
        if let watcher, !watcher.look(look) { watcher.stop() }
      }
    )
    watcher.worker.withLock { $0 = worker }
    worker.signal()
    return watcher
  }

  private var delay: Int? { isStopped.load(ordering: .acquiring) ? nil : Self.interval }

  /// - Returns: Whether there is a store yet.
  private func look(_ look: () -> Bool?) -> Bool {
    guard !isStopped.load(ordering: .acquiring), let isNews = look() else { return false }
    if isNews, let handler = handler.withLock({ $0 }) { handler() }
    return true
  }

  private func run(_ watch: any FileWatch, _ look: () -> Bool?) {
    while !isStopped.load(ordering: .acquiring), watch.wait() {
      guard self.look(look) else { return }
      monitor.withMutex {
        if !isStopped.load(ordering: .acquiring) {
          _ = monitor.wait(for: .time, atMost: Self.rest)
        }
      }
    }
  }

  /// Has the thread end, soon.
  func stop() {
    watch?.cancel()
    monitor.withMutex {
      isStopped.store(true, ordering: .releasing)
      monitor.broadcast(.time)
    }
    worker.withLock { $0.take() }?.stop()
  }
}
