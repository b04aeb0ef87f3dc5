import Harness
import PeerStores
import Workloads

extension FilledPeers {
  /// One reader, alone and while a thread of its own updates without pause, a hundred rows a commit.
  func readsBesideWriter() throws -> [Standing] {
    var random = RandomKeys(count: rows, seed: 5)
    let all = random.next(20_000)
    let entrants = try stores.flatMap { filled in
      let store = try filled.opened()
      let keys = all.prefix(all.count / filled.peer.pace)
      return [Workload.readAlone, .readBesideWriter].map { workload in
        Entrant(
          workload,
          filled.contender,
          settings: settings(filled),
          comparedWith: workload == .readAlone ? nil : .init(.readAlone, filled.contender)
        ) {
          try store.prepare(keys)
          let writer = workload == .readAlone ? nil : try self.writer(beside: store)
          let begin = monotonicNanoseconds()
          var sample = try timeEach(keys) { _ = try store.read($0) }
          let seconds = Double(monotonicNanoseconds() - begin) / 1e9
          sample.figures[.rowsPerSecond] = Double(keys.count) / seconds
          if let writer {
            sample.figures[.writerRowsPerSecond] = Double(try writer.stop() * 100) / seconds
          }
          return sample
        }
      }
    }
    return try RoundRobin(rounds: plan.choose(quick: 3, full: 15), entrants).run()
  }

  private func writer(beside store: any TripStore) throws -> Repetition {
    // Made on this thread, used on the writer's alone.
    nonisolated(unsafe) let handle = try store.makeHandle()
    let rows = rows
    return Repetition {
      var random = RandomKeys(count: rows, seed: 6)
      let keys = random.next(5_000, distinctWithin: 100)
      try handle.prepare(keys[...])
      var first = 0
      return {
        try handle.raiseRatings(keys[first..<first + 100])
        first = (first + 100) % keys.count
      }
    }
  }
}
