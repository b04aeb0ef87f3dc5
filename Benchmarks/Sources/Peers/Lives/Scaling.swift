import Foundation
import Harness
import PeerStores

/// Whole lives of stores of growing size, each in a process of its own, contenders in turns.
struct Scaling {
  private let plan: Plan
  private let peers: [Peer]

  init(_ plan: Plan, _ peers: [Peer]) {
    self.plan = plan
    self.peers = peers
  }

  func run(_ report: Report) throws {
    for (rows, rounds) in sizes { report.add(try measure(rows, rounds, contenders(rows))) }
    for peer in peers where peer.pace > 1 {
      report.note("scale: \(peer.contender.rawValue) ends at 100,000 rows; more would take minutes")
    }
  }

  private func contenders(_ rows: Int) -> [Peer] {
    peers.filter { $0.pace == 1 || rows <= 100_000 }
  }

  private var sizes: [(rows: Int, rounds: Int)] {
    plan.choose(
      quick: [(10_000, 1), (100_000, 1)],
      full: [(10_000, 5), (100_000, 5), (1_000_000, 3), (10_000_000, 1)]
    )
  }

  private func measure(_ rows: Int, _ rounds: Int, _ peers: [Peer]) throws -> [Standing] {
    // A life reports several workloads at once: first all live, then each workload is reported.
    let lives = peers.map { _ in Lives() }
    for round in 0..<rounds {
      for turn in peers.indices {
        let index = (turn + round) % peers.count
        try withFolder(plan, "life") { folder in
          let place = folder.appending(path: peers[index].contender.rawValue)
          lives[index].figures.append(try Child.live(peers[index], rows: rows, in: place))
        }
      }
    }
    let entrants = Self.workloads.flatMap { workload, metrics in
      zip(peers, lives).map { peer, lives in entrant(workload, metrics, rows, peer, lives) }
    }
    return try RoundRobin(rounds: rounds, warmUp: .none, entrants).run()
  }

  private static let workloads: [(Workload, [Metric])] = [
    (.scaleInsert, [.rowsPerSecond]), (.scaleRead, [.rowsPerSecond]),
    (.scaleScan, [.rowsPerSecond]), (.scaleOpen, [.milliseconds]), (.scaleSize, [.bytesPerRow]),
    (.scaleMemory, [.peakMegabytes, .anonymousMegabytes]),
  ]

  private func entrant(
    _ workload: Workload,
    _ metrics: [Metric],
    _ rows: Int,
    _ peer: Peer,
    _ lives: Lives
  ) -> Entrant {
    var round = 0
    return Entrant(
      workload,
      peer.contender,
      settings: "\(peer.settings(.relaxed)), 100 rows a commit",
      rows: rows
    ) {
      defer { round += 1 }
      let figures = lives.figures[round]
      return Sample(
        Dictionary(
          uniqueKeysWithValues: metrics.compactMap { metric in
            figures["\(workload.rawValue) \(metric.rawValue)"].map { (metric, $0) }
          }
        )
      )
    }
  }

  /// The figures of a contender's lives, one after the other.
  private final class Lives {
    var figures: [[String: Double]] = []
  }
}
