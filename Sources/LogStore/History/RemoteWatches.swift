import Dispatch
import LogEngine
import Synchronization

/// The observers of saves by other processes; in a store that is only read, the log is checked ten times a second as long
/// as there are any.
final class RemoteWatches: Sendable {
  private let state = Mutex(State())

  private struct State {
    var watches: [ObjectIdentifier: Reference] = [:]
    var timer: (any DispatchSourceTimer)?
  }

  private struct Reference {
    weak var watch: RemoteWatch?
  }

  private static let interval = DispatchTimeInterval.milliseconds(100)

  fileprivate func add(_ watch: RemoteWatch, _ look: (@Sendable () -> Void)?) {
    state.withLock { state in
      state.watches[ObjectIdentifier(watch)] = Reference(watch: watch)
      guard state.timer == nil, let look else { return }
      let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
      timer.schedule(deadline: .now() + Self.interval, repeating: Self.interval)
      timer.setEventHandler(handler: look)
      timer.resume()
      state.timer = timer
    }
  }

  fileprivate func remove(_ watch: RemoteWatch) {
    state.withLock { state in
      state.watches[ObjectIdentifier(watch)] = nil
      if state.watches.isEmpty { state.timer.take()?.cancel() }
    }
  }

  /// Notifies all observers of new commits.
  func tell() {
    // Outside the lock: a callback may start or stop watching.
    let all = state.withLock { $0.watches.values.compactMap(\.watch) }
    for watch in all { watch.arrival() }
  }

  deinit { state.withLock { $0.timer?.cancel() } }
}

/// The wish to know of saves of other processes, for as long as it lives.
final class RemoteWatch: Sendable {
  fileprivate let arrival: @Sendable () -> Void
  private let watches: RemoteWatches

  fileprivate init(_ watches: RemoteWatches, _ arrival: @escaping @Sendable () -> Void) {
    self.watches = watches
    self.arrival = arrival
  }

  deinit { watches.remove(self) }
}

extension TableStore {
  /// Calls back when another process has saved; `nil` where no other process can save.
  func observeRemoteSaves(
    _ arrival: @escaping @Sendable () -> Void
  ) -> (any AnyObject & Sendable)? {
    guard isFollower else { return nil }
    let watch = RemoteWatch(history.watches, arrival)
    // One of several writers is told.
    if engine.hasOtherWriters {
      history.watches.add(watch, nil)
      return watch
    }
    history.watches.add(watch) { [weak self] in
      // What cannot be read now is reported by the next fetch.
      try? self?.follow()
    }
    return watch
  }
}
