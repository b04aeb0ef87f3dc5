import Foundation
import Harness

/// The first question that needs an index: after the rows were saved, and after a store was opened.
///
/// Nothing warms up, since users do not either.
struct FirstUses {
  /// The opening of a store, with its particular settings.
  typealias Opening = (
    contender: Contender, settings: String, open: () throws -> any ServiceStore
  )

  let plan: Plan
  let rows: Int
  /// Number of openings of stores.
  static let startCount = 3

  /// Asks a store for the first time, which was filled by this process.
  ///
  /// - Parameter stores: Stores that were asked nothing yet.
  /// - Returns: The duration of each first answer.
  /// - Throws: What a store throws, and ``WrongAnswer``.
  func afterFilling(_ stores: [any ServiceStore]) throws -> [Standing] {
    let entrants = stores.map { store in
      Entrant(
        .indexFirstUse,
        store.contender,
        settings: store.settings + "; a text of three values",
        comparedWith: reference(store.contender, .indexFirstUse)
      ) { try ask(store) }
    }
    return try RoundRobin(rounds: 1, warmUp: .none, entrants).run()
  }

  /// Opens stores, and asks each for the first time.
  ///
  /// - Parameters:
  ///   - workload: The workload's name in results.
  ///   - openings: Open the stores; each is closed again after its answer.
  /// - Returns: The duration of each opening with its first answer.
  /// - Throws: What a store throws, and ``WrongAnswer``.
  func afterStart(
    _ workload: Workload,
    _ openings: [Opening]
  ) throws -> [Standing] {
    let entrants = openings.map { opening in
      Entrant(
        workload,
        opening.contender,
        settings: opening.settings + "; opened, and asked for one page by an index",
        comparedWith: reference(opening.contender, workload)
      ) {
        var sum = 0
        let number = rows / 2
        let sample = try timeMilliseconds {
          sum = try opening.open().nextPage(from: ReadingRecord(number: number).at, limit: 50)
        }
        let expected = (number..<number + 50).reduce(0) {
          $0 + ReadingRecord(number: $1).checksum
        }
        try WrongAnswer.check(sum, is: expected, opening.contender)
        return sample
      }
    }
    return try RoundRobin(rounds: Self.startCount, warmUp: .none, entrants).run()
  }

  private func ask(_ store: any ServiceStore) throws -> Sample {
    var found = 0
    let sample = try timeMilliseconds {
      found = try store.some(inState: ReadingRecord.states[1], limit: 50)
    }
    try WrongAnswer.check(found, is: 50, store.contender)
    return sample
  }

  private func reference(_ contender: Contender, _ workload: Workload) -> Entrant.Key? {
    contender == .models ? .init(workload, .sqlite) : nil
  }
}
