import Synchronization

/// A place between two steps of an operation, at which other threads may run.
///
/// A test of threads installs a scheduler, which is called at each point that a thread reaches, and may let it wait
/// there while others run: so a seed, and not luck, decides which thread does what in which order. Without
/// a scheduler a point costs one load of a flag; there is none where rows are visited one by one.
package enum SchedulePoint: UInt8, Sendable, CaseIterable {
  /// A save has collected its changes, but has not claimed anything yet.
  case beforeClaim
  /// A save has claimed its unique keys and the rows it refers to, but has not committed.
  case beforeCommit
  /// A commit is written and not visible; the lock of writers is held.
  case beforePublication
  /// A commit is visible, but the indexes do not have it yet.
  case afterCommit
  /// A table has been scanned: for an index that is being built, or for one part of a fetch.
  case afterScan
  /// A fetch has chosen its access path, and an index may have named rows, but the rows are not read.
  case duringFetch
  /// A fetch has its view, and is about to ask an index for the rows to read.
  case beforeIndexRead
  /// The members of a list have been named, but rows that are outdated are not read again.
  case duringListRead
  /// A context has taken the saves of others out of its inbox, but has not read them.
  case duringMerge
  /// A save has found that a row is gone, deleted by a commit that may not be visible.
  case afterVanishing
  /// A store has been released, and is not closed.
  case beforeClosing
  /// A store is about to be opened.
  case beforeOpening

  /// Calls the schedulers, if there are any: the thread has reached this point.
  package func reach() {
    if ScheduleHook.installedCount.load(ordering: .relaxed) > 0 { ScheduleHook.reach(self) }
  }
}

/// A registration of a scheduler of threads.
///
/// Tests run side by side in one process, each with a scheduler of its own: every scheduler is called for every thread,
/// and ignores the threads that it does not know.
package struct ScheduleHook: Sendable {
  private let number: Int

  fileprivate static let installedCount = Atomic<Int>(0)
  private static let state = Mutex(State())
  private static let lastNumber = Atomic<Int>(0)

  private typealias Scheduler = @Sendable (SchedulePoint) -> Void

  private struct State {
    var installed: [Int: Scheduler] = [:]
    /// Those that were removed while threads were calling them.
    ///
    /// They may be the last to hold a store, which must not be closed by a thread of another test in the middle of a commit.
    var lingering: [Int: Scheduler] = [:]
    /// Number of calls that have not returned.
    var callCounts: [Int: Int] = [:]
  }

  /// Calls a scheduler at each point, until the hook is removed.
  ///
  /// - Parameter reached: Called on the thread that has reached a point.
  package init(_ reached: @escaping @Sendable (SchedulePoint) -> Void) {
    let number = Self.lastNumber.add(1, ordering: .relaxed).newValue
    self.number = number
    let ended = Self.state.withLock { state in
      state.installed[number] = reached
      let ended = state.lingering.filter { state.callCounts[$0.key] == nil }
      for number in ended.keys { state.lingering[number] = nil }
      return ended
    }
    // Released here, without the lock.
    withExtendedLifetime(ended) {}
    Self.installedCount.add(1, ordering: .releasing)
  }

  /// Stops calling the scheduler.
  package func remove() {
    let removed = Self.state.withLock { state in
      let removed = state.installed.removeValue(forKey: number)
      if state.callCounts[number] != nil { state.lingering[number] = removed }
      return removed
    }
    if removed != nil { Self.installedCount.subtract(1, ordering: .releasing) }
  }

  fileprivate static func reach(_ point: SchedulePoint) {
    var schedulers = state.withLock { state in
      for number in state.installed.keys { state.callCounts[number, default: 0] += 1 }
      return Array(state.installed)
    }
    let numbers = schedulers.map(\.key)
    for (_, reached) in schedulers { reached(point) }
    schedulers = []
    state.withLock { state in
      for number in numbers {
        let count = state.callCounts[number, default: 1] - 1
        state.callCounts[number] = count == 0 ? nil : count
      }
    }
  }
}
