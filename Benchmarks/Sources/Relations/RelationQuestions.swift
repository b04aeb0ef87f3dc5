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
    report.add(try change(.moveChildren, log, before: { _ in }, { try $0.moveVisits() }))
    report.add(
      try change(
        .nullify,
        log,
        before: { try $0.makeCrowdedCity(children) },
        { try $0.deleteCrowdedCity() }
      )
    )
    report.add(
      try change(
        .cascade,
        log,
        before: { try $0.makeJournal(children) },
        { try $0.deleteJournal() }
      )
    )
  }

  private var children: Int { plan.choose(quick: 10_000, full: 100_000) }

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
  private func change(
    _ workload: Workload,
    _ stores: [any RelationStore],
    before: @escaping (any RelationStore) throws -> Void,
    _ body: @escaping (any RelationStore) throws -> Void
  ) throws -> [Standing] {
    if workload == .moveChildren { for store in stores { try store.makeCrowdedCity(children) } }
    let entrants = stores.map { store in
      entrant(workload, store) {
        try before(store)
        return try timeMilliseconds { try body(store) }
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
