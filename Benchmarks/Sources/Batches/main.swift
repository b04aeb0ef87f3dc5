import Foundation
import Harness

runGroup("Batches") { plan, report in
  #if !SQLITE
  report.note("SQLite takes no part: libsqlite3-dev is not installed")
  #endif
  let base = plan.choose(quick: 100_000, full: 1_000_000)
  let count = base / 5
  let rounds = plan.choose(quick: 3, full: 9)
  try withFolder(plan, "batches") { folder in
    var stores: [(contender: Contender, settings: String, store: any BatchStore)] = [
      (
        .models, "a new ModelContext on LogStore, relaxed; \(base) rows are there",
        try ModelBatches(folder.appending(path: "parcels"))
      )
    ]
    #if SQLITE
    stores.append(
      (
        .sqlite, "\(base) rows are there",
        try SQLiteBatches(folder.appending(path: "parcels.sqlite"))
      )
    )
    #endif
    for (_, _, store) in stores {
      try store.insert(Parcels(batch: 0, count: base))
      try store.upsert(addresses(of: 0, count))
    }
    let hasPeer = stores.count > 1
    func run(
      _ workload: Workload,
      count: Int,
      targets: [Target] = [],
      _ work: @escaping (any BatchStore, _ round: Int) throws -> Int
    ) throws {
      let entrants = stores.map { contender, settings, store in
        var round = 0
        return Entrant(
          workload,
          contender,
          settings: settings,
          comparedWith: contender == .models && hasPeer ? .init(workload, .sqlite) : nil,
          targets: contender == .models && hasPeer ? targets : []
        ) {
          round += 1
          var found = 0
          let sample = try timeRows(count) { found = try work(store, round) }
          try WrongAnswer.check(found, is: count, contender)
          return sample
        }
      }
      report.add(try RoundRobin(rounds: rounds, entrants).run())
    }
    let million = [Target(.rowsPerSecond, .atLeast(1_000_000))]
    let thrice = [Target(.rowsPerSecond, .share, .atLeast(3))]
    let ahead = [Target(.rowsPerSecond, .share, .atLeast(1))]
    try run(.batchInsert, count: count, targets: million) { store, round in
      try store.insert(Parcels(batch: round, count: count))
      return count
    }
    let onTwoRoutes = Parcels(batch: 0, count: base).count { $0.0 < "route 2" }
    try run(.batchUpdate, count: onTwoRoutes, targets: thrice) { store, _ in try store.update() }
    // Half of the accounts are those that the first upsert brought.
    try run(.batchUpsert, count: count, targets: ahead) { store, round in
      try store.upsert(addresses(of: round, count))
      return count
    }
    try run(.batchDelete, count: count) { store, round in try store.delete(batch: round) }
    let answers = try stores.map { try $0.store.check() }
    for (answer, store) in zip(answers, stores) {
      try WrongAnswer.check(answer == answers.last ? 1 : 0, is: 1, store.contender)
    }
  }
}
