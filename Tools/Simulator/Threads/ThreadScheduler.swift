import Foundation
import SchedulePoints

/// Lets one thread run at a time, from one point to the next, and chooses it by a seed.
///
/// A thread that waits for a lock which another holds is passed over until it comes to a point again: the system is
/// asked whether it sleeps, since locks do not say which threads wait for them.
final class ThreadScheduler: @unchecked Sendable {
  private enum Phase { case starting, parked, chosen, running, blocked, finished }

  private struct Runner {
    var phase = Phase.starting
    /// The folder in which the system reports the thread's state.
    var folder = ""
    var point: SchedulePoint?
  }

  // Guarded by the condition.
  private let condition = NSCondition()
  private var runners: [Runner]
  private var numbers: [UInt: Int] = [:]
  private var chance: Chance
  /// The threads that ran, each with the point it left, for messages.
  private(set) var trace: [String] = []

  init(threadCount: Int, seed: UInt64) {
    runners = Array(repeating: Runner(), count: threadCount)
    chance = Chance(seed: seed)
  }

  /// Runs blocks on threads of their own, to their ends.
  ///
  /// - Returns: `false` for a deadlock.
  func run(_ blocks: [@Sendable () -> Void]) -> Bool {
    let hook = ScheduleHook { [weak self] point in self?.reach(point) }
    defer { hook.remove() }
    for (number, block) in blocks.enumerated() {
      let thread = Thread {
        self.begin(number)
        block()
        self.finish(number)
      }
      thread.stackSize = 4 << 20
      thread.start()
    }
    return schedule()
  }

  // MARK: On the threads

  private static var ownIdentity: UInt { UInt(bitPattern: Int(bitPattern: pthread_self())) }

  private func begin(_ number: Int) {
    condition.lock()
    numbers[Self.ownIdentity] = number
    let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
    runners[number].folder = "/proc/\(link ?? "")"
    park(number, at: nil)
    condition.unlock()
  }

  private func reach(_ point: SchedulePoint) {
    condition.lock()
    if let number = numbers[Self.ownIdentity] { park(number, at: point) }
    condition.unlock()
  }

  private func park(_ number: Int, at point: SchedulePoint?) {
    runners[number].point = point
    runners[number].phase = .parked
    condition.broadcast()
    while runners[number].phase != .chosen { condition.wait() }
    runners[number].phase = .running
  }

  private func finish(_ number: Int) {
    condition.lock()
    runners[number].phase = .finished
    numbers[Self.ownIdentity] = nil
    condition.broadcast()
    condition.unlock()
  }

  // MARK: On the thread that schedules

  private func schedule() -> Bool {
    condition.lock()
    defer { condition.unlock() }
    var patience = 0
    while true {
      guard settle() else { return false }
      let ready = runners.indices.filter { runners[$0].phase == .parked }
      guard let next = chance.pick(ready) else {
        if runners.allSatisfy({ $0.phase == .finished }) { return true }
        // All remaining threads wait for locks: either the holders have finished, or this is a deadlock.
        patience += 1
        if patience > 5_000 { return false }
        _ = condition.wait(until: Date(timeIntervalSinceNow: 0.001))
        continue
      }
      patience = 0
      trace.append("\(next)\(runners[next].point.map { " from \($0)" } ?? "")")
      runners[next].phase = .chosen
      condition.broadcast()
    }
  }

  /// Waits until every thread is at a point, has finished, or waits for another.
  private func settle() -> Bool {
    var sleeps = 0
    for _ in 0..<60_000 {
      guard
        let active = runners.indices.first(where: {
          [.starting, .chosen, .running].contains(runners[$0].phase)
        })
      else {
        // One that was waiting may be on its way to a point.
        let awake = runners.indices.filter {
          runners[$0].phase == .blocked && !isSleeping($0)
        }
        if awake.isEmpty { return true }
        for number in awake { runners[number].phase = .running }
        continue
      }
      if condition.wait(until: Date(timeIntervalSinceNow: 0.001)) {
        sleeps = 0
        continue
      }
      guard runners[active].phase == .running, isSleeping(active) else {
        sleeps = 0
        continue
      }
      sleeps += 1
      if sleeps >= 3 {
        runners[active].phase = .blocked
        sleeps = 0
      }
    }
    return false
  }

  /// Whether a thread sleeps, as the system says.
  private func isSleeping(_ number: Int) -> Bool {
    guard
      let text = try? String(
        contentsOfFile: "\(runners[number].folder)/stat",
        encoding: .utf8
      ), let end = text.lastIndex(of: ")")
    else { return false }
    return text[end...].dropFirst(2).first == "S"
  }
}
