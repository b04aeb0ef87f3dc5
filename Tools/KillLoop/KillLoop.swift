import ArgumentParser
import Foundation

@main
struct KillLoop: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "killtest",
    abstract: "Kills a writing process at random moments and looks for what it had acknowledged.",
    discussion: """
      Each cycle starts a writer that opens the store, checks it, commits durably and reports each \
      commit through a pipe; kills it; and opens the store to look for the commits reported. Two \
      followers read the store all the while and must only ever see whole prefixes of its commits.

      With --members, so many processes write the store together, each until it is killed and another takes its \
      place; in the end each commit that was acknowledged must be there, none twice and none without what the \
      others had committed before it.
      """,
    subcommands: [Parent.self, Writer.self, Member.self, Follower.self],
    defaultSubcommand: Parent.self
  )
}

/// The loop itself.
struct Parent: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "loop",
    abstract: "Starts, kills and checks writers."
  )

  @Option(help: "How many writers to kill.")
  var cycles = 1000

  @Option(help: "How many processes write the store together; by default one writes alone.")
  var members = 1

  @Option(help: "Where chance starts from.")
  var seed: UInt64 = 1

  @Option(help: "Where to make the store; left there afterwards. By default a temporary place.")
  var path: String?

  @Option(help: "The longest a writer lives, in milliseconds.")
  var longest = 120

  func validate() throws {
    guard cycles >= 1 else {
      throw ValidationError("--cycles must be at least 1, and is \(cycles).")
    }
    guard 1...64 ~= members else {
      throw ValidationError("--members must be from 1 to 64, and is \(members).")
    }
    guard 1...60_000 ~= longest else {
      throw ValidationError("--longest must be from 1 to 60000 milliseconds, and is \(longest).")
    }
  }

  func run() async throws {
    let place =
      path ?? NSTemporaryDirectory() + "/killtest-\(ProcessInfo.processInfo.processIdentifier)"
    guard
      (try? FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true))
        != nil, FileManager.default.isWritableFile(atPath: place)
    else {
      throw ValidationError("--path must be a folder that can be written to, and is \(place).")
    }
    defer { if path == nil { try? FileManager.default.removeItem(atPath: place) } }
    if members > 1 {
      let loop = MembersLoop(store: place + "/store", seed: seed, longest: longest, cycles: cycles)
      guard try await loop.run(members: members) else { throw ExitCode.failure }
      return
    }
    var loop = Loop(store: place + "/store", seed: seed, longest: longest)
    try await loop.run(cycles: cycles)
    if loop.lost > 0 || !loop.problems.isEmpty { throw ExitCode.failure }
  }
}
