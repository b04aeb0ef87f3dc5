import Locking
import LogFormat
import Synchronization

/// Watches for the turns of other processes, soon after they have ended.
///
/// A thread sleeps until `TURN`, or in a read-only store the log, is written to, and then looks for commits. It is woken at
/// most some three hundred times a second, however often others save; without saves it sleeps. If the system does not report
/// changes, or has reached its limit of watches, a worker looks ten times a second.
final class TurnWatch: Sendable {
  /// Called after other processes have committed.
  let handler = Lock<(@Sendable () -> Void)?>(nil, .compactionListener)
  /// The watch that reports changes; `nil` if a worker looks.
  private let watch: (any FileWatch)?
  private let worker = Lock<Worker?>(nil, .housekeepingWorker)
  private let isStopped = Atomic<Bool>(false)
  private let monitor = Monitor()

  /// The pause of the thread after each wake-up, in microseconds.
  private static let rest = 3000

  /// The interval of the worker's looks, in microseconds.
  private static let interval = 100_000

  private init(_ watch: (any FileWatch)?) { self.watch = watch }

  /// Begins to watch.
  ///
  /// - Parameters:
  ///   - path: The file to watch.
  ///   - fileSystem: The file system of the file.
  ///   - look: Called after a write to the file; returns whether there was news, and `nil` once the store is gone.
  /// - Returns: `nil` if the file system does not report changes, or there is no thread left.
  static func start(
    _ path: String,
    _ fileSystem: any FileSystem,
    _ look: @escaping @Sendable () -> Bool?
  ) -> TurnWatch? {
    guard let watch = fileSystem.watch(path) else { return nil }
    let watcher = TurnWatch(watch)
    return Thread.start({ watcher.run(watch, look) }) ? watcher : nil
  }

  /// Begins to look at intervals.
  ///
  /// - Parameter look: As in ``start(_:_:_:)``.
  /// - Returns: The watch, which looks until it is stopped.
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

  /// Stops the thread, soon.
  func stop() {
    watch?.cancel()
    monitor.withMutex {
      isStopped.store(true, ordering: .releasing)
      monitor.broadcast(.time)
    }
    worker.withLock { $0.take() }?.stop()
  }
}
