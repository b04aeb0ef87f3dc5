import Foundation
import SchedulePoints
import SwiftData
import Testing

@testable import LogStore
@testable import ModelRuntime

@Model private final class Setlist {
  var name: String
  @Relationship(inverse: \Ballad.setlist) var ballads: [Ballad] = []

  init(_ name: String) { self.name = name }
}

@Model private final class Ballad {
  var number: Int
  var setlist: Setlist?

  init(_ number: Int, _ setlist: Setlist? = nil) {
    self.number = number
    self.setlist = setlist
  }
}

@Suite struct `Members that are moved in a long list` {
  private let container: ModelContainer
  private let context: ModelContext
  private let setlist: Setlist

  init() throws {
    container = try ModelContainer(
      for: Setlist.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
    setlist = Setlist("tour")
    context.insert(setlist)
    setlist.ballads = (0..<100).map { Ballad($0) }
    try context.save()
  }

  private var list: RelatedModels {
    get throws {
      let property = try #require(setlist._$state.descriptor.property(named: "ballads"))
      return try #require(setlist._$state.relatedModels(property))
    }
  }

  private func stored() throws -> [Int] {
    let setlists = try ModelContext(container).fetch(FetchDescriptor<Setlist>())
    return try #require(setlists.first).ballads.map(\.number)
  }

  /// Number of ballads that the newest save has written.
  private func writtenCount() throws -> Int {
    let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    return try #require(history.last).changes
      .filter { $0.changedPersistentIdentifier.entityName == "Ballad" }.count
  }

  @Test func `alone get new places with a save`() throws {
    var expected = Array(0..<100)
    setlist.ballads.swapAt(10, 70)
    expected.swapAt(10, 70)
    #expect(try list.moved?.count == 2)
    try context.save()
    #expect(try writtenCount() == 2)
    #expect(try stored() == expected)

    setlist.ballads.insert(Ballad(100), at: 0)
    setlist.ballads.insert(Ballad(101), at: 50)
    setlist.ballads.insert(Ballad(102, setlist), at: 50)
    setlist.ballads.append(Ballad(103))
    expected = [100] + expected
    expected.insert(101, at: 50)
    expected.insert(102, at: 50)
    expected.append(103)
    #expect(setlist.ballads.map(\.number) == expected)
    #expect(try list.moved != nil)
    try context.save()
    #expect(try writtenCount() == 4)
    #expect(try stored() == expected)
    #expect(context.invariantViolations() == [])
  }

  @Test func `are right where there is no room left between two others`() throws {
    var expected = Array(0..<100)
    var writtenCount = 0
    for number in 100..<200 {
      setlist.ballads.insert(Ballad(number), at: 50)
      expected.insert(number, at: 50)
      #expect(try list.moved?.count == 1)
      try context.save()
      writtenCount += try self.writtenCount()
    }
    #expect(try stored() == expected)
    #expect(writtenCount < 200, "each insertion gives others new ranks")
  }

  @Test func `keep their places beside those that others have moved`() throws {
    #expect(setlist.ballads.count == 100)
    let other = ModelContext(container)
    let same = try #require(try other.fetch(FetchDescriptor<Setlist>()).first)
    setlist.ballads.swapAt(0, 99)
    same.ballads.swapAt(40, 41)
    try other.save()
    try context.save()
    let numbers = try stored()
    #expect(numbers == setlist.ballads.map(\.number))
    #expect(numbers.first == 99 && numbers.last == 0)
    #expect(Set(numbers) == Set(0..<100))
  }

  @Test(arguments: [SchedulePoint.beforeClaim, .beforeCommit])
  func `are left out where others delete them meanwhile`(at point: SchedulePoint) throws {
    let name = setlist.ballads[70].persistentModelID
    setlist.ballads.swapAt(10, 70)
    try atFirst(point) { [container] in
      let other = ModelContext(container)
      other.delete(other.model(for: name))
      try other.save()
    } during: {
      try context.save()
    }
    #expect(setlist.ballads.count == 99)
    #expect(try stored() == setlist.ballads.map(\.number))
    #expect(try Set(stored()) == Set(0..<100).subtracting([70]))
    #expect(context.invariantViolations() == [])
  }

  @Test(arguments: [false, true], 1...3 as ClosedRange<UInt64>)
  func `are as the array has them, whatever is done in between`(
    undoes: Bool,
    seed: UInt64
  ) throws {
    var random = SeededNumbers(seed: seed)
    let undo = UndoManager()
    undo.groupsByEvent = false
    if undoes { context.undoManager = undo }
    var expected = Array(0..<100)
    var next = 100
    for step in 0..<300 {
      let before = expected
      let count = expected.count
      let (first, second) = (
        Int.random(in: 0..<count, using: &random), Int.random(in: 0..<count, using: &random)
      )
      if undoes { undo.beginUndoGrouping() }
      switch Int.random(in: 0..<9, using: &random) {
      case 0, 1:
        setlist.ballads.swapAt(first, second)
        expected.swapAt(first, second)
      case 2, 3:
        setlist.ballads.insert(Ballad(next, Bool.random(using: &random) ? setlist : nil), at: first)
        expected.insert(next, at: first)
        next += 1
      case 4:
        setlist.ballads.append(Ballad(next))
        expected.append(next)
        next += 1
      case 5 where count > 60:
        setlist.ballads.remove(at: first)
        expected.remove(at: first)
      case 6 where count > 60:
        context.delete(setlist.ballads[first])
        expected.remove(at: first)
      case 7:
        let ballad = setlist.ballads.remove(at: first)
        expected.remove(at: first)
        setlist.ballads.insert(ballad, at: min(second, count - 1))
        expected.insert(ballad.number, at: min(second, count - 1))
      case 8:
        // The list as a whole.
        setlist.ballads = setlist.ballads.reversed()
        expected.reverse()
      default: break
      }
      context.processPendingChanges()
      if undoes {
        undo.endUndoGrouping()
        // An empty group is none: its undo would be that of the group before.
        if expected != before, Int.random(in: 0..<3, using: &random) == 0 {
          undo.undo()
          expected = before
        }
      }
      #expect(setlist.ballads.map(\.number) == expected, "seed \(seed), step \(step)")
      if Int.random(in: 0..<3, using: &random) == 0 {
        try context.save()
        undo.removeAllActions()
        #expect(try stored() == expected, "seed \(seed), step \(step)")
        #expect(context.invariantViolations() == [], "seed \(seed), step \(step)")
      }
    }
  }
}
