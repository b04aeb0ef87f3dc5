import Foundation
import Harness
import PeerStores
import Workloads

/// From what a killed writer leaves behind to the first row.
struct OpeningAfterKill {
  let plan: Plan
  let rows: Int

  /// Kills a writer of each closed store, and opens copies of the remains.
  ///
  /// - Parameters:
  ///   - stores: Peers and their closed stores, which are of no use afterwards.
  ///   - folder: The folder for copies.
  /// - Returns: The standings.
  /// - Throws: What a store throws.
  func measure(_ stores: [(peer: Peer, folder: URL)], _ folder: URL) throws -> [Standing] {
    for (peer, store) in stores { try Child.writeAndKill(peer, rows: rows, in: store) }
    let entrants = stores.map { peer, store in
      Entrant(
        .openCrash,
        peer.contender,
        settings: """
          \(peer.settings(.relaxed)), writer killed after \(UnfinishedWriter.addedRows) rows \
          beyond \(rows)
          """,
        comparedWith: peer.contender == .engine ? nil : .init(.openCrash, .engine)
      ) {
        let victim = folder.appending(path: "victim")
        try FileManager.default.copyItem(at: store, to: victim)
        defer { try? FileManager.default.removeItem(at: victim) }
        // A copy leaves all its pages to be written back, where a killed writer leaves the last few.
        sync()
        var opened: (any TripStore)?
        var found = 0
        let sample = try timeMilliseconds {
          let store = try peer.open(victim, .relaxed)
          opened = store
          found = try store.read(UInt64(rows + UnfinishedWriter.addedRows))
        }
        try opened?.close()
        // Nothing the writer was told is committed may be missing.
        try WrongAnswer.check(found, is: UnfinishedWriter.lastChecksum, peer.contender)
        return sample
      }
    }
    return try RoundRobin(rounds: plan.choose(quick: 3, full: 7), entrants).run()
  }
}
