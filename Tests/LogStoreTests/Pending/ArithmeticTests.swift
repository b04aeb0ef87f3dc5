// swift-format-ignore-file: NeverForceUnwrap
// The forced unwraps below are part of what is tested.

import Foundation
import LogStore
import SwiftData
import Testing

/// A predicate whose code traps for some dials, and what it answers for those it does not trap for.
struct Trapping: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let predicate: Predicate<Dial>
  let answer: @Sendable (Dial) -> Bool

  init(
    _ name: String,
    _ predicate: Predicate<Dial>,
    _ answer: @escaping @Sendable (Dial) -> Bool
  ) {
    testDescription = name
    self.predicate = predicate
    self.answer = answer
  }

  static let all = [
    Trapping("division by zero", #Predicate { 10 / $0.value > 0 }) {
      $0.value != 0 && 10 / $0.value > 0
    },
    Trapping("remainder of a division by zero", #Predicate { 10 % $0.value == 0 }) {
      $0.value != 0 && 10 % $0.value == 0
    },
    Trapping("sum beyond the greatest integer", #Predicate { $0.value + 1 > 0 }) {
      $0.value != .max && $0.value + 1 > 0
    },
    Trapping("difference below the least integer", #Predicate { $0.value - 1 < 0 }) {
      $0.value != .min && $0.value - 1 < 0
    },
    Trapping("product beyond the greatest integer", #Predicate { $0.value * 3 != 1 }) {
      !$0.value.multipliedReportingOverflow(by: 3).overflow && $0.value * 3 != 1
    },
    Trapping("least integer divided by minus one", #Predicate { $0.value / -1 != 7 }) {
      $0.value != .min && $0.value / -1 != 7
    },
    Trapping("least integer negated", #Predicate { -$0.value <= 0 }) {
      $0.value != .min && -$0.value <= 0
    },
    Trapping("sum beyond a small integer", #Predicate { $0.small + 1 != 0 }) {
      $0.small != .max && $0.small + 1 != 0
    },
    Trapping("least small integer divided by minus one", #Predicate { $0.small / -1 != 7 }) {
      $0.small != .min && $0.small / -1 != 7
    },
    Trapping("remainder of that division", #Predicate { $0.small % -1 == 0 }) {
      $0.small != .min && $0.small % -1 == 0
    },
    Trapping("difference below zero without a sign", #Predicate { $0.count - 1 < 100 }) {
      $0.count != 0 && $0.count - 1 < 100
    },
    Trapping("forced unwrap", #Predicate { $0.note! == "a" }) { $0.note == "a" },
    Trapping("failure beside what holds", #Predicate { 10 / $0.value > 0 || $0.value == 0 }) {
      $0.value != 0 && 10 / $0.value > 0
    },
    Trapping("failure behind what holds", #Predicate { $0.value == 0 || 10 / $0.value > 0 }) {
      $0.value == 0 || 10 / $0.value > 0
    },
    Trapping("failure under a negation", #Predicate { !(10 / $0.value > 0) }) {
      $0.value != 0 && 10 / $0.value <= 0
    },
    Trapping("position outside an array", #Predicate { $0.samples[1] == 2 }) {
      $0.samples.count > 1 && $0.samples[1] == 2
    },
    Trapping("division where objects are needed", #Predicate { $0.isCurious && 10 / $0.value > 0 })
    {
      $0.value != 0 && 10 / $0.value > 0
    },
    Trapping("overflow where objects are needed", #Predicate { $0.isCurious && $0.small * 2 < 9 }) {
      !$0.small.multipliedReportingOverflow(by: 2).overflow && $0.small * 2 < 9
    },
    Trapping("negation where objects are needed", #Predicate { $0.isCurious && -$0.value <= 0 }) {
      $0.value != .min && -$0.value <= 0
    },
  ]
}

@Suite struct `A predicate whose code would trap` {
  /// What there is to be changed in a context before it is asked.
  enum Unsaved: CaseIterable { case nothing, oneInsertion, oneChange, everything }

  private static let values = [0, 1, -1, 3, 10, .max, .min, .max / 3 + 1]

  private func dials() -> [Dial] {
    Self.values.enumerated().map { index, value in
      Dial(
        value,
        small: [.max, .min, 0, 1, 64][index % 5],
        count: [0, 1, .max][index % 3],
        note: index % 2 == 0 ? "a" : nil,
        samples: Array(0..<index)
      )
    }
  }

  @Test(arguments: Trapping.all, Unsaved.allCases)
  func `does not match there, saved or not, and does elsewhere`(
    _ question: Trapping,
    _ unsaved: Unsaved
  ) throws {
    let container = try ModelContainer(
      for: Dial.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    for dial in dials() { context.insert(dial) }
    if unsaved != .everything { try context.save() }
    switch unsaved {
    case .nothing, .everything: break
    case .oneInsertion: context.insert(Dial(0, note: "b"))
    case .oneChange: try context.fetch(FetchDescriptor<Dial>())[2].note = "a"
    }
    let all = try context.fetch(FetchDescriptor<Dial>())
    let expected = all.filter(question.answer)
    let descriptor = FetchDescriptor(predicate: question.predicate)
    #expect(try context.fetch(descriptor) == expected)
    #expect(try context.fetchCount(descriptor) == expected.count)
  }
}
