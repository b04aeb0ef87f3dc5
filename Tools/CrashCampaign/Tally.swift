import Foundation
import LogEngineTestSupport
import Synchronization

/// Counts what all workers find.
final class Tally: Sendable {
  private struct State: Sendable {
    var nextSeed: UInt64
    var states: Set<UInt64> = []
    var byArea: [Area: Int] = [:]
    var seedCount = 0
    var violationCount = 0
  }

  private let goal: Int
  private let stopsAtViolation: Bool
  private let state: Mutex<State>
  private let isTerminal = isatty(STDERR_FILENO) == 1

  init(first: UInt64, goal: Int, stopsAtViolation: Bool) {
    self.goal = goal
    self.stopsAtViolation = stopsAtViolation
    state = Mutex(State(nextSeed: first))
  }

  var violationCount: Int { state.withLock { $0.violationCount } }

  /// A seed to work on, or `nil` when enough was seen.
  func nextSeed() -> UInt64? {
    state.withLock { state in
      guard state.states.count < goal, !stopsAtViolation || state.violationCount == 0 else {
        return nil
      }
      state.nextSeed += 1
      return state.nextSeed - 1
    }
  }

  func add(_ result: CampaignResult, of area: Area) {
    let (count, seeds) = state.withLock { state in
      let before = state.states.count
      state.states.formUnion(result.states)
      state.byArea[area, default: 0] += state.states.count - before
      state.seedCount += 1
      state.violationCount += result.violations.count
      return (state.states.count, state.seedCount)
    }
    for violation in result.violations { print("violation: \(violation)") }
    if isTerminal {
      try? FileHandle.standardError.write(
        contentsOf: Data("\r\(count) states from \(seeds) seeds".utf8)
      )
    }
  }

  func report(elapsed: Duration) {
    if isTerminal { try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[K".utf8)) }
    let state = state.withLock { $0 }
    for area in Area.allCases {
      if let count = state.byArea[area] { print("\(area.rawValue): \(count) states") }
    }
    print("\(state.seedCount) seeds in \(elapsed.components.seconds) s")
    print("\(state.states.count) states, \(state.violationCount) violations")
  }
}
