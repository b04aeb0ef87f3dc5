import Dispatch
import LogEngine
import ModelRuntime
import Synchronization

/// The observers of saves by other processes.
///
/// The engine of one of several writers reports their commits. In a store that is only read, the log is watched while there
/// are observers: by the system, or, if it reports no changes, by a look ten times a second.
final class RemoteWatches: Sendable {
  private let state = Mutex(State())

  private struct State {
    var watches: [ObjectIdentifier: Reference] = [:]
    var bell: Bell?
  }

  private struct Reference {
    weak var watch: RemoteWatch?
  }

  /// The trigger by which the store looks for saves.
  private enum Bell {
    case log(LogWatch)
    case timer(any DispatchSourceTimer)

    func stop() { if case .timer(let timer) = self { timer.cancel() } }
  }

  private static let interval = DispatchTimeInterval.milliseconds(100)

  fileprivate func add(_ watch: RemoteWatch) {
    state.withLock { $0.watches[ObjectIdentifier(watch)] = Reference(watch: watch) }
  }

  /// Starts watching a read-only store.
  fileprivate func startBell(_ engine: StorageEngine, _ look: @escaping @Sendable () -> Void) {
    let isFirst = state.withLock { state in
      if state.bell != nil { return false }
      state.bell = engine.watchLog(look).map(Bell.log) ?? makeTimer(look)
      return true
    }
    // Another process may have saved before the bell was there.
    if isFirst { DispatchQueue.global(qos: .utility).async(execute: look) }
  }

  private func makeTimer(_ look: @escaping @Sendable () -> Void) -> Bell {
    let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
    timer.schedule(deadline: .now() + Self.interval, repeating: Self.interval)
    timer.setEventHandler(handler: look)
    timer.resume()
    return .timer(timer)
  }

  fileprivate func remove(_ watch: RemoteWatch) {
    let former = state.withLock { state in
      state.watches[ObjectIdentifier(watch)] = nil
      return state.watches.isEmpty ? state.bell.take() : nil
    }
    former?.stop()
  }

  /// Has all observers note new commits.
  ///
  /// - Parameter read: Reads which rows were changed, if an observer wants to know.
  /// - Returns: The callbacks to call without any locks: a callback may read, or start or stop watching.
  func note(_ read: () -> ChangedRows) -> [@Sendable () -> Void] {
    let all = state.withLock { $0.watches.values.compactMap(\.watch) }
    var rows: ChangedRows?
    var notices: [@Sendable () -> Void] = []
    for watch in all {
      switch watch.arrival {
      case .save(let arrival): notices.append(arrival)
      case .rows(let note):
        let known = rows ?? read()
        rows = known
        notices += note(known)
      }
    }
    return notices
  }

  deinit { state.withLock { $0.bell?.stop() } }
}

/// The wish to know of saves of other processes, for as long as it lives.
final class RemoteWatch: Sendable {
  fileprivate enum Arrival {
    case save(@Sendable () -> Void)
    case rows(@Sendable (ChangedRows) -> [@Sendable () -> Void])
  }

  fileprivate let arrival: Arrival
  private let watches: RemoteWatches
  private let engine: StorageEngine

  fileprivate init(_ watches: RemoteWatches, _ engine: StorageEngine, _ arrival: Arrival) {
    self.watches = watches
    self.engine = engine
    self.arrival = arrival
    if case .rows = arrival { engine.beginCollectingNews() }
  }

  deinit {
    watches.remove(self)
    if case .rows = arrival { engine.endCollectingNews() }
  }
}

extension TableStore {
  /// Calls back when another process has saved; `nil` where no other process can save.
  func observeRemoteSaves(
    _ arrival: @escaping @Sendable () -> Void
  ) -> (any AnyObject & Sendable)? { observe(.save(arrival)) }

  /// Has the rows noted that another process has changed; `nil` where no other process can save.
  func observeRemoteRows(
    _ note: @escaping @Sendable (ChangedRows) -> [@Sendable () -> Void]
  ) -> (any AnyObject & Sendable)? { observe(.rows(note)) }

  private func observe(_ arrival: RemoteWatch.Arrival) -> RemoteWatch? {
    guard isFollower else { return nil }
    let watch = RemoteWatch(history.watches, engine, arrival)
    history.watches.add(watch)
    // The engine of one of several writers reports the others' commits.
    if engine.hasOtherWriters { return watch }
    history.watches.startBell(engine) { [weak self] in
      // The next fetch reports what cannot be read now.
      try? self?.follow()
    }
    return watch
  }
}
