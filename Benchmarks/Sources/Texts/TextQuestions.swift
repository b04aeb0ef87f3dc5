import Foundation
import Harness

/// Words and parts of words, looked for in many short texts and in some long ones.
struct TextQuestions {
  let plan: Plan
  let noteCount: Int
  let documentCount: Int
  let texts: Texts

  func run(_ report: Report, _ stores: [any TextStore]) throws {
    report.add(try first(.textFirstSearch, stores) { try $0.searchNotes($1) })
    report.add(try first(.documentFirstSearch, stores) { try $0.searchDocuments($1) })
    report.add(
      try search(.textWord, stores, expecting: 1) { [Texts.rareWord($0 * 100 % noteCount)] }
    )
    // Words that some thousandths of the texts have.
    report.add(
      try search(.textTwoWords, stores, expecting: nil) {
        [texts.word(200 + $0), texts.word(300 + $0)]
      }
    )
    report.add(
      try contains(.textContains, stores, noteCount) { try $0.countNotes(containing: $1) }
    )
    report.add(
      try contains(.documentContains, stores, documentCount) {
        try $0.countDocuments(containing: $1)
      }
    )
    report.add(try insert(stores))
  }

  private func first(
    _ workload: Workload,
    _ stores: [any TextStore],
    _ search: @escaping (any TextStore, [String]) throws -> Int
  ) throws -> [Standing] {
    let entrants = stores.map { store in
      entrant(workload, store) {
        try timeMilliseconds {
          let count = try search(store, [Texts.rareWord(0)])
          try WrongAnswer.check(count, is: 1, store.contender)
        }
      }
    }
    return try RoundRobin(rounds: 1, warmUp: .none, entrants).run()
  }

  private func search(
    _ workload: Workload,
    _ stores: [any TextStore],
    expecting expected: Int?,
    _ words: @escaping (Int) -> [String]
  ) throws -> [Standing] {
    let entrants = stores.map { store in
      var next = 0
      return entrant(workload, store) {
        let numbers = (0..<20).map { next + $0 }
        next += 20
        return try timeEach(numbers) { number in
          let count = try store.searchNotes(words(number))
          if let expected { try WrongAnswer.check(count, is: expected, store.contender) }
        }
      }
    }
    return try RoundRobin(rounds: plan.choose(quick: 5, full: 15), entrants).run()
  }

  private func contains(
    _ workload: Workload,
    _ stores: [any TextStore],
    _ textCount: Int,
    _ count: @escaping (any TextStore, String) throws -> Int
  ) throws -> [Standing] {
    let entrants = stores.map { store in
      var next = 0
      return entrant(workload, store) {
        next += 100
        // The middle of a word, so that it is in the middle of one, too.
        let part = Texts.rareWord(next % textCount).dropFirst(2).dropLast().uppercased()
        return try timeEach([part]) { part in
          let found = try count(store, part)
          try WrongAnswer.check(found, is: 1, store.contender)
        }
      }
    }
    return try RoundRobin(rounds: plan.choose(quick: 7, full: 15), entrants).run()
  }

  /// 10,000 more notes; what the words of them cost shows in the search behind it, which is timed as well.
  private func insert(_ stores: [any TextStore]) throws -> [Standing] {
    var texts = texts
    let added = texts.make(10_000, wordCount: 12)
    let entrants = stores.map { store in
      entrant(.textInsert, store) {
        try timeMilliseconds {
          try store.addNotes(added)
          _ = try store.searchNotes([Texts.rareWord(0)])
        }
      }
    }
    return try RoundRobin(rounds: plan.choose(quick: 3, full: 7), entrants).run()
  }

  private func entrant(
    _ workload: Workload,
    _ store: any TextStore,
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
