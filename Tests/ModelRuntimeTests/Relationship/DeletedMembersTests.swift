import Foundation
import Testing

@testable import ModelRuntime

/// Has papers, which do not lead back.
@Model private final class Tray {
  var name: String
  var papers: [Paper] = []

  init(_ name: String) { self.name = name }
}

@Model private final class Paper {
  var number: Int

  init(_ number: Int) { self.number = number }
}

@Suite struct `A list without another end` {
  private let context: ModelContext
  private let tray = Tray("in")

  init() throws {
    let container = try ModelContainer(
      for: Schema([Tray.self, Paper.self]),
      configurations: [MemoryStore.Configuration()]
    )
    context = ModelContext(container)
  }

  /// The steps along a list that a block takes.
  private func steps(_ body: () throws -> Void) throws -> Int {
    let property = try #require(tray._$state.descriptor.property(named: "papers"))
    let list = try #require(tray._$state.relatedModels(property))
    let before = list.stepCount
    try body()
    #expect(tray._$state.relatedModels(property) === list)
    return list.stepCount - before
  }

  private func makePapers(_ count: Int) -> [Paper] {
    let papers = (0..<count).map { Paper($0) }
    for paper in papers { context.insert(paper) }
    return papers
  }

  @Test(arguments: [false, true])
  func `is not put together again for each delete of others`(isStored: Bool) throws {
    let others = makePapers(100)
    context.insert(tray)
    tray.papers = makePapers(1000)
    if isStored { try context.save() }
    let steps = try steps {
      for other in others {
        context.delete(other)
        #expect(tray.papers.count == 1000)
      }
    }
    #expect(steps <= 2000)
  }

  @Test func `is put together once if very much was deleted`() throws {
    let others = makePapers(10_000)
    context.insert(tray)
    tray.papers = makePapers(100) + [others[0]]
    let steps = try steps {
      for other in others { context.delete(other) }
      for _ in 0..<10 { #expect(tray.papers.count == 100) }
    }
    #expect(steps <= 500)
  }

  /// Short lists are looked through, long ones are not.
  @Test(arguments: [5, 60], 1...6 as ClosedRange<UInt64>)
  func `has its members that are not deleted, or no longer`(count: Int, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    context.undoManager = UndoManager()
    var others = makePapers(count)
    var members = makePapers(count)
    var deleted: [Paper] = []
    context.insert(tray)
    tray.papers = members
    for step in 0..<300 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0, 1, 2:
        guard let place = members.indices.randomElement(using: &random) else { continue }
        context.delete(members[place])
        deleted.append(members.remove(at: place))
      case 3, 4:
        guard let place = others.indices.randomElement(using: &random) else { continue }
        context.delete(others.remove(at: place))
      case 5, 6:
        let paper = Paper(step)
        tray.papers.append(paper)
        members.append(paper)
      case 7:
        guard let place = deleted.indices.randomElement(using: &random) else { continue }
        context.insert(deleted[place])
        members.append(deleted.remove(at: place))
      case 8:
        try context.save()
        deleted = []
      default: tray.papers.reverse()
      }
      if Bool.random(using: &random) {
        #expect(Set(tray.papers) == Set(members), "seed \(seed), step \(step)")
        #expect(tray.papers.count == members.count, "seed \(seed), step \(step)")
      }
    }
    try context.save()
    let stored = try ModelContext(context.container).fetch(FetchDescriptor<Tray>())
    #expect(stored[0].papers.map(\.number) == tray.papers.map(\.number), "seed \(seed)")
    #expect(Set(tray.papers) == Set(members), "seed \(seed)")
  }
}
