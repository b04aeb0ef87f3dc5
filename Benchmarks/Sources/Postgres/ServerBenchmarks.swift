import Foundation
import GRDBPeer
import Harness
import Workloads

/// Saves, fetches and relationships on one server, over its socket: by models, and by hand.
struct ServerBenchmarks {
  private let plan: Plan
  private let models: ModelTrips
  private let byHand: HandWritten
  private let withoutHistory: HandWritten
  private let records = TripGenerator().records(1..<10_001)
  private let rounds: Int

  private static let settings = "PostgreSQL on a socket, fsync off"
  private static let harbours = 200
  private static let callsPerHarbour = 10

  init(_ plan: Plan, _ server: Server) throws {
    self.plan = plan
    rounds = plan.choose(quick: 5, full: 25)
    models = try ModelTrips(server.url, namespace: "models")
    byHand = try HandWritten(server.url, schema: "by_hand", .kept)
    withoutHistory = try HandWritten(server.url, schema: "without_history", .none)
  }

  func run(_ report: Report) throws {
    // First: the first rows that were saved are fetched.
    try models.save(records[...])
    try byHand.save(records[...])
    try models.fill(harbours: Self.harbours, callsPerHarbour: Self.callsPerHarbour)
    try byHand.fill(harbours: Self.harbours, callsPerHarbour: Self.callsPerHarbour)
    try byHand.session.execute("ANALYZE")
    report.add(try fetches())
    report.add(try relationships())
    report.add(try saves(.serverSave1, rowsPerSave: 1, saves: 200))
    report.add(try saves(.serverSave1000, rowsPerSave: 1000, saves: 5))
  }

  // MARK: Saves

  private func saves(_ workload: Workload, rowsPerSave: Int, saves: Int) throws -> [Standing] {
    try withFolder(plan, "grdb") { folder in
      func sample(_ save: (ArraySlice<TripRecord>) throws -> Void) rethrows -> Sample {
        try timeCommits(saves, rowsPerCommit: rowsPerSave) { number in
          let first = number * rowsPerSave % records.count
          try save(records[first..<first + rowsPerSave])
        }
      }
      let peers = try GRDBContender.savers(folder, .normal).map { peer in
        Entrant(workload, peer.contender, settings: peer.settings) {
          try sample(peer.saver.save)
        }
      }
      let others = [
        entrant(
          workload,
          .libpq,
          "a row in each of two tables of history, too",
          { byHand.session.roundTripCount },
          saves
        ) {
          try sample(byHand.save)
        },
        entrant(
          workload,
          .libpqBare,
          "no history",
          { withoutHistory.session.roundTripCount },
          saves
        ) {
          try sample(withoutHistory.save)
        },
      ]
      let ours = entrant(
        workload,
        .models,
        "one context that lives on",
        { models.roundTripCount },
        saves,
        comparedWith: .init(workload, .libpq),
        targets: Self.targets
      ) {
        try sample(models.save)
      }
      return try RoundRobin(rounds: rounds, peers + others + [ours]).run()
    }
  }

  /// The targets: at most 1.3 times as long as by hand.
  private static var targets: [Target] { [Target(.rowsPerSecond, .share, .atLeast(1 / 1.3))] }

  // MARK: Reads

  private func fetches() throws -> [Standing] {
    try withFolder(plan, "grdb") { folder in
      let expected = records.reduce(0) { $0 + $1.checksum }
      let peers = try GRDBContender.fetchers(folder, records).all.map { peer in
        Entrant(.serverFetch10000, peer.contender, settings: peer.settings) {
          try read(expected, peer.contender, peer.fetch)
        }
      }
      return try RoundRobin(
        rounds: rounds,
        peers + [
          entrant(
            .serverFetch10000,
            .libpq,
            "a class for each row",
            { byHand.session.roundTripCount },
            1
          ) { try read(expected, .libpq, byHand.fetch) },
          entrant(
            .serverFetch10000,
            .models,
            "a new context",
            { models.roundTripCount },
            1,
            comparedWith: .init(.serverFetch10000, .libpq),
            targets: Self.targets
          ) { try read(expected, .models, models.fetch) },
        ]
      ).run()
    }
  }

  private func read(
    _ expected: Int,
    _ contender: Contender,
    _ fetch: () throws -> Int
  ) throws -> Sample {
    var found = 0
    let sample = try timeRows(records.count) { found = try fetch() }
    try WrongAnswer.check(found, is: expected, contender)
    return sample
  }

  private func relationships() throws -> [Standing] {
    let count = Self.harbours * Self.callsPerHarbour
    let expected = (1...count).reduce(0) { $0 + $1 + "ship \($1)".utf8.count }
    func read(_ contender: Contender, _ work: () throws -> Int) throws -> Sample {
      var found = 0
      let sample = try timeRows(count) { found = try work() }
      try WrongAnswer.check(found, is: expected, contender)
      return sample
    }
    return try RoundRobin(
      rounds: rounds,
      [
        entrant(
          .serverPrefetch,
          .libpq,
          "two statements, a class for each row",
          { byHand.session.roundTripCount },
          1
        ) { try read(.libpq, byHand.addUpTonnage) },
        entrant(
          .serverPrefetch,
          .models,
          "a new context, lists followed one after the other",
          { models.roundTripCount },
          1,
          comparedWith: .init(.serverPrefetch, .libpq),
          targets: Self.targets
        ) { try read(.models, models.addUpTonnage) },
      ]
    ).run()
  }

  /// An entrant that counts its round trips beside its other figures.
  private func entrant(
    _ workload: Workload,
    _ contender: Contender,
    _ settings: String,
    _ count: @escaping () -> Int,
    _ operations: Int,
    comparedWith reference: Entrant.Key? = nil,
    targets: [Target] = [],
    _ run: @escaping () throws -> Sample
  ) -> Entrant {
    Entrant(
      workload,
      contender,
      settings: "\(Self.settings), \(settings)",
      comparedWith: reference,
      targets: targets
    ) {
      let before = count()
      var sample = try run()
      sample.figures[.roundTrips] = Double(count() - before) / Double(operations)
      return sample
    }
  }
}
