import ArgumentParser
import FaultProxy
import Foundation

@main
struct PostgresFaults: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "postgres-faults",
    abstract:
      "Has faults strike between stores and a PostgreSQL server, and looks for what was saved.",
    discussion: """
      points: connections are cut at random bytes, sessions are ended by the server, bytes arrive late, the server is away \
      for too long or is ended at once and started again; after each fault, what the server holds is compared with what was \
      acknowledged.
      disk: the disk of the tables fills up while something is saved, and gets room again (as root).
      upserts: processes give the same unique values to new models, through proxies that cut their connections.
      history: processes write for a while, and others observe: they must hear of every save, in order, once.
      latency: how long after a save a list in another process shows it.

      The last line is "N points, V violations", or the same of saves; the exit code is not zero if V is not.
      """,
    subcommands: [Campaigns.self, Upserter.self, Writer.self, Observer.self, Shower.self],
    defaultSubcommand: Campaigns.self
  )
}

/// The campaigns.
struct Campaigns: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Runs a campaign; points by default."
  )

  enum Kind: String, CaseIterable, ExpressibleByArgument {
    case points, disk, upserts, history, latency
  }

  @Option(help: "Which campaign: points, disk, upserts, history or latency.")
  var only = Kind.points
  @Option(help: "How many faults strike.")
  var points = 1000
  @Option(help: "How many of them restart the server; by default one in a hundred.")
  var restarts: Int?
  @Option(help: "Where chance starts from.")
  var seed: UInt64 = 1
  @Option(help: "How long the writers of the history write, in seconds.")
  var seconds = 60.0
  @Option(help: "How many processes write; by default 2 that upsert, 8 for the history.")
  var writers: Int?
  @Option(help: "How many processes observe.")
  var observers = 2
  @Option(help: "How often each process upserts, and how often the latency is measured.")
  var rounds = 500

  func validate() throws {
    for (name, value) in [
      ("points", points), ("writers", writers ?? 1), ("observers", observers), ("rounds", rounds),
    ]
    where !(1...1_000_000 ~= value) {
      throw ValidationError("--\(name) must be from 1 to 1000000, and is \(value).")
    }
    if let restarts, !(0...points ~= restarts) {
      throw ValidationError("--restarts must be from 0 to --points, and is \(restarts).")
    }
    guard seconds > 0, seconds <= 86_400 else {
      throw ValidationError("--seconds must be more than 0 and at most 86400, and is \(seconds).")
    }
  }

  func run() async throws {
    switch only {
    case .points: try runPoints()
    case .disk: try runDisk()
    case .upserts:
      let outcome = try UpsertCampaign(seed: seed, processes: writers ?? 2, rounds: rounds).run()
      print("\(outcome.cutCount) connections were cut")
      try finish("\(outcome.saveCount) saves", outcome.violations)
    case .history:
      let outcome = try HistoryCampaign(
        seed: seed,
        writers: writers ?? 8,
        observers: observers,
        seconds: seconds
      ).run()
      print("\(writers ?? 8) writers, \(observers) observers, \(outcome.changeCount) changes")
      try finish("\(outcome.saveCount) saves", outcome.violations)
    case .latency:
      let delays = try Latency(seed: seed, saves: rounds).measure()
      guard !delays.isEmpty else { throw ExitCode(4) }
      func part(_ percent: Int) -> String {
        String(format: "%.2f ms", Double(delays[(delays.count - 1) * percent / 100]) / 1000)
      }
      print(
        "\(delays.count) of \(rounds) saves: p50 \(part(50)), p99 \(part(99)), longest \(part(100))"
      )
    }
  }

  private func runPoints() throws {
    let campaign = try PointCampaign(seed: seed)
    let began = ContinuousClock.now
    campaign.run(points: points, restarts: restarts ?? points / 100) { done in
      if done % 100 == 0 { FileHandle.standardError.write(Data("\(done) points\n".utf8)) }
    }
    for strike in PointCampaign.Strike.allCases {
      print("\(strike.rawValue): \(campaign.struck[strike] ?? 0)")
    }
    let seconds = began.duration(to: .now).components.seconds
    print(
      "\(campaign.saveCount) saves in \(seconds) s; \(campaign.lateByteCount) bytes came late; "
        + "\(campaign.unresolved.count) saves were left unresolved, of which \(campaign.unresolved.kept) are there"
    )
    try finish("\(points) points", campaign.violations)
  }

  private func runDisk() throws {
    guard FullDisk.isPossible else {
      print("skipped: \(FullDisk.reason)")
      return
    }
    let outcome = try FullDisk(seed: seed).run()
    if let refusal = outcome.refusal { print("refused: \(refusal)") }
    try finish("\(outcome.savedCount) saves", outcome.violations)
  }

  private func finish(_ what: String, _ violations: [String]) throws {
    for violation in violations { print("violation: \(violation)") }
    print("\(what), \(violations.count) violations")
    if !violations.isEmpty { throw ExitCode(4) }
  }
}

// MARK: Roles of the other processes

struct Upserter: ParsableCommand {
  static let configuration = CommandConfiguration(shouldDisplay: false)
  @Argument var url: String
  @Argument var name: String
  @Argument var rounds: Int
  @Argument var seed: UInt64

  func run() throws { try UpsertCampaign.upsert(url, name: name, rounds: rounds, seed: seed) }
}

struct Writer: ParsableCommand {
  static let configuration = CommandConfiguration(shouldDisplay: false)
  @Argument var url: String
  @Argument var name: String
  @Argument var seconds: Double
  @Argument var seed: UInt64

  func run() throws { try HistoryCampaign.write(url, name: name, seconds: seconds, seed: seed) }
}

struct Observer: AsyncParsableCommand {
  static let configuration = CommandConfiguration(shouldDisplay: false)
  @Argument var url: String

  func run() async throws { try await HistoryCampaign.observe(url) }
}

struct Shower: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "show", shouldDisplay: false)
  @Argument var url: String
  @Argument var count: Int

  func run() async throws { try await Latency.show(url, count: count) }
}
