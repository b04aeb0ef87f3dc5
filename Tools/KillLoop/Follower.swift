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

  func run() throws {
    var newest = 0
    var states = 0
    while !hasInputEnded() {
      let engine = try StorageEngine.open(at: store, options: KillScript.options(.readOnly))
      let commit = try KilledStore.check(engine)
      guard commit >= newest else {
        throw ValidationError("commit \(commit) is the newest after \(newest) had been")
      }
      if commit > newest { states += 1 }
      newest = commit
    }
    print("saw \(states) states up to commit \(newest)")
  }

  private func hasInputEnded() -> Bool {
    var request = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, 0) > 0
  }
}
