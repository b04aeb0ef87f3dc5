import Foundation
import ModelRuntime
import SwiftData
import Testing

@Model private final class Berth {
  var name: String
  var depth = 0
  @Relationship(inverse: \Boat.berth) var boats: [Boat] = []

  init(_ name: String) { self.name = name }
}

@Model private final class Boat {
  var name: String
  var length = 0
  var berth: Berth?

  init(_ name: String) { self.name = name }
}

/// A change that is not saved hides what others save; when it is undone, it must not go on hiding it.
@Suite struct `An undone change of what others have saved meanwhile` {
  private let context: ModelContext
  private let other: ModelContext
  private let manager = UndoManager()
  private let boat: Boat
  private let theirs: Boat

  init() throws {
    let container = try ModelContainer(
      for: Berth.self,
      Boat.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
    context.automaticallyMergesChanges = true
    boat = Boat("Ada")
    context.insert(boat)
    for name in ["east", "west"] { context.insert(Berth(name)) }
    try context.save()
    context.undoManager = manager
    other = ModelContext(container)
    theirs = try #require(other.fetch(FetchDescriptor<Boat>()).first)
  }

  private func berth(_ name: String, _ context: ModelContext) throws -> Berth {
    let found = try context.fetch(FetchDescriptor<Berth>(predicate: #Predicate { $0.name == name }))
    return try #require(found.first)
  }

  @Test(arguments: [false, true])
  func `shows the value that they saved`(isReadBefore: Bool) throws {
    if isReadBefore { _ = try context.fetch(FetchDescriptor<Boat>()) }
    boat.length = 7
    theirs.length = 11
    try other.save()
    context.processPendingChanges()
    #expect(boat.length == 7)
    manager.undo()
    #expect(boat.length == 11 && !context.hasChanges)
    theirs.length = 12
    theirs.name = "Eva"
    try other.save()
    context.processPendingChanges()
    #expect(boat.length == 12 && boat.name == "Eva")
  }

  @Test(arguments: ["east", nil] as [String?])
  func `leads where they have it lead`(mine: String?) throws {
    boat.berth = try berth("west", context)
    if mine == nil { try context.save() }
    context.processPendingChanges()
    boat.berth = try mine.map { try berth($0, context) }
    let observer = try ResultsObserver<Boat, Never>(modelContext: context)
    #expect(observer.results.count == 1)
    let east = try berth("east", other)
    theirs.berth = east
    theirs.length = 3
    try other.save()
    context.processPendingChanges()
    while manager.canUndo, context.hasChanges { manager.undo() }
    #expect(boat.berth?.name == "east")
    #expect(try berth("east", context).boats.map(\.name) == ["Ada"])
    #expect(try berth("west", context).boats.isEmpty)
    theirs.berth = nil
    try other.save()
    context.processPendingChanges()
    #expect(boat.berth == nil)
    #expect(try berth("east", context).boats.isEmpty)
    #expect(context.invariantViolations() == [])
  }

  @Test(arguments: [false, true], [false, true])
  func `leads there also if one of both ends was deleted in between`(
    isOfBoat: Bool,
    isMovedBefore: Bool
  ) throws {
    let west = try berth("west", context)
    boat.berth = west
    try context.save()
    if isMovedBefore { boat.berth = nil }
    if isOfBoat { context.delete(boat) } else { context.delete(west) }
    context.processPendingChanges()
    manager.undo()
    #expect(!context.hasChanges && boat.berth === west)
    theirs.berth = try berth("east", other)
    try other.save()
    context.processPendingChanges()
    #expect(boat.berth?.name == "east")
    #expect(try berth("east", context).boats.map(\.name) == ["Ada"])
    #expect(west.boats.isEmpty)
    #expect(context.invariantViolations() == [])
  }
}
