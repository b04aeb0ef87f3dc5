import Foundation
import Harness
import SwiftData
import Workloads

/// The questions that a service asks again and again, each with keys it has not asked for before.
struct ServiceQuestions {
  let plan: Plan
  /// Number of readings that each store holds.
  let rows: Int

  /// A question: asked with a number that was drawn, with the right answer.
  private struct Question {
    let workload: Workload
    let packed: Workload
    /// Number of times that it is asked in a round.
    let count: Int
    let ask: (any ServiceStore, Int) throws -> Int
    let expected: (Int) -> Int
  }

  private static let limit = 50

  func run(_ report: Report, log: [any ServiceStore], packed: any ServiceStore) throws {
    for question in questions {
      let peers = log.filter { $0.contender != .models }
      report.add(try compare(question, question.workload, log))
      report.add(try compare(question, question.packed, [packed] + peers))
    }
  }

  private var questions: [Question] { indexQuestions + otherQuestions }

  /// Pages, windows and counts of an indexed order.
  private var indexQuestions: [Question] {
    let rows = rows
    let record = { (number: Int) in ReadingRecord(number: number) }
    let sum = { (numbers: any Sequence<Int>) in
      numbers.reduce(0) { $0 + ReadingRecord(number: $1).checksum }
    }
    return [
      Question(workload: .nextPage, packed: .packedNextPage, count: 200) { store, number in
        try store.nextPage(from: record(number).at, limit: Self.limit)
      } expected: { number in
        sum(number..<min(number + Self.limit, rows))
      },
      Question(
        workload: .nextPageDescending,
        packed: .packedNextPageDescending,
        count: 200
      ) { store, number in
        try store.previousPage(before: record(number).at, limit: Self.limit)
      } expected: { number in
        sum(max(0, number - Self.limit)..<number)
      },
      Question(
        workload: .newestOfDevice,
        packed: .packedNewestOfDevice,
        count: 200
      ) { store, number in
        let serial = ReadingRecord.serial(number)
        return try store.newest(of: serial, before: record(number).at, limit: Self.limit)
      } expected: { number in
        let devices = ReadingRecord.deviceCount
        return sum(stride(from: number - devices, through: 0, by: -devices).prefix(Self.limit))
      },
      Question(
        workload: .countOfDevice,
        packed: .packedCountOfDevice,
        count: 200
      ) { store, number in
        let reading = record(number)
        return try store.count(of: reading.serial, from: reading.at, to: reading.at + 36_000)
      } expected: { number in
        (min(number + 36_000, rows) - number + ReadingRecord.deviceCount - 1)
          / ReadingRecord.deviceCount
      },
      Question(workload: .offsetPage, packed: .packedOffsetPage, count: 10) { store, number in
        try store.page(offset: number, limit: Self.limit)
      } expected: { number in
        sum(number..<min(number + Self.limit, rows))
      },
    ]
  }

  /// Rows in their own order, rows by several indexes, and values without objects.
  private var otherQuestions: [Question] {
    let rows = rows
    let record = { (number: Int) in ReadingRecord(number: number) }
    let other = { (number: Int) in number * 7919 % rows }
    return [
      Question(
        workload: .unsortedOffsetPage,
        packed: .packedUnsortedOffsetPage,
        count: 10
      ) { store, number in
        try store.unsortedPage(offset: number, limit: Self.limit)
      } expected: { number in
        (number..<min(number + Self.limit, rows)).reduce(0) { $0 + record($1).checksum }
      },
      Question(
        workload: .alternatives,
        packed: .packedAlternatives,
        count: 200
      ) { store, number in
        let second = record(other(number))
        return try store.readings(at: record(number).at, or: second.serial, at: second.at)
      } expected: { number in
        Set([number, other(number)]).reduce(0) { $0 + record($1).checksum }
      },
      Question(
        workload: .valuesOfDevice,
        packed: .packedValuesOfDevice,
        count: 50
      ) { store, number in
        let reading = record(number)
        return try store.values(of: reading.serial, from: reading.at, to: reading.at + 36_000)
      } expected: { number in
        stride(from: number, to: min(number + 36_000, rows), by: ReadingRecord.deviceCount)
          .reduce(0) { $0 + ReadingRecord.valueSum(record($1).at, record($1).value) }
      },
    ]
  }

  private func compare(
    _ question: Question,
    _ workload: Workload,
    _ stores: [any ServiceStore]
  ) throws -> [Standing] {
    let entrants = stores.map { store in
      // The same seed for all: they are asked the same questions, and each round asks for other keys.
      var random = SplitMix64(seed: 14)
      return Entrant(
        workload,
        store.contender,
        settings: store.settings,
        comparedWith: store.contender == .models ? .init(workload, .sqlite) : nil
      ) {
        let numbers = (0..<question.count).map { _ in random.next(below: rows) }
        var answers: [Int] = []
        answers.reserveCapacity(numbers.count)
        let sample = try timeEach(numbers) { answers.append(try question.ask(store, $0)) }
        for (number, answer) in zip(numbers, answers) {
          try WrongAnswer.check(answer, is: question.expected(number), store.contender)
        }
        return sample
      }
    }
    return try RoundRobin(rounds: plan.choose(quick: 5, full: 25), entrants).run()
  }
}
