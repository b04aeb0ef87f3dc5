import Foundation
import LogEngine
import SwiftData
import Testing

@testable import LogStore

@Model private class Step {
  var number: Int
  var isOdd: Bool

  init(_ number: Int) {
    self.number = number
    isOdd = number % 2 == 1
  }
}

@Model private final class Leap: Step {
  var width: Int

  init(_ number: Int, width: Int) {
    self.width = width
    super.init(number)
  }
}

@Suite struct `A fetch without a sort that skips rows` {
  private static let count = 3_000

  private enum Filter: CaseIterable {
    case none
    case column
    case rows

    var predicate: Predicate<Step>? {
      switch self {
      case .none: nil
      case .column: #Predicate { $0.isOdd }
      // Not answered by columns.
      case .rows: #Predicate { ($0.isOdd ? $0.number : 3) % 7 == 3 }
      }
    }

    func isMatch(_ step: Step) -> Bool {
      switch self {
      case .none: true
      case .column: step.isOdd
      case .rows: (step.isOdd ? step.number : 3) % 7 == 3
      }
    }
  }

  private let url = FileManager.default.temporaryDirectory.appending(path: "steps-\(UUID())")

  private func open() throws -> ModelContainer {
    var configuration = LogStoreConfiguration(url: url, durability: .relaxed)
    configuration.compaction = .init(.onDemand, historyByteCount: 0)
    return try ModelContainer(for: Step.self, Leap.self, configurations: configuration)
  }

  private func insert(into container: ModelContainer) throws {
    let context = ModelContext(container)
    for number in 0..<Self.count { context.insert(Step(number)) }
    for number in 0..<Self.count / 2 { context.insert(Leap(number, width: number)) }
    try context.save()
    let deleted = #Predicate<Step> { $0.number % 10 == 0 }
    for step in try context.fetch(FetchDescriptor(predicate: deleted)) { context.delete(step) }
    try context.save()
  }

  private func expectWindows(_ filter: Filter, in context: ModelContext) throws {
    var descriptor = FetchDescriptor<Step>(predicate: filter.predicate)
    let all = try context.fetch(descriptor)
    #expect(all.allSatisfy(filter.isMatch))
    for offset in [0, 1, 100, 300, 1_000, 2_000, 2_699, 2_700, 2_701, 3_900, all.count, 5_000] {
      for limit in [1, 50, nil] {
        descriptor.fetchOffset = offset
        descriptor.fetchLimit = limit
        let expected = all.dropFirst(offset).prefix(limit ?? .max)
        let found = try context.fetch(descriptor)
        #expect(found.map(ObjectIdentifier.init) == expected.map(ObjectIdentifier.init))
      }
    }
  }

  @Test(arguments: Filter.allCases, [false, true])
  private func `has the rows that are in its window`(filter: Filter, isPacked: Bool) throws {
    defer { try? FileManager.default.removeItem(at: url) }
    let container = try open()
    try insert(into: container)
    let context = ModelContext(container)
    context.autosaveEnabled = false
    if isPacked {
      let store = try #require(container.stores(of: LogStore.self).first)
      try store.compact()
      #expect(!store.statistics().packs.isEmpty)
    }
    try expectWindows(filter, in: context)
    for (place, step) in try context.fetch(FetchDescriptor<Step>()).enumerated()
    where place % 5 == 0 {
      if place % 2 == 0 { context.delete(step) } else { step.isOdd.toggle() }
    }
    for number in 0..<20 { context.insert(Step(number)) }
    try expectWindows(filter, in: context)
  }

  @Test func `reads the rows of its window only, where columns tell which match`() throws {
    defer { try? FileManager.default.removeItem(at: url) }
    let container = try open()
    try insert(into: container)
    let context = ModelContext(container)
    for filter in [Filter.none, .column] {
      var descriptor = FetchDescriptor<Step>(predicate: filter.predicate)
      descriptor.fetchOffset = 1_200
      descriptor.fetchLimit = 10
      let plan = try context.explain(descriptor)
      let readCount = plan.accesses.reduce(0) { $0 + $1.readRowCount }
      #expect(readCount <= 64, "\(plan)")
    }
  }
}
