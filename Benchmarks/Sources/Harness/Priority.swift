import Glibc

/// Runs work before everything ordinary on the machine, where the system allows it.
///
/// On a machine whose processors are all busy, a thread that wakes from `fdatasync` waits for the next
/// tick, 4 ms at 250 Hz, where the disk took 0.05: every contender would be measured at the tick. Threads
/// the work starts are ordinary again, as a store's background threads are beside an app.
///
/// - Parameter body: The work.
/// - Returns: The result of the work.
/// - Throws: What the work throws.
public func withPriority<Result>(_ body: () throws -> Result) rethrows -> Result {
  // Not in the headers Swift sees: SCHED_RESET_ON_FORK.
  let resetOnFork: CInt = 0x4000_0000
  var parameters = sched_param(sched_priority: 1)
  sched_setscheduler(0, SCHED_RR | resetOnFork, &parameters)
  defer {
    parameters.sched_priority = 0
    sched_setscheduler(0, SCHED_OTHER, &parameters)
  }
  return try body()
}

/// Runs work as an ordinary thread does, also within ``withPriority(_:)``.
///
/// Before everything else, work of minutes would leave a contender's own threads nothing but what it does not use.
///
/// - Parameter body: The work.
/// - Returns: The result of the work.
/// - Throws: What the work throws.
public func withoutPriority<Result>(_ body: () throws -> Result) rethrows -> Result {
  let policy = sched_getscheduler(0)
  var parameters = sched_param()
  sched_getparam(0, &parameters)
  var ordinary = sched_param(sched_priority: 0)
  sched_setscheduler(0, SCHED_OTHER, &ordinary)
  defer { sched_setscheduler(0, policy, &parameters) }
  return try body()
}
