import Foundation
import SwiftData
import Testing

@testable import LogStore

@Model private final class Manometer {
  var level: Int
  var other = 0
  init(_ level: Int) { self.level = level }
}

@Suite struct `Undoing an unsaved change of an attribute that a batch has saved meanwhile` {
  private let container: ModelContainer
  private let context: ModelContext

  init() throws {
    container = try ModelContainer(
      for: Manometer.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
    context.insert(Manometer(7))
    try context.save()
  }

  @Test(arguments: [false, true], [false, true])
  func `shows what the batch has saved`(changesOther: Bool, isOwnObject: Bool) throws {
    let context = isOwnObject ? context : ModelContext(container)
    context.undoManager = UndoManager()
    let meter = try #require(try context.fetch(FetchDescriptor<Manometer>()).first)
    meter.level += 1
    if changesOther { meter.other = 1 }
    context.processPendingChanges()
    _ = try context.batchUpdate(Manometer.self, .set(\.level, to: 9))
    #expect(meter.level == 8)
    context.undoManager?.undo()
    #expect(meter.level == 9)
    #expect(!context.hasChanges)
    context.undoManager?.redo()
    #expect(meter.level == 8)
    context.undoManager?.undo()
    #expect(meter.level == 9)
    try context.save()
    #expect(meter.level == 9)
    let stored = try ModelContext(container).fetch(FetchDescriptor<Manometer>())
    #expect(stored.map(\.level) == [9] && stored.map(\.other) == [0])
  }

  @Test func `leaves other unsaved changes alone`() throws {
    context.undoManager = UndoManager()
    let meter = try #require(try context.fetch(FetchDescriptor<Manometer>()).first)
    meter.other = 1
    context.processPendingChanges()
    meter.level = 8
    context.processPendingChanges()
    _ = try context.batchUpdate(Manometer.self, .set(\.level, to: 9), .set(\.other, to: 5))
    context.undoManager?.undo()
    #expect(meter.level == 9 && meter.other == 1)
    context.undoManager?.undo()
    #expect(meter.level == 9 && meter.other == 5)
  }
}
