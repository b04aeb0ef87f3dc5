import Foundation
import LogEngine
import LogTools
import Synchronization

/// Starts members that write one store and kills them, and keeps count.
final class MembersLoop: Sendable {
  private let store: String
  private let longest: Int
  private let state: Mutex<State>
  private let isTerminal = isatty(STDERR_FILENO) == 1

  private struct State {
    var random: RandomMoments
    var left: Int
    var acknowledged: [Int] = []
    var problems: [String] = []
  }

  init(store: String, seed: UInt64, longest: Int, cycles: Int) {
    self.store = store
    self.longest = longest
    state = Mutex(State(random: RandomMoments(state: seed), left: cycles))
  }

  /// - Returns: Whether nothing was lost, and nothing else was wrong.
  func run(members: Int) async throws -> Bool {
    try MembersScript.make(store)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<members { group.addTask { await self.runOne() } }
    }
    return try look()
  }

  /// Has one member after another, until enough were killed.
  private func runOne() async {
    while let lifetime = nextLifetime() {
      await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
        DispatchQueue(label: "member").async {
          self.cycle(lifetime)
          done.resume()
        }
      }
    }
  }

  private func nextLifetime() -> Duration? {
    state.withLock { state in
      guard state.left > 0 else { return nil }
      state.left -= 1
      if isTerminal {
        try? FileHandle.standardError.write(contentsOf: Data("\r\(state.left) cycles left   ".utf8))
      }
      return .microseconds(state.random.next(below: longest * 1000))
    }
  }

  private func cycle(_ lifetime: Duration) {
    do {
      let report = try WriterProcess.run("member", store: store, killedAfter: lifetime)
      state.withLock { state in
        state.acknowledged += report.numbers
        if let problem = report.problem { state.problems.append("member: \(problem)") }
      }
    } catch {
      state.withLock { $0.problems.append("\(error)") }
    }
  }

  /// Compares what is in the store with what was acknowledged.
  private func look() throws -> Bool {
    if isTerminal { try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[K".utf8)) }
    let engine = try StorageEngine.open(
      at: store,
      options: MembersScript.options(.oneProcess)
    )
    let (count, all) = try MembersScript.numbers(in: engine)
    try engine.close()
    let report = try StorageEngine.verify(at: store)
    let (acknowledged, problems) = state.withLock { ($0.acknowledged, $0.problems) }
    let lost = Set(acknowledged).subtracting(all)
    let isRight = all.sorted() == (count > 0 ? Array(1...count) : [])
    print("\(acknowledged.count) commits acknowledged, \(all.count) in the store")
    for problem in problems.prefix(20) { print("problem: \(problem)") }
    if !isRight { print("problem: \(all.count) rows, \(Set(all).count) numbers, counted \(count)") }
    if !report.isSound { print("problem: the store is damaged") }
    // A member that took a number which another had acknowledged has overwritten the other's commit.
    let doubled = acknowledged.count - Set(acknowledged).count
    if doubled > 0 { print("problem: \(doubled) numbers were acknowledged twice") }
    print("\(lost.count + doubled) acknowledged commits lost")
    return lost.isEmpty && doubled == 0 && problems.isEmpty && isRight && report.isSound
  }
}
