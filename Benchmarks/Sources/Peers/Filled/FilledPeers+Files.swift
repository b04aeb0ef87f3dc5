import Harness
import PeerStores
import Workloads

extension FilledPeers {
  /// The sizes of closed stores on disk.
  func sizes(_ workload: Workload, _ stores: [FilledPeer]) throws -> [Standing] {
    for filled in stores { try filled.close() }
    return try RoundRobin(
      rounds: 1,
      stores.map { filled in
        Entrant(
          workload,
          filled.contender,
          settings: settings(filled),
          comparedWith: filled.reference(at: workload)
        ) {
          let bytes = try allocatedBytes(in: filled.folder)
          return Sample([.bytesPerRow: Double(bytes) / Double(rows)])
        }
      }
    ).run()
  }

  /// The same when a quarter of the rows has been updated, each row by chance, a hundred a commit.
  ///
  /// A contender that is slow at that does not take part: it would take minutes.
  func sizesAfterUpdates() throws -> [Standing] {
    let updated = stores.filter { $0.peer.pace == 1 }
    for filled in updated {
      let store = try filled.opened()
      var random = RandomKeys(count: rows, seed: 9)
      for _ in 0..<rows / 4 / 1000 {
        let keys = random.next(1000, distinctWithin: 100)
        try store.prepare(keys[...])
        for first in stride(from: 0, to: keys.count, by: 100) {
          try store.raiseRatings(keys[first..<first + 100])
        }
      }
    }
    return try sizes(.sizeUpdated, updated)
  }

  /// The same when every contender has used its means of being small, and the duration of that.
  func compactions() throws -> [Standing] {
    var compacted: [(filled: FilledPeer, sample: Sample)] = []
    for filled in stores {
      var isOffered = false
      let store = try filled.opened()
      let sample = try timeMilliseconds { isOffered = try store.compact() }
      try filled.close()
      if isOffered { compacted.append((filled, sample)) }
    }
    let entrants = compacted.map { filled, sample in
      Entrant(
        .sizeCompacted,
        filled.contender,
        settings: settings(filled),
        comparedWith: filled.reference(at: .sizeCompacted)
      ) {
        var sample = sample
        let bytes = try allocatedBytes(in: filled.folder)
        sample.figures[.bytesPerRow] = Double(bytes) / Double(rows)
        return sample
      }
    }
    return try RoundRobin(rounds: 1, warmUp: .none, entrants).run()
  }

  /// From nothing to the first row read, closed before.
  func openings() throws -> [Standing] {
    try RoundRobin(
      rounds: plan.choose(quick: 3, full: 7),
      stores.map { filled in
        Entrant(
          .openClean,
          filled.contender,
          settings: settings(filled),
          comparedWith: filled.reference(at: .openClean)
        ) {
          try filled.close()
          return try timeMilliseconds { _ = try filled.opened().read(1) }
        }
      }
    ).run()
  }

  func openingsAfterKill() throws -> [Standing] {
    for filled in stores { try filled.close() }
    return try OpeningAfterKill(plan: plan, rows: rows)
      .measure(stores.map { ($0.peer, $0.folder) }, folder)
  }
}
