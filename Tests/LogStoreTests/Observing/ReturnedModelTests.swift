import Foundation
import ModelRuntime
import SwiftData
import Testing

@Suite struct `A model that comes back among the results` {
  enum Return: CaseIterable { case inserted, undone }

  private let container: ModelContainer
  private let context: ModelContext

  init() throws {
    container = try makeShelves()
    context = ModelContext(container)
  }

  private func observe(_ sort: [SortDescriptor<Volume>]) throws -> ResultsObserver<Volume, Never> {
    try ResultsObserver(fetchDescriptor: FetchDescriptor(sortBy: sort), modelContext: context)
  }

  /// Has another context save something about the volume of a title.
  private func changeElsewhere(_ title: String, _ change: (Volume) -> Void) throws {
    let other = ModelContext(container)
    let found = try other.fetch(
      FetchDescriptor<Volume>(predicate: #Predicate { $0.title == title })
    )
    for volume in found { change(volume) }
    try other.save()
  }

  private func fetched(_ sort: [SortDescriptor<Volume>]) throws -> String {
    try context.fetch(FetchDescriptor<Volume>(sortBy: sort)).map(\.title).joined()
  }

  @Test(arguments: Return.allCases)
  func `shows what others have saved while it was deleted, at its place`(way: Return) throws {
    if way == .undone { context.undoManager = UndoManager() }
    let volumes = try context.addVolumes("abc")
    let observer = try observe([SortDescriptor(\.title)])
    #expect(observer.titles == "abc")
    volumes[0].pages = 7
    context.processPendingChanges()
    context.delete(volumes[0])
    context.processPendingChanges()
    #expect(observer.titles == "bc")
    try changeElsewhere("a") {
      $0.title = "z"
      $0.pages = 8
    }
    #expect(observer.titles == "bc")
    switch way {
    case .inserted: context.insert(volumes[0])
    case .undone: context.undoManager?.undo()
    }
    #expect(observer.titles == "bcz")
    #expect(volumes[0].title == "z")
    // What was changed here is still to be saved.
    #expect(volumes[0].pages == 7)
    #expect(try fetched([SortDescriptor(\.title)]) == "bcz")
    try context.save()
    #expect(observer.titles == "bcz")
    let saved = try ModelContext(container).fetch(
      FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)])
    )
    #expect(saved.map(\.title) == ["b", "c", "z"])
    #expect(saved.last?.pages == 7)
  }

  @Test func `shows what others have saved when its insertion is redone`() throws {
    context.undoManager = UndoManager()
    let volume = Volume("a")
    context.insert(volume)
    try context.save()
    try context.addVolumes("b")
    context.undoManager?.undo()
    let observer = try observe([SortDescriptor(\.title)])
    context.undoManager?.undo()
    #expect(observer.titles == "")
    try changeElsewhere("a") { $0.title = "z" }
    #expect(observer.titles == "")
    context.undoManager?.redo()
    #expect(observer.titles == "z")
  }

  @Test func `is behind those that were inserted since it was deleted, where it was never saved`()
    throws
  {
    let observer = try observe([])
    let (first, second) = (Volume("a"), Volume("b"))
    context.insert(first)
    #expect(observer.titles == "a")
    context.delete(first)
    #expect(observer.titles == "")
    // Nothing is left to be written, and still the first one leaves.
    try context.save()
    context.insert(second)
    context.insert(first)
    #expect(observer.titles == "ba")
    #expect(try fetched([]) == "ba")
  }

  @Test func `keeps its place where it is inserted again before a save`() throws {
    let observer = try observe([])
    let (first, second) = (Volume("a"), Volume("b"))
    context.insert(first)
    context.insert(second)
    context.delete(first)
    #expect(observer.titles == "b")
    context.insert(first)
    #expect(observer.titles == "ab")
    #expect(try fetched([]) == "ab")
  }
}
