import Foundation
import SwiftData
import Testing

@testable import ModelRuntime

@Model class Stamp {
  var name: String
  var value: Int
  var album: StampAlbum?
  init(name: String, value: Int) {
    self.name = name
    self.value = value
  }
}

@Model final class RareStamp: Stamp {
  var misprint = ""
  init(misprint: String) {
    self.misprint = misprint
    super.init(name: "rare", value: 1000)
  }
}

@Model final class StampAlbum {
  var title: String
  @Relationship(inverse: \Stamp.album) var stamps: [Stamp] = []
  init(title: String) { self.title = title }
}

/// Objects that were fetched and of which nothing was asked but values: they have no state.
@Suite struct `A fetched object without a state` {
  private let container: ModelContainer

  init() throws {
    container = try ModelContainer(
      for: Schema([Stamp.self, RareStamp.self, StampAlbum.self]),
      configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]
    )
    let context = ModelContext(container)
    for number in 0..<50 { context.insert(Stamp(name: "stamp \(number)", value: number)) }
    for number in 0..<50 { context.insert(RareStamp(misprint: "error \(number)")) }
    try context.save()
  }

  private func stamps(_ context: ModelContext) throws -> [Stamp] {
    try context.fetch(FetchDescriptor(sortBy: [SortDescriptor(\.value), SortDescriptor(\.name)]))
  }

  private func isFault(_ stamp: Stamp) -> Bool { stamp._$fetchedRow.stored != nil }

  @Test func `stays so while it is read and asked who it is`() throws {
    let context = ModelContext(container)
    let found = try stamps(context)
    #expect(found.count == 100)
    #expect(found.map(\.value) == Array(0..<50) + Array(repeating: 1000, count: 50))
    #expect(found.prefix(50).map(\.name) == (0..<50).map { "stamp \($0)" })
    let misprints = found.compactMap { ($0 as? RareStamp)?.misprint }
    #expect(Set(misprints) == Set((0..<50).map { "error \($0)" }))
    for stamp in found {
      #expect(stamp.modelContext === context)
      #expect(!stamp.isDeleted && !stamp.hasChanges)
      let id = stamp.persistentModelID
      #expect(isFault(stamp))
      _ = stamp._$state
      #expect(!isFault(stamp))
      #expect(stamp.persistentModelID == id)
      #expect(stamp.modelContext === context)
    }
    #expect(Set(found.map(\.persistentModelID)).count == 100)
  }

  @Test func `is the object of its row, however it is looked for`() throws {
    let context = ModelContext(container)
    let found = try stamps(context)
    let first = try #require(found.first)
    #expect(zip(try stamps(context), found).allSatisfy { $0 === $1 })
    #expect(isFault(first))
    let registered: Stamp? = context.registeredModel(for: first.persistentModelID)
    #expect(registered === first)
    #expect(context.model(for: first.persistentModelID) === first)
    #expect(try stamps(context).first === first)
  }

  @Test func `becomes one with a state when it is changed, deleted or watched`() throws {
    let context = ModelContext(container)
    let found = try stamps(context)
    found[0].value = -1
    context.delete(found[1])
    _ = withObservationTracking {
      found[2].name
    } onChange: {
    }
    #expect(found.prefix(3).allSatisfy { !isFault($0) })
    #expect(isFault(found[3]))
    #expect(context.changedModelsArray.count == 1)
    #expect(context.deletedModelsArray.count == 1)
    try context.save()
    let after = try stamps(ModelContext(container))
    #expect(after.count == 99)
    #expect(after.first?.value == -1)
    #expect(after.first?.name == "stamp 0")
  }

  @Test func `keeps its context, and only as long as it lives`() throws {
    weak var weakContext: ModelContext?
    var found: [Stamp] = []
    do {
      let context = ModelContext(container)
      weakContext = context
      found = try stamps(context)
    }
    let context = try #require(weakContext)
    #expect(context.maps.reduce(0) { $0 + $1.count } == 100)
    // Half of them get states; either kind takes its leave.
    for stamp in found.prefix(50) { _ = stamp._$state }
    #expect(context.maps.reduce(0) { $0 + $1.count } == 100)
    found.removeSubrange(25..<75)
    #expect(context.maps.reduce(0) { $0 + $1.count } == 50)
    #expect(found[30].name == "rare")
    found = []
    #expect(context.maps.reduce(0) { $0 + $1.count } == 0)
  }

  @Test func `lets its context go when it goes last`() throws {
    weak var weakContext: ModelContext?
    do {
      var found: [Stamp]
      do {
        let context = ModelContext(container)
        weakContext = context
        found = try stamps(context)
      }
      found.removeFirst(99)
      #expect(weakContext != nil)
      #expect(found[0].value == 1000)
    }
    #expect(weakContext == nil)
  }

  @Test func `takes over what was saved elsewhere when it is fetched again`() throws {
    let context = ModelContext(container)
    let found = try stamps(context)
    #expect(found[5].value == 5 && isFault(found[5]))
    let other = ModelContext(container)
    try stamps(other)[5].name = "changed"
    try other.save()
    #expect(found[5].name == "stamp 5" || found[5].name == "changed")
    _ = try stamps(context)
    #expect(found[5].name == "changed")
    #expect(isFault(found[4]))
  }

  @Test func `takes over at once what a sibling saved, where contexts merge`() throws {
    let context = ModelContext(container)
    context.automaticallyMergesChanges = true
    let found = try stamps(context)
    #expect(found[5].name == "stamp 5")
    let other = ModelContext(container)
    let theirs = try stamps(other)
    theirs[5].name = "changed"
    other.delete(theirs[6])
    try other.save()
    context.processPendingChanges()
    #expect(found[5].name == "changed")
    #expect(found[6].isDeleted)
    #expect(isFault(found[7]))
  }

  @Test func `is none in a context with an undo manager, whenever that comes`() throws {
    let context = ModelContext(container)
    let before = try stamps(context)
    #expect(before.allSatisfy(isFault))
    let manager = UndoManager()
    context.undoManager = manager
    #expect(!before.contains(where: isFault))
    let first = before[0]
    first.value = 77
    manager.undo()
    #expect(first.value == 0)
    withExtendedLifetime(before) {}
    let other = ModelContext(container)
    other.undoManager = UndoManager()
    #expect(try !stamps(other).contains(where: isFault))
  }

  @Test func `can be put into a relationship`() throws {
    let context = ModelContext(container)
    let found = try stamps(context)
    let album = StampAlbum(title: "All")
    album.stamps = found
    try context.save()
    let reader = ModelContext(container)
    let read = try #require(try reader.fetch(FetchDescriptor<StampAlbum>()).first)
    #expect(read.stamps.count == 100)
    let again = try stamps(reader)
    #expect(again.allSatisfy { $0.album === read })
  }

  @Test func `is registered among many, in any order`() throws {
    let context = ModelContext(container)
    var random = SeededRandom(seed: 7)
    var held: [Stamp] = []
    for round in 0..<50 {
      held += try stamps(context)
      for stamp in held.shuffled(using: &random).prefix(20) { stamp._$state.loadRow() }
      held.shuffle(using: &random)
      held.removeLast(held.count / 2)
      let distinct = Set(held.map(ObjectIdentifier.init))
      #expect(context.maps.reduce(0) { $0 + $1.count } == distinct.count, "round \(round), seed 7")
      #expect(Set(held.map(\.persistentModelID)).count == distinct.count, "round \(round), seed 7")
    }
  }
}
