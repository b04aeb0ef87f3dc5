import Foundation
import Harness
import PeerStores
import Workloads

/// From closed stores, and from the remains of killed writers, to the first row.
struct Openings {
  private let plan: Plan
  private let peers: [Peer]
  private let folder: URL
  private let rows: Int
  private let records = TripGenerator().records(0..<10_000)

  init(_ plan: Plan, _ peers: [Peer], _ folder: URL) {
    self.plan = plan
    self.peers = peers
    self.folder = folder
    rows = plan.choose(quick: 100_000, full: 1_000_000)
  }

  func run(_ report: Report) throws {
    for peer in peers {
      let store = try peer.open(place(peer), .relaxed)
      let rotated = Array(records[1...]) + [records[0]]
      for first in stride(from: 1, to: UInt64(rows), by: rotated.count) {
        try store.insert(rotated[...], firstKey: first)
      }
      try store.close()
    }
    report.add(try clean())
    for added in KilledWriter.tails { report.add(try crashed(added)) }
  }

  private func place(_ peer: Peer) -> URL { folder.appending(path: peer.contender.rawValue) }

  private func clean() throws -> [Standing] {
    let entrants = peers.map { peer in
      Entrant(
        .openClean,
        peer.contender,
        settings: "\(peer.settings(.relaxed)); closed before",
        rows: rows
      ) {
        try open(peer, place(peer), key: 1)
      }
    }
    return try RoundRobin(rounds: plan.choose(quick: 9, full: 25), entrants).run()
  }

  /// Opens copies of the remains of a writer that is killed after a number of rows.
  private func crashed(_ added: Int) throws -> [Standing] {
    let entrants = try peers.map { peer in
      let remains = folder.appending(path: "\(peer.contender.rawValue)-\(added)")
      try FileManager.default.copyItem(at: place(peer), to: remains)
      try KilledWriter.run(peer, rows: rows, added: added, in: remains)
      let size = try allocatedBytes(in: remains) - allocatedBytes(in: place(peer))
      return Entrant(
        .openCrash,
        peer.contender,
        settings: """
          \(peer.settings(.relaxed)); writer killed after \(added) rows (files \(size >> 20) MiB \
          larger) beyond \(rows)
          """,
        rows: added
      ) {
        let victim = folder.appending(path: "victim")
        try FileManager.default.copyItem(at: remains, to: victim)
        defer { try? FileManager.default.removeItem(at: victim) }
        // A copy leaves pages to be written back that a killed writer does not leave.
        sync()
        return try open(peer, victim, key: UInt64(rows + added))
      }
    }
    defer {
      for peer in peers {
        let remains = folder.appending(path: "\(peer.contender.rawValue)-\(added)")
        try? FileManager.default.removeItem(at: remains)
      }
    }
    return try RoundRobin(rounds: plan.choose(quick: 3, full: 9), entrants).run()
  }

  /// Opens a store and reads a row; closes it, which is not timed.
  private func open(_ peer: Peer, _ place: URL, key: UInt64) throws -> Sample {
    var opened: (any TripStore)?
    var found = 0
    let sample = try timeMilliseconds {
      let store = try peer.open(place, .relaxed)
      opened = store
      try store.prepare([key])
      found = try store.read(key)
    }
    try opened?.close()
    let expected = records[Int(key % UInt64(records.count))].checksum
    try WrongAnswer.check(found, is: expected, peer.contender)
    return sample
  }
}
