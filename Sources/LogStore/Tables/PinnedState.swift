import LogEngine
import ModelRuntime
import RowFormat
import Synchronization

/// The state of a store that a thread reads for a while: a context asks several questions of it, which are one for its user.
struct PinnedState: Sendable {
  let store: ObjectIdentifier
  let view: ReadView

  /// The states that the current thread, or task, reads; one for each store.
  @TaskLocal static var current: [PinnedState] = []
}

extension TableStore {
  /// The state that the current thread reads; `nil` if that is the newest.
  var pinnedView: ReadView? {
    // Mostly no thread reads another, and this is asked for each row.
    if pinCount.load(ordering: .relaxed) == 0 { return nil }
    return PinnedState.current.first { $0.store == ObjectIdentifier(self) }?.view
  }

  /// Shows the current thread one state until the closure returns.
  ///
  /// Indexes answer as of a state that is not much older than they are; compaction keeps the rows.
  ///
  /// - Parameter body: Reads the store, and does not save.
  /// - Returns: The result of `body`.
  /// - Throws: An error of `body`, or of reading what other processes have saved.
  func readingOneState<R>(_ body: () throws -> R) throws -> R {
    // A store of an earlier state shows that anyway.
    if past != nil || pinnedView != nil { return try body() }
    let state = PinnedState(store: ObjectIdentifier(self), view: try makeReportedReadView())
    pinCount.add(1, ordering: .relaxed)
    defer { pinCount.subtract(1, ordering: .relaxed) }
    return try PinnedState.$current.withValue(PinnedState.current + [state], operation: body)
  }

  /// The newest commit of the state that the store shows to the current thread.
  var shownCommit: UInt64 { pinnedView?.sequence.rawValue ?? newestCommit }
}
