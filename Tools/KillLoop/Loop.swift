import Foundation

/// Starts writers and kills them, and keeps count.
struct Loop {
  private let store: String
  private let longest: Int
  private var random: RandomMoments
  private var acknowledged = 0
  private var commits = 0
  /// The newest commit that was found after the last kill, acknowledged or not.
  private var found = 0
  private(set) var lost = 0
  private(set) var problems: [String] = []
  private let isTerminal = isatty(STDERR_FILENO) == 1

  init(store: String, seed: UInt64, longest: Int) {
    self.store = store
    self.longest = longest
    random = RandomMoments(state: seed)
  }

  mutating func run(cycles: Int) async throws {
    // A first writer that is given the time to make the store: followers do not make one.
    try cycle(lifetime: .milliseconds(500))
    // One keeps reading, the other opens the store anew now and then.
    let followers = try [
      FollowerProcess(store: store), FollowerProcess(store: store, ["--reopen", "16"]),
    ]
    for number in 1...cycles {
      try cycle(lifetime: .microseconds(random.next(below: longest * 1000)))
      if isTerminal {
        try? FileHandle.standardError.write(
          contentsOf: Data("\r\(number) of \(cycles) cycles".utf8)
        )
      }
    }
    if isTerminal { try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[K".utf8)) }
    for (number, follower) in followers.enumerated() {
      let outcome = try follower.stop()
      print("follower \(number + 1): \(outcome.summary)")
      // All writers are gone, and the last commit was looked for already: there is nothing later to be seen.
      if !outcome.isClean || outcome.newest != found {
        problems.append("follower \(number + 1): \(outcome.summary), and not \(found)")
      }
    }
    print("\(commits) commits acknowledged, \(acknowledged) in the store")
    for problem in problems.prefix(20) { print("problem: \(problem)") }
    print("\(cycles) cycles, \(lost) acknowledged commits lost")
  }

  /// Runs one writer, and looks at the store it leaves.
  private mutating func cycle(lifetime: Duration) throws {
    let report = try WriterProcess.run(store: store, killedAfter: lifetime)
    if let problem = report.problem { problems.append("writer: \(problem)") }
    if let found = report.found { account(for: found, "the next writer") }
    if let last = report.lastAcknowledged {
      commits += last - acknowledged
      acknowledged = last
    }
    do {
      found = try KilledStore.check(store)
      account(for: found, "a reader after the kill")
    } catch {
      problems.append("after commit \(acknowledged): \(error)")
    }
  }

  private mutating func account(for found: Int, _ finder: String) {
    guard found < acknowledged else { return }
    lost += acknowledged - found
    problems.append("\(finder) found commit \(found), \(acknowledged) were acknowledged")
    acknowledged = found
  }
}

/// The moments of the kills: from a seed, though the system decides what the process is doing then.
struct RandomMoments {
  var state: UInt64

  mutating func next(below limit: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 33) % max(1, limit)
  }
}
