import Foundation
import LogStore
import SwiftData
import Testing

@testable import ModelRuntime

@Suite struct `Redoing that a new model joins a list` {
  /// A list that is put together anew at each step makes n steps take n² reads.
  @Test(arguments: [true, false])
  func `keeps the list in memory`(isSaved: Bool) throws {
    let store = try HistoryStore()
    let context = store.context("mine")
    let manager = UndoManager()
    context.undoManager = manager
    let voyage = Voyage("Riga")
    context.insert(voyage)
    try context.save()
    for number in 1...20 {
      voyage.cabins.append(Cabin(number))
      context.processPendingChanges()
    }
    if isSaved { try context.save() }
    for _ in 0..<10 { manager.undo() }
    #expect(voyage.cabins.map(\.number) == Array(1...10))
    let property = try #require(
      voyage._$state.descriptor.properties.first { $0.name == "cabins" }
    )
    for count in 11...20 {
      manager.redo()
      guard case .many(let list) = voyage._$state.relation(property) else {
        Issue.record("there is no list")
        return
      }
      #expect(list.isLoaded && !list.isOutdated, "step \(count)")
      #expect(voyage.cabins.map(\.number) == Array(1...count))
    }
    try context.save()
    let again = try ModelContext(store.container).fetch(FetchDescriptor<Voyage>())
    #expect(again.map { $0.cabins.map(\.number).sorted() } == [Array(1...20)])
  }
}
