import Locking
import LogFormat
import Synchronization

/// Watches for the turns of other processes, soon after they have ended.
///
/// A thread sleeps until `TURN`, or in a read-only store the log, is written to, and then looks for commits. It is woken at
/// most some three hundred times a second, however often others save, and less often if a look takes long: many processes that
/// watch one which saves must not take its processors. Without saves the thread sleeps. If the system does not report changes, or
/// has reached its limit of watches, a worker looks ten times a second.
final class TurnWatch: Sendable {
  /// Called after other processes have committed.
  let handler = Lock<(@Sendable () -> Void)?>(nil, .compactionListener)
  /// The watch that reports changes; `nil` if a worker looks.
  private let watch: (any FileWatch)?
  private let worker = Lock<Worker?>(nil, .housekeepingWorker)
  private let isStopped = Atomic<Bool>(false)
  private let monitor = Monitor()

  /// The shortest and the longest pause of the thread after a look, in microseconds.
  private static let rest = 3000...30_000
  /// The pause, in times that the look took.
  private static let restPerLook = 20

  /// The pause after a look that took so many microseconds.
  static func pause(after look: Int) -> Int {
    let pause = min(look, rest.upperBound) * restPerLook
    return min(max(pause, rest.lowerBound), rest.upperBound)
  }

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
      let start = Monitor.now()
      guard self.look(look) else { return }
      let pause = Self.pause(after: Monitor.now() - start)
      monitor.withMutex {
        if !isStopped.load(ordering: .acquiring) { _ = monitor.wait(for: .time, atMost: pause) }
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
