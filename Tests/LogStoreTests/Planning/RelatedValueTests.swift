import Foundation
import SwiftData
import Testing

enum ChoreState: String, Codable, CaseIterable { case open, done }
enum ChoreLevel: Int, Codable { case low, high }

@Model final class Chore {
  var title: String
  var state: ChoreState
  var level: ChoreLevel
  var steps: [ChoreStep] = []
  var owner: ChoreOwner?

  init(_ number: Int) {
    title = "chore \(number)"
    state = number % 3 == 0 ? .open : .done
    level = number % 2 == 0 ? .low : .high
  }
}

@Model final class ChoreStep {
  var number: Int
  @Relationship(inverse: \Chore.steps) var chore: Chore?

  init(_ number: Int) { self.number = number }
}

@Model final class ChoreOwner {
  var name: String
  @Relationship(inverse: \Chore.owner) var chores: [Chore]? = []
  var parent: ChoreOwner?

  init(_ name: String) { self.name = name }
}

@Suite struct `A predicate about values at the end of a relationship` {
  private let container: ModelContainer

  init() throws {
    container = try ModelContainer(
      for: Chore.self,
      ChoreStep.self,
      ChoreOwner.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let owners = (0..<4).map { ChoreOwner("owner \($0)") }
    for owner in owners { context.insert(owner) }
    for number in 0..<12 {
      let chore = Chore(number)
      context.insert(chore)
      // The last owner has no chore, and the last chores have no owner.
      if number < 9 { chore.owner = owners[number % 3 == 0 ? 0 : number % 2 + 1] }
      let step = ChoreStep(number)
      context.insert(step)
      if number < 10 { step.chore = chore }
    }
    owners[3].parent = owners[0]
    try context.save()
  }

  private func check<T: PersistentModel>(
    _ predicate: Predicate<T>,
    _ isWanted: (T) -> Bool,
    _ line: Int = #line
  ) throws {
    let context = ModelContext(container)
    let expected = Set(
      try context.fetch(FetchDescriptor<T>()).filter(isWanted).map(\.persistentModelID)
    )
    #expect(!expected.isEmpty, "line \(line)")
    let found = try ModelContext(container).fetch(FetchDescriptor<T>(predicate: predicate))
    #expect(Set(found.map(\.persistentModelID)) == expected, "line \(line)")
    #expect(
      try ModelContext(container).fetchCount(FetchDescriptor<T>(predicate: predicate))
        == expected.count,
      "line \(line)"
    )
  }

  @Test func `finds enumerations there`() throws {
    let (open, low) = (ChoreState.open, ChoreLevel.low)
    try check(#Predicate<ChoreStep> { $0.chore?.state == open }) { $0.chore?.state == open }
    try check(#Predicate<ChoreStep> { $0.chore?.state != open }) { $0.chore?.state != open }
    try check(#Predicate<ChoreStep> { $0.chore?.level == low }) { $0.chore?.level == low }
    try check(#Predicate<ChoreStep> { $0.chore?.state.rawValue == "open" }) {
      $0.chore?.state.rawValue == "open"
    }
    try check(#Predicate<ChoreStep> { $0.chore != nil && $0.chore!.state == open }) {
      $0.chore != nil && $0.chore!.state == open
    }
    try check(
      #Predicate<ChoreStep> { step in
        if let chore = step.chore { chore.state == open } else { false }
      }
    ) { $0.chore?.state == open }
    try check(#Predicate<Chore> { $0.steps.contains { $0.chore?.state == open } }) {
      $0.steps.contains { $0.chore?.state == open }
    }
    try check(#Predicate<ChoreOwner> { $0.chores?.contains { $0.level == low } ?? false }) {
      $0.chores?.contains { $0.level == low } ?? false
    }
  }

  @Test func `counts optional lists there`() throws {
    try check(#Predicate<Chore> { $0.owner?.chores?.count == 3 }) { $0.owner?.chores?.count == 3 }
    try check(#Predicate<Chore> { ($0.owner?.chores?.count ?? 0) > 1 }) {
      ($0.owner?.chores?.count ?? 0) > 1
    }
    try check(#Predicate<Chore> { ($0.owner?.chores?.count ?? 7) > 5 }) {
      ($0.owner?.chores?.count ?? 7) > 5
    }
    try check(#Predicate<Chore> { $0.owner?.chores?.isEmpty == false }) {
      $0.owner?.chores?.isEmpty == false
    }
    try check(#Predicate<Chore> { $0.owner?.chores?.isEmpty ?? true }) {
      $0.owner?.chores?.isEmpty ?? true
    }
    try check(#Predicate<Chore> { ($0.owner?.chores?.count ?? 0) + 1 > 3 }) {
      ($0.owner?.chores?.count ?? 0) + 1 > 3
    }
    try check(#Predicate<ChoreOwner> { $0.parent?.chores?.count ?? 0 > 1 }) {
      $0.parent?.chores?.count ?? 0 > 1
    }
    try check(#Predicate<ChoreStep> { $0.chore?.owner?.chores?.count ?? 0 > 1 }) {
      $0.chore?.owner?.chores?.count ?? 0 > 1
    }
    try check(#Predicate<Chore> { $0.owner?.chores?.contains { $0.title == "chore 1" } ?? false }) {
      $0.owner?.chores?.contains { $0.title == "chore 1" } ?? false
    }
    try check(#Predicate<Chore> { $0.owner?.chores?.filter { $0.title != "chore 1" }.count == 2 }) {
      $0.owner?.chores?.filter { $0.title != "chore 1" }.count == 2
    }
  }
}
