import Foundation
import Harness
import PeerStores
import Workloads

/// A million trips, for a quick look fewer, in every peer's store: reads, scans, updates, openings, and what
/// is left on disk.
struct FilledPeers {
  let plan: Plan
  let records = TripGenerator().records(0..<10_000)
  let folder: URL
  let stores: [FilledPeer]
  let rows: Int

  /// Makes the stores and fills them, 10,000 rows a commit.
  ///
  /// - Parameters:
  ///   - plan: Says how much to measure.
  ///   - peers: The peers whose stores they are.
  ///   - folder: Their folder.
  /// - Throws: What a store throws.
  init(_ plan: Plan, _ peers: [Peer], _ folder: URL) throws {
    self.plan = plan
    rows = plan.choose(quick: 100_000, full: 1_000_000)
    self.folder = folder
    stores = try peers.map { try FilledPeer($0, folder.appending(path: $0.contender.rawValue)) }
    // Keys begin at 1, so that the first record of each ten thousand is the pool's second.
    let rotated = Array(records[1...]) + [records[0]]
    for filled in stores {
      for first in stride(from: 1, to: UInt64(rows), by: rotated.count) {
        try filled.opened().insert(rotated[...], firstKey: first)
      }
    }
  }

  func run(_ report: Report) throws {
    report.add(try sizes(.size, stores))
    report.add(try reads())
    report.add(try scans())
    // From here on, ratings are no longer those of the records.
    report.add(try updates(.update1, keysPerCommit: 1, rows: 5_000))
    report.add(try updates(.update100, keysPerCommit: 100, rows: 10_000))
    report.add(try readsBesideWriter())
    report.add(try openings())
    report.add(try sizesAfterUpdates())
    report.add(try compactions())
    report.add(try openingsAfterKill())
  }

  func settings(_ filled: FilledPeer) -> String {
    "\(filled.peer.settings(.relaxed)); \(rows) rows"
  }

  func record(_ key: UInt64) -> TripRecord { records[Int(key % 10_000)] }

  private func reads() throws -> [Standing] {
    var random = RandomKeys(count: rows, seed: 5)
    let all = random.next(20_000)
    return try RoundRobin(
      rounds: plan.choose(quick: 5, full: 25),
      stores.map { filled in
        let store = try filled.opened()
        let keys = all.prefix(all.count / filled.peer.pace)
        let expected = keys.reduce(0) { $0 + record($1).checksum }
        return Entrant(
          .pointRead,
          filled.contender,
          settings: settings(filled),
          comparedWith: filled.reference(at: .pointRead)
        ) {
          try store.prepare(keys)
          var found = 0
          var sample = try timeRows(keys.count) {
            found = try keys.reduce(0) { try $0 + store.read($1) }
          }
          try WrongAnswer.check(found, is: expected, filled.contender)
          // Once more, a clock around each: reading it would slow the others down.
          let few = keys.prefix(4_000)
          sample.latencies = try timeEach(few) { _ = try store.read($0) }.latencies
          return sample
        }
      }
    ).run()
  }

  private func scans() throws -> [Standing] {
    let wanted = records[17].destination
    let matches = records.count { $0.destination == wanted && $0.rating > 3 }
    return try RoundRobin(
      rounds: plan.choose(quick: 3, full: 11),
      stores.map { filled in
        let store = try filled.opened()
        return Entrant(
          .scan,
          filled.contender,
          settings: settings(filled),
          comparedWith: filled.reference(at: .scan),
          rows: rows,
          expected: matches * rows / records.count
        ) {
          try store.count(destination: wanted, ratingAbove: 3)
        }
      }
    ).run()
  }

  private func updates(
    _ workload: Workload,
    keysPerCommit: Int,
    rows all: Int
  ) throws -> [Standing] {
    try RoundRobin(
      rounds: plan.choose(quick: 5, full: 25),
      stores.map { filled in
        let store = try filled.opened()
        var random = RandomKeys(count: rows, seed: 4)
        let count = all / filled.peer.pace
        return Entrant(
          workload,
          filled.contender,
          settings: settings(filled),
          comparedWith: filled.reference(at: workload)
        ) {
          let keys = random.next(count, distinctWithin: keysPerCommit)
          try store.prepare(keys[...])
          let before = writtenBytes()
          var sample = try timeCommits(count / keysPerCommit, rowsPerCommit: keysPerCommit) {
            let first = $0 * keysPerCommit
            try store.raiseRatings(keys[first..<first + keysPerCommit])
          }
          sample.figures[.bytesPerRow] = Double(writtenBytes() - before) / Double(count)
          return sample
        }
      }
    ).run()
  }
}
