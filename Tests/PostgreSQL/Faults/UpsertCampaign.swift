import FaultProxy
import Foundation
import ModelRuntime
import PostgresStore

/// Several processes give the same unique values to new models, each through a proxy that cuts its connections.
struct UpsertCampaign {
  let seed: UInt64
  let processes: Int
  let rounds: Int

  private static let namespace = "upserts"
  private static let keyCount = 16

  struct Outcome {
    var saveCount = 0
    var cutCount = 0
    var violations: [String] = []
  }

  /// - Throws: What keeps the server, the proxies or the processes from working.
  func run() throws -> Outcome {
    var outcome = Outcome()
    let server = try FaultyServer()
    defer { server.remove() }
    let witness = try UpsertCampaign.container(server.url)
    let proxies = try (0..<processes).map { number in
      try FaultProxy(
        in: "\(server.folder)\(number)",
        to: server.folder,
        seed: seed &+ UInt64(number),
        splitting: Splitting(longestPiece: 2000),
        recurring: 2_000...60_000
      )
    }
    defer { for proxy in proxies { proxy.close() } }
    let others = try proxies.enumerated().map { number, proxy in
      try OtherProcess(
        "upserter",
        FaultyServer.url(in: proxy.folder),
        "\(number)",
        "\(rounds)",
        "\(seed &+ UInt64(number))"
      )
    }
    for other in others { try other.tell("go") }
    for (number, other) in others.enumerated() {
      let lines = try other.finish()
      if lines != ["\(rounds)"] {
        outcome.violations.append("seed \(seed): process \(number) said \(lines)")
      }
    }
    outcome.saveCount = processes * rounds
    outcome.cutCount = proxies.reduce(0) { $0 + $1.struckCount }
    try check(witness, try server.session(), &outcome)
    return outcome
  }

  static func container(_ url: String) throws -> ModelContainer {
    var configuration = PostgresStoreConfiguration(url: url, namespace: namespace)
    configuration.reconnectBudget = .seconds(600)
    return try ModelContainer(for: CampaignModels.schema, configurations: [configuration])
  }

  /// What each process does.
  static func upsert(_ url: String, name: String, rounds: Int, seed: UInt64) throws {
    let container = try container(url)
    _ = OtherProcess.waitForStart()
    var random = SplitMix(seed)
    for round in 0..<rounds {
      let context = ModelContext(container)
      context.author = name
      for key in (0..<keyCount).shuffled(using: &random).prefix(4) {
        context.insert(Account("\(key)", balance: round, note: name))
      }
      try context.save()
    }
    OtherProcess.say("\(rounds)")
  }

  private func check(
    _ witness: ModelContainer,
    _ session: SQLSession,
    _ outcome: inout Outcome
  ) throws {
    let accounts = try ModelContext(witness).fetch(FetchDescriptor<Account>())
    let codes = accounts.map(\.code).sorted()
    if codes != (0..<UpsertCampaign.keyCount).map({ "\($0)" }).sorted() {
      outcome.violations.append("seed \(seed): the codes are \(codes)")
    }
    let tables = "\(UpsertCampaign.namespace)._logstore_commit"
    for number in 0..<processes {
      let count = try session.integer("SELECT count(*) FROM \(tables) WHERE author = '\(number)'")
      if count != rounds {
        outcome.violations.append(
          "seed \(seed): process \(number) has \(count) commits, and \(rounds) were acknowledged"
        )
      }
    }
    // Whoever changed an account last has left its name.
    let history = "\(UpsertCampaign.namespace)._logstore_change"
    let last = try session.texts(
      "SELECT a.code || ' ' || a.note || ' ' || c.author FROM \(UpsertCampaign.namespace).\"Account\" AS a, "
        + "LATERAL (SELECT author FROM \(history) JOIN \(tables) USING (xid) WHERE row = a._id "
        + "ORDER BY at DESC LIMIT 1) AS c WHERE a.note <> c.author"
    )
    if !last.isEmpty {
      outcome.violations.append("seed \(seed): another one changed these last: \(last)")
    }
  }
}
