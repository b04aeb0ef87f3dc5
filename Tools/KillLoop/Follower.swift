import ArgumentParser
import Foundation
import LogEngine

/// Reads the store while writers write and die.
struct Follower: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "follower",
    abstract: "Follows a store until its input ends, and checks each state it sees.",
    shouldDisplay: false
  )

  @Argument var store: String

  @Option(help: "After how many looks to open the store anew; by default once is enough.")
  var reopen = Int.max

  func run() throws {
    var engine = try open()
    var newest = try KilledStore.check(engine)
    var states = 1
    var looks = 0
    var isLast = false
    while !isLast {
      // Asked before the look, so that the last one comes after the last writer.
      isLast = hasInputEnded()
      looks += 1
      if looks % reopen == 0 { engine = try open() }
      let announced = Int(try refresh(&engine).rawValue)
      let commit = try KilledStore.check(engine)
      guard commit >= announced, commit >= newest else {
        throw ValidationError("commit \(commit) is the newest after \(max(announced, newest))")
      }
      if commit > newest { states += 1 }
      newest = commit
    }
    print("saw \(states) states in \(looks) looks, up to commit \(newest)")
  }

  /// Brings the store up to date; one that was left behind by compaction is opened anew.
  private func refresh(_ engine: inout StorageEngine) throws -> CommitSequence {
    do throws(StorageError) {
      return try engine.refresh()
    } catch {
      guard case .commitGone = error else { throw error }
      engine = try open()
      return engine.lastCommit
    }
  }

  private func open() throws -> StorageEngine {
    try StorageEngine.open(at: store, options: KillScript.options(.readOnly))
  }

  private func hasInputEnded() -> Bool {
    var request = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    // A millisecond between looks, so that the writer gets somewhere, too.
    return poll(&request, 1, 1) > 0
  }
}
