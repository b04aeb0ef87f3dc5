import Foundation
import Harness

/// Questions across relationships, and changes of many related rows at once.
struct RelationQuestions {
  let plan: Plan
  let cities: Int
  let visits: Int

  func run(_ report: Report, log: [any RelationStore], packed: any RelationStore) throws {
    let peers = log.filter { $0.contender != .models }
    report.add(try semiJoin(.semiJoin, log))
    report.add(try semiJoin(.packedSemiJoin, [packed] + peers))
    report.add(try memberJoin(.memberJoin, log))
    report.add(try memberJoin(.packedMemberJoin, [packed] + peers))
    report.add(try traverse(.traverse100000, log))
    report.add(try traverse(.packedTraverse100000, [packed] + peers))
    for count in counts {
      for change in changes { report.add(try compare(change, count, log)) }
    }
  }

  /// A change of many related rows.
  private struct Change {
    let workload: Workload
    /// Makes the rows anew for each round.
    let prepare: (any RelationStore, _ count: Int) throws -> Void
    let make: (any RelationStore) throws -> Void
    /// Returns the memory that the change takes before it is saved, where it is made of objects.
    let unsavedBytes: (ModelRelations) throws -> Int
  }

  private var changes: [Change] {
    [
      Change(
        workload: .moveChildren,
        prepare: { try $0.makeCrowdedCity($1) },
        make: { try $0.moveVisits() },
        unsavedBytes: { try $0.unsavedBytesOfMovingVisits() }
      ),
      Change(
        workload: .nullify,
        prepare: { try $0.makeCrowdedCity($1) },
        make: { try $0.deleteCrowdedCity() },
        unsavedBytes: { try $0.unsavedBytesOfDeletingCity() }
      ),
      Change(
        workload: .cascade,
        prepare: { try $0.makeJournal($1) },
        make: { try $0.deleteJournal() },
        unsavedBytes: { try $0.unsavedBytesOfDeletingJournal() }
      ),
      Change(
        workload: .nullifyEach,
        prepare: { try $0.makeQuietCities($1) },
        make: { try $0.deleteQuietCities() },
        unsavedBytes: { try $0.unsavedBytesOfDeletingQuietCities() }
      ),
      Change(
        workload: .cascadeEach,
        prepare: { try $0.makeShortJournals($1) },
        make: { try $0.deleteShortJournals() },
        unsavedBytes: { try $0.unsavedBytesOfDeletingShortJournals() }
      ),
    ]
  }

  private var counts: [Int] {
    plan.choose(quick: [1000, 10_000], full: [1000, 10_000, 100_000])
  }

  private func semiJoin(
    _ workload: Workload,
    _ stores: [any RelationStore]
  ) throws -> [Standing] {
    let entrants = stores.map { store in
      var next = 0
      return entrant(workload, store) {
        let numbers = (0..<50).map { (next + $0 * 37) % cities }
        next += 1
        return try timeEach(numbers) { number in
          let count = try store.countVisits(ofCityNamed: "city \(number)")
          try WrongAnswer.check(count, is: visits / cities, store.contender)
        }
      }
    }
    return try RoundRobin(rounds: plan.choose(quick: 5, full: 15), entrants).run()
  }

  /// A fifth of the visits have a rating, and all of a city's have the same.
  private func memberJoin(
    _ workload: Workload,
    _ stores: [any RelationStore]
  ) throws -> [Standing] {
    let entrants = stores.map { store in
      var rating = 0
      return entrant(workload, store) {
        rating = (rating + 1) % 5
        var found = 0
        let sample = try timeMilliseconds { found = try store.countCities(ratedAt: rating) }
        try WrongAnswer.check(found, is: cities / 5, store.contender)
        return sample
      }
    }
    return try RoundRobin(rounds: plan.choose(quick: 3, full: 11), entrants).run()
  }

  private func traverse(
    _ workload: Workload,
    _ stores: [any RelationStore]
  ) throws -> [Standing] {
    let count = min(100_000, visits)
    let expected = (0..<count).reduce(0) { $0 + "city \($1 % cities)".utf8.count }
    let entrants = stores.map { store in
      entrant(workload, store) {
        var found = 0
        let sample = try timeMilliseconds { found = try store.traverse(count) }
        try WrongAnswer.check(found, is: expected, store.contender)
        return sample
      }
    }
    return try RoundRobin(rounds: plan.choose(quick: 3, full: 11), entrants).run()
  }

  /// Changes as many rows each round; what prepares them is not timed, and nothing warms up.
  private func compare(
    _ change: Change,
    _ count: Int,
    _ stores: [any RelationStore]
  ) throws -> [Standing] {
    let rows = count == counts.last ? nil : count
    let entrants = stores.map { store in
      Entrant(
        change.workload,
        store.contender,
        settings: store.settings,
        comparedWith: store.contender == .models
          ? .init(change.workload, .sqlite, rows: rows) : nil,
        targets: [
          Target(.milliseconds, .share, .atMost(2)), Target(.bytesPerRow, .atMost(1024)),
        ],
        rows: rows,
        afterwards: (store as? ModelRelations).map { models in
          {
            try change.prepare(models, count)
            return Sample([
              .bytesPerRow: Double(try change.unsavedBytes(models)) / Double(count)
            ])
          }
        }
      ) {
        try change.prepare(store, count)
        return try timeMilliseconds { try change.make(store) }
      }
    }
    let rounds = plan.choose(quick: 3, full: 7)
    return try RoundRobin(rounds: rounds, warmUp: .none, entrants).run()
  }

  private func entrant(
    _ workload: Workload,
    _ store: any RelationStore,
    _ run: @escaping () throws -> Sample
  ) -> Entrant {
    Entrant(
      workload,
      store.contender,
      settings: store.settings,
      comparedWith: store.contender == .models ? .init(workload, .sqlite) : nil,
      run: run
    )
  }
}
