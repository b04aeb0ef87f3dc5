import Foundation
import SchedulePoints
import Synchronization
import Testing

/// Runs a block once, on this thread, when it comes to a point.
func atFirst<R>(
  _ point: SchedulePoint,
  run other: @escaping @Sendable () throws -> Void,
  during body: () throws -> R
) rethrows -> R {
  let thread = UInt(bitPattern: Int(bitPattern: pthread_self()))
  let isDue = Mutex(true)
  let hook = ScheduleHook { reached in
    guard reached == point, thread == UInt(bitPattern: Int(bitPattern: pthread_self())),
      isDue.withLock({ due in
        defer { due = false }
        return due
      })
    else { return }
    do { try other() } catch { Issue.record(error) }
  }
  defer { hook.remove() }
  let result = try body()
  #expect(isDue.withLock { !$0 }, "\(point) was never reached")
  return result
}
