import Foundation
import LibC
import LogEngine
import ModelRuntime
import RowFormat
import Synchronization

/// A state of a store that a thread reads for a while: a context asks several questions of it, which are one for its user.
///
/// Known by the thread, and not by the task: a task that code of the app starts meanwhile would inherit it, and outlive it.
final class PinnedState {
  fileprivate let store: ObjectIdentifier
  /// The session of the context.
  fileprivate let session: UUID
  fileprivate let view: ReadView
  /// The states that the thread reads besides: of other stores, or for contexts that are in the middle of a question.
  private let outer: PinnedState?

  fileprivate init(_ view: ReadView, of store: TableStore, for session: UUID) {
    self.store = ObjectIdentifier(store)
    self.session = session
    self.view = view
    outer = PinnedState.current
  }

  /// The state of a store that the current thread has begun to read last.
  fileprivate static func current(of store: TableStore) -> PinnedState? {
    var next = current
    while let state = next {
      if state.store == ObjectIdentifier(store) { return state }
      next = state.outer
    }
    return nil
  }

  private static var current: PinnedState? {
    guard let known = unsafe pthread_getspecific(key) else { return nil }
    return unsafe Unmanaged<PinnedState>.fromOpaque(known).takeUnretainedValue()
  }

  /// Runs a closure while the current thread reads some states, or none.
  fileprivate static func reading<R>(
    _ states: PinnedState?,
    _ body: () throws -> R
  ) rethrows -> R {
    let former = unsafe pthread_getspecific(key)
    let pointer = unsafe states.map {
      unsafe UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque())
    }
    let status = unsafe pthread_setspecific(key, pointer)
    precondition(status == 0, "a thread cannot note the state it reads: error \(status)")
    defer {
      unsafe pthread_setspecific(key, former)
      withExtendedLifetime(states) {}
    }
    return try body()
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let status = unsafe pthread_key_create(&key, nil)
    precondition(status == 0, "no key for the states that threads read: error \(status)")
    return key
  }()
}

extension TableStore {
  /// The state that the current thread reads; `nil` if that is the newest.
  var pinnedView: ReadView? { pin?.view }

  private var pin: PinnedState? {
    // Mostly no thread reads another state, and this is asked for each row.
    pinCount.load(ordering: .relaxed) == 0 ? nil : .current(of: self)
  }

  /// Whether the current thread reads one state for another session than this one.
  func showsState(forOtherThan session: UUID) -> Bool {
    pin.map { $0.session != session } ?? false
  }

  /// Shows a session one state, on the current thread, until the closure returns.
  ///
  /// Indexes answer as of a state that is not much older than they are; compaction keeps the rows.
  ///
  /// - Parameters:
  ///   - session: The session.
  ///   - body: Reads the store, and does not save.
  /// - Returns: The result of `body`.
  /// - Throws: An error of `body`, or of reading what other processes have saved.
  func readingOneState<R>(for session: UUID, _ body: () throws -> R) throws -> R {
    // A store of an earlier state shows that anyway.
    if past != nil || pin?.session == session { return try body() }
    let view = try readingNewestState { try makeReportedReadView() }
    pinCount.add(1, ordering: .relaxed)
    defer { pinCount.subtract(1, ordering: .relaxed) }
    return try PinnedState.reading(PinnedState(view, of: self, for: session), body)
  }

  /// Shows the current thread what is newest again, of all stores.
  func readingNewestState<R>(_ body: () throws -> R) rethrows -> R {
    if pinCount.load(ordering: .relaxed) == 0 { return try body() }
    return try PinnedState.reading(nil, body)
  }

  /// The newest commit of the state that the store shows to the current thread.
  var shownCommit: UInt64 { pinnedView?.sequence.rawValue ?? newestCommit }
}
