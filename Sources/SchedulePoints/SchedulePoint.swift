import Synchronization

/// A place between two steps of one operation, where other threads may come in between.
///
/// A test of threads installs a scheduler, which is called at each point a thread comes to, and may let it wait
/// there while others go on: so it is a seed that says which thread does what in which order, and not luck. Without
/// a scheduler a point costs one load of a flag; none stands where rows are visited one by one.
package enum SchedulePoint: UInt8, Sendable, CaseIterable {
  /// A save has collected its changes, and claims nothing yet.
  case beforeClaim
  /// It has claimed its unique keys and the rows it refers to, and is not committed.
  case beforeCommit
  /// A commit is written and not visible; the lock of those who write is held.
  case beforePublication
  /// A commit is visible, and the indexes do not know of it.
  case afterCommit
  /// A table has been scanned: for an index that is being built, or for one part of a fetch.
  case afterScan
  /// The access path of a fetch is chosen, an index may have named rows, and the rows are not read.
  case duringFetch
  /// A context has taken what others saved out of its inbox, and not read it.
  case duringMerge
  /// A store has been let go of, and is not closed.
  case beforeClosing
  /// A store is about to be opened.
  case beforeOpening

  /// Tells the scheduler, if there is one, that the thread has come here.
  package func reach() {
    if ScheduleHook.isInstalled.load(ordering: .relaxed) { ScheduleHook.reach(self) }
  }
}

/// Who schedules threads.
package enum ScheduleHook {
  fileprivate static let isInstalled = Atomic<Bool>(false)
  private static let scheduler = Mutex<(@Sendable (SchedulePoint) -> Void)?>(nil)

  /// Calls a scheduler at each point from now on; `nil` calls none.
  ///
  /// - Parameter reached: Called on the thread that has come to a point.
  package static func install(_ reached: (@Sendable (SchedulePoint) -> Void)?) {
    scheduler.withLock { $0 = reached }
    isInstalled.store(reached != nil, ordering: .releasing)
  }

  fileprivate static func reach(_ point: SchedulePoint) { scheduler.withLock { $0 }?(point) }
}
