import Foundation
import Harness
import PeerStores
import Workloads

/// A million trips, for a quick look fewer, in every peer's store: reads, scans, updates, and what is left on disk.
struct FilledPeers {
  private let plan: Plan
  private let records = TripGenerator().records(0..<10_000)
  private let folder: URL
  private let stores: [Filled]

  private let rows: Int

  /// A peer and its store.
  private final class Filled {
    let peer: Peer
    let folder: URL
    var store: (any TripStore)?

    init(_ peer: Peer, _ folder: URL) throws {
      self.peer = peer
      self.folder = folder
      store = try peer.open(folder, .relaxed)
    }

    /// The store, which is open but while it is being opened again.
    func opened() throws -> any TripStore {
      if let store { return store }
      let opened = try peer.open(folder, .relaxed)
      store = opened
      return opened
    }

    func close() throws {
      try store?.close()
      store = nil
    }
  }

  /// Makes the stores and fills them, 10,000 rows a commit.
  ///
  /// - Parameters:
  ///   - plan: Says how much to measure.
  ///   - peers: Whose stores.
  ///   - folder: Where they stand.
  /// - Throws: What a store throws.
  init(_ plan: Plan, _ peers: [Peer], _ folder: URL) throws {
    self.plan = plan
    rows = plan.choose(quick: 200_000, full: 1_000_000)
    self.folder = folder
    stores = try peers.map { try Filled($0, folder.appending(path: $0.contender.rawValue)) }
    // Keys begin at 1, so that the first record of each ten thousand is the pool's second.
    let rotated = Array(records[1...]) + [records[0]]
    for filled in stores {
      for first in stride(from: 1, to: UInt64(rows), by: rotated.count) {
        try filled.opened().insert(rotated[...], firstKey: first)
      }
    }
  }

  func run(_ report: Report) throws {
    report.add(try size())
    report.add(try reads())
    report.add(try scans())
    report.add(try updates(.update1, keysPerCommit: 1, rows: 5_000))
    report.add(try updates(.update100, keysPerCommit: 100, rows: 10_000))
    report.add(try openings())
    report.add(try openingsAfterKill())
  }

  private func settings(_ filled: Filled) -> String {
    "\(filled.peer.settings(.relaxed)); \(rows) rows"
  }

  private func record(_ key: UInt64) -> TripRecord { records[Int(key % 10_000)] }

  private func reads() throws -> [Standing] {
    var random = RandomKeys(count: rows, seed: 5)
    let keys = random.next(20_000)
    let expected = keys.reduce(0) { $0 + record($1).checksum }
    return try RoundRobin(
      rounds: plan.choose(quick: 5, full: 25),
      stores.map { filled in
        let store = try filled.opened()
        return Entrant(
          .pointRead,
          filled.peer.contender,
          settings: settings(filled),
          comparedWith: filled.peer.contender == .engine ? nil : .init(.pointRead, .engine)
        ) {
          var found = 0
          var sample = try timeRows(keys.count) {
            found = try keys.reduce(0) { try $0 + store.read($1) }
          }
          try WrongAnswer.check(found, is: expected, filled.peer.contender)
          // Once more, a clock around each: reading it would slow the others down.
          sample.latencies = try timeEach(keys.prefix(4_000)) { _ = try store.read($0) }.latencies
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
        let expected = matches * rows / records.count
        return entrant(filled, .scan, rows: rows, expected: expected) {
          try store.count(destination: wanted, ratingAbove: 3)
        }
      }
    ).run()
  }

  private func entrant(
    _ filled: Filled,
    _ workload: Workload,
    rows: Int,
    expected: Int,
    _ answer: @escaping () throws -> Int
  ) -> Entrant {
    Entrant(
      workload,
      filled.peer.contender,
      settings: settings(filled),
      comparedWith: filled.peer.contender == .engine ? nil : .init(workload, .engine),
      rows: rows,
      expected: expected,
      answer: answer
    )
  }

  private func updates(
    _ workload: Workload,
    keysPerCommit: Int,
    rows: Int
  ) throws -> [Standing] {
    try RoundRobin(
      rounds: plan.choose(quick: 5, full: 25),
      stores.map { filled in
        let store = try filled.opened()
        var random = RandomKeys(count: self.rows, seed: 4)
        return Entrant(
          workload,
          filled.peer.contender,
          settings: settings(filled),
          comparedWith: filled.peer.contender == .engine ? nil : .init(workload, .engine)
        ) {
          let keys = random.next(rows, distinctWithin: keysPerCommit)
          let before = writtenBytes()
          var sample = try timeRows(rows) {
            for first in stride(from: 0, to: rows, by: keysPerCommit) {
              try store.raiseRatings(keys[first..<first + keysPerCommit])
            }
          }
          sample.figures[.bytesPerRow] = Double(writtenBytes() - before) / Double(rows)
          return sample
        }
      }
    ).run()
  }

  private func openings() throws -> [Standing] {
    try RoundRobin(
      rounds: plan.choose(quick: 3, full: 7),
      stores.map { filled in
        Entrant(
          .openClean,
          filled.peer.contender,
          settings: settings(filled),
          comparedWith: filled.peer.contender == .engine ? nil : .init(.openClean, .engine)
        ) {
          try filled.close()
          return try timeMilliseconds { _ = try filled.opened().read(1) }
        }
      }
    ).run()
  }

  private func openingsAfterKill() throws -> [Standing] {
    for filled in stores { try filled.close() }
    return try OpeningAfterKill(plan: plan, rows: rows)
      .measure(stores.map { ($0.peer, $0.folder) }, folder)
  }

  private func size() throws -> [Standing] {
    for filled in stores { try filled.close() }
    let standings = try RoundRobin(
      rounds: 1,
      stores.map { filled in
        Entrant(.size, filled.peer.contender, settings: settings(filled)) {
          let bytes = try allocatedBytes(in: filled.folder)
          return Sample([.bytesPerRow: Double(bytes) / Double(rows)])
        }
      }
    ).run()
    return standings
  }
}
