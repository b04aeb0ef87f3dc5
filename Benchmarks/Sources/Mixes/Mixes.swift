import Foundation
import Harness
import ModelStores
import PeerStores
import Workloads

/// YCSB's workloads A to F on trips, one operation a commit or read, by several threads on one open store.
///
/// LOGSTORE_BENCHMARK_THREADS and LOGSTORE_BENCHMARK_MIXES, lists with spaces, choose among the numbers of threads and the mixes.
struct Mixes {
  let plan: Plan
  let durability: Durability
  let folder: URL

  private var rows: Int { plan.choose(quick: 20_000, full: 1_000_000) }
  private var seconds: Double { plan.choose(quick: 0.04, full: 0.3) }

  private var threads: [Int] {
    let chosen = Self.list("LOGSTORE_BENCHMARK_THREADS").compactMap { Int($0) }
    return chosen.isEmpty ? plan.choose(quick: [1, 4], full: [1, 2, 4, 8, 16]) : chosen
  }

  private var mixes: [Mix] {
    let chosen = Self.list("LOGSTORE_BENCHMARK_MIXES")
    return Mix.all.filter { mix in
      (mix.workload.durability ?? .relaxed) == durability
        && (chosen.isEmpty || chosen.contains(mix.workload.rawValue))
    }
  }

  private static func list(_ name: String) -> [String] {
    (ProcessInfo.processInfo.environment[name] ?? "").split(separator: " ").map(String.init)
  }

  func run(_ report: Report) throws {
    let mixes = mixes
    if mixes.isEmpty { return }
    let zipfian = ZipfianNumbers(count: rows)
    let stores = try (Peer.mixed + [.models]).map { peer in
      let place = folder.appending(path: peer.contender.rawValue)
      return (peer, try MixStore(peer, place, durability, rows: rows))
    }
    defer { for (_, store) in stores { try? store.close() } }
    for mix in mixes {
      for count in threads {
        let entrants = stores.map { peer, store in
          Entrant(
            mix.workload,
            peer.contender,
            settings: "\(peer.settings(durability)), \(rows) rows of 172 bytes",
            comparedWith: count == threads[0]
              ? nil : .init(mix.workload, peer.contender, threads: threads[0]),
            threads: count
          ) {
            try store.time(mix, zipfian, threads: count, seconds: seconds)
          }
        }
        let rounds = plan.choose(quick: 1, full: 3)
        report.add(try RoundRobin(rounds: rounds, warmUp: .none, entrants).run())
      }
    }
  }
}
