import Floor
import Foundation
import Harness
import PeerStores
import Workloads

/// Commits of new rows, durable and relaxed.
struct Commits {
  let plan: Plan
  let peers: [Peer]
  private let records = TripGenerator().records(1..<10_001)

  init(_ plan: Plan, _ peers: [Peer]) {
    self.plan = plan
    self.peers = peers
  }

  func run(_ report: Report) throws {
    let durable: [(Workload, Int)] = [
      (.durable1, 1), (.durable10, 10), (.durable100, 100), (.durable10000, 10_000),
    ]
    for (workload, rowsPerCommit) in durable {
      let rounds =
        rowsPerCommit > 1000 ? plan.choose(quick: 5, full: 15) : plan.choose(quick: 40, full: 150)
      report.add(
        try compare(workload, .full, rowsPerCommit, commits: rowsPerCommit > 1000 ? 2 : 20, rounds)
      )
    }
    let relaxed: [(Workload, Int, Int)] = [
      (.relaxed1, 1, 2000), (.relaxed100, 100, 100), (.relaxed10000, 10_000, 2),
    ]
    for (workload, rowsPerCommit, commits) in relaxed {
      report.add(
        try compare(
          workload,
          .relaxed,
          rowsPerCommit,
          commits: commits,
          plan.choose(quick: 7, full: 25)
        )
      )
    }
  }

  private func compare(
    _ workload: Workload,
    _ durability: Durability,
    _ rowsPerCommit: Int,
    commits: Int,
    _ rounds: Int
  ) throws -> [Standing] {
    try withFolder(plan, workload.rawValue) { folder in
      let log = try FloorLog(path: folder.appending(path: "floor").path)
      let floor = FloorCommits(
        log: log,
        rowsPerCommit: rowsPerCommit,
        bytesPerCommit: 16 + rowsPerCommit * 180
      )
      let least = Entrant(workload, .floor, settings: FloorLog.settings) {
        try timeCommits(commits, rowsPerCommit: rowsPerCommit) { _ in
          try durability == .full ? floor.commitDurably() : floor.commit()
        }
      }
      let entrants = try peers.map { peer in
        let store = try peer.open(folder.appending(path: peer.contender.rawValue), durability)
        let source = CommitSource(records, rowsPerCommit)
        return Entrant(
          workload,
          peer.contender,
          settings: peer.settings(durability),
          comparedWith: .init(workload, .floor)
        ) {
          try timeCommits(commits, rowsPerCommit: rowsPerCommit) { _ in
            let (rows, firstKey) = source.next()
            try store.insert(rows, firstKey: firstKey)
          }
        }
      }
      return try RoundRobin(rounds: rounds, [least] + entrants).run()
    }
  }
}

/// Deals out records and fresh keys, commit by commit.
private final class CommitSource {
  private let records: [TripRecord]
  private let rowsPerCommit: Int
  private var position = 0
  private var key: UInt64 = 1

  init(_ records: [TripRecord], _ rowsPerCommit: Int) {
    self.records = records
    self.rowsPerCommit = rowsPerCommit
  }

  func next() -> (rows: ArraySlice<TripRecord>, firstKey: UInt64) {
    if position + rowsPerCommit > records.count { position = 0 }
    defer {
      position += rowsPerCommit
      key += UInt64(rowsPerCommit)
    }
    return (records[position..<position + rowsPerCommit], key)
  }
}
