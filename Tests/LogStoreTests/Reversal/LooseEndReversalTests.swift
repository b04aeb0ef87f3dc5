import Foundation
import LogStore
import SwiftData
import Testing

@Model final class CoatPeg {
  var number: Int

  init(_ number: Int) { self.number = number }
}

@Model class CoatRack {
  var name: String
  /// Without an inverse, as the next.
  var pegs: [CoatPeg] = []
  var first: CoatPeg?

  init(_ name: String) { self.name = name }
}

@Model final class TallCoatRack: CoatRack {
  var height: Int
  var top: CoatPeg?

  init(_ name: String, height: Int) {
    self.height = height
    super.init(name)
  }
}

@Suite struct `Taking back the deletion of what relationships without an inverse led to` {
  private let folder: TemporaryFolder
  private let container: ModelContainer
  private let context: ModelContext
  private let rack: CoatRack
  private let pegs: [CoatPeg]

  init() throws {
    folder = try TemporaryFolder()
    container = try ModelContainer(
      for: CoatPeg.self,
      CoatRack.self,
      TallCoatRack.self,
      configurations: LogStoreConfiguration(
        url: folder.url.appending(path: "racks.store"),
        durability: .relaxed
      )
    )
    context = ModelContext(container)
    rack = CoatRack("hall")
    pegs = (0..<4).map { CoatPeg($0) }
    context.insert(rack)
    rack.pegs = Array(pegs[..<3])
    rack.first = pegs[1]
    context.insert(pegs[3])
    try save(as: "mine")
  }

  /// Saves, as an author.
  private func save(as author: String) throws {
    context.author = author
    try context.save()
  }

  private func delete(_ numbers: Int...) throws {
    for number in numbers { context.delete(pegs[number]) }
    try save(as: "import")
  }

  /// Takes back what the import did, in a context of its own.
  private func revert() throws -> Reversal {
    let other = ModelContext(container)
    other.author = "mine"
    let reversal = try other.revert(author: "import")
    try other.save()
    return reversal
  }

  private func stored(_ name: String = "hall") throws -> (pegs: [Int], first: Int?) {
    let racks = try ModelContext(container).fetch(FetchDescriptor<CoatRack>())
    let rack = try #require(racks.first { $0.name == name })
    return (rack.pegs.map(\.number), rack.first?.number)
  }

  @Test func `gives lists and to-one relationships back what they led to`() throws {
    try delete(1)
    #expect(try stored() == ([0, 2], nil))
    let reversal = try revert()
    #expect(try stored() == ([0, 1, 2], 1))
    #expect(reversal.conflicts.isEmpty)
    #expect(reversal.restored.count == 1)
    #expect(reversal.updated == [rack.persistentModelID])
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<CoatPeg>()) == 4)
  }

  @Test func `does so in the context that has deleted it`() throws {
    try delete(1)
    #expect(rack.pegs.map(\.number) == [0, 2] && rack.first == nil)
    let reversal = try context.revert(author: "import")
    #expect(reversal.conflicts.isEmpty)
    #expect(rack.pegs.map(\.number) == [0, 1, 2] && rack.first?.number == 1)
    context.rollback()
    #expect(rack.pegs.map(\.number) == [0, 2] && rack.first == nil)
    try context.revert(author: "import")
    try save(as: "mine")
    #expect(try stored() == ([0, 1, 2], 1))
  }

  @Test func `gives back all that several transactions have deleted, in its order`() throws {
    try delete(2)
    try delete(0, 1)
    #expect(try stored() == ([], nil))
    #expect(try revert().conflicts.isEmpty)
    #expect(try stored() == ([0, 1, 2], 1))
  }

  @Test func `adds to what others made of the list, and leaves what they led elsewhere`() throws {
    try delete(1)
    rack.pegs = [pegs[2], pegs[3]]
    rack.first = pegs[2]
    try save(as: "mine")
    let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    let number = try #require(history.last?.transactionIdentifier)
    let reversal = try revert()
    let (members, first) = try stored()
    #expect(members.sorted() == [1, 2, 3])
    #expect(members.filter { $0 != 1 } == [2, 3])
    #expect(first == 2)
    #expect(reversal.conflicts.map(\.property) == ["first"])
    #expect(reversal.conflicts.map(\.model) == [rack.persistentModelID])
    #expect(
      reversal.conflicts.map(\.reason) == [.changedSince(transaction: number, author: "mine")]
    )
  }

  @Test func `adds nothing that was not there any more when it was deleted`() throws {
    rack.pegs = [pegs[0], pegs[2]]
    rack.first = nil
    try save(as: "mine")
    try delete(1)
    rack.pegs.append(pegs[3])
    rack.first = pegs[3]
    try save(as: "mine")
    #expect(try revert().conflicts.isEmpty)
    #expect(try stored() == ([0, 2, 3], 3))
  }

  @Test func `adds nothing that others took out between two deletes`() throws {
    try delete(0)
    rack.pegs.removeAll { $0 === pegs[1] }
    rack.first = nil
    try save(as: "mine")
    try delete(1)
    #expect(try revert().conflicts.isEmpty)
    #expect(try stored() == ([0, 2], nil))
  }

  @Test func `gives back what the transactions themselves have led elsewhere`() throws {
    try delete(1)
    rack.pegs = [pegs[3]]
    rack.first = pegs[3]
    try save(as: "import")
    #expect(try revert().conflicts.isEmpty)
    #expect(try stored() == ([0, 1, 2], 1))
  }

  @Test func `leaves what the context has changed and not saved, and says so`() throws {
    try delete(1)
    let other = ModelContext(container)
    let changed = try #require(try other.fetch(FetchDescriptor<CoatRack>()).first)
    changed.pegs.removeLast()
    let reversal = try other.revert(author: "import")
    #expect(reversal.conflicts.map(\.property) == ["pegs"])
    #expect(reversal.conflicts.map(\.reason) == [.changedHere])
    try other.save()
    #expect(try stored() == ([0], 1))
  }

  @Test func `gives a deleted owner and its members back to each other`() throws {
    try delete(1)
    context.delete(rack)
    try save(as: "import")
    let reversal = try revert()
    #expect(reversal.conflicts.isEmpty && reversal.restored.count == 2)
    #expect(try stored() == ([0, 1, 2], 1))
  }

  @Test func `knows inherited relationships, and those of subclasses`() throws {
    let tall = TallCoatRack("attic", height: 3)
    context.insert(tall)
    tall.pegs = [pegs[3], pegs[1], pegs[0]]
    tall.first = pegs[1]
    tall.top = pegs[1]
    try save(as: "mine")
    try delete(1, 3)
    let reversal = try revert()
    #expect(reversal.conflicts.isEmpty)
    #expect(Set(reversal.updated) == [tall.persistentModelID, rack.persistentModelID])
    #expect(try stored() == ([0, 1, 2], 1))
    #expect(try stored("attic") == ([3, 1, 0], 1))
    let found = try ModelContext(container).fetch(FetchDescriptor<TallCoatRack>()).first
    #expect(found?.top?.number == 1)
  }

  @Test func `takes back a reversal that gave a to-one back what was deleted`() throws {
    try delete(1)
    for (author, number, count) in [("undo", 1, 4), ("redo", nil, 3), ("undo again", 1, 4)] {
      let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
      let reversal = try context.revert(history.suffix(1))
      #expect(reversal.conflicts.isEmpty)
      try save(as: author)
      #expect(try stored() == (number == nil ? [0, 2] : [0, 1, 2], number))
      #expect(try ModelContext(container).fetchCount(FetchDescriptor<CoatPeg>()) == count)
    }
  }

  @Test func `gives a deleted owner back without what was deleted before`() throws {
    try delete(1)
    context.delete(rack)
    try save(as: "clearing")
    let reversal = try context.revert(author: "clearing")
    #expect(reversal.conflicts.isEmpty && reversal.restored.count == 1)
    try save(as: "mine")
    #expect(try stored() == ([0, 2], nil))
  }

  @Test func `sees no conflict where others have led nowhere what named a deleted model`() throws {
    try delete(1)
    rack.first = pegs[3]
    try save(as: "moving")
    rack.first = nil
    try save(as: "others")
    #expect(try context.revert(author: "moving").conflicts.isEmpty)
    #expect(rack.first == nil)
  }
}
