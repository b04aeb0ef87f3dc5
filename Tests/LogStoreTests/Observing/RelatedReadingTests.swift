import Foundation
import SwiftData
import Testing

@testable import ModelRuntime

@Suite struct `Results that depend on related models` {
  private let context: ModelContext
  private let shelf = Shelf("inbox")
  private let volumes: [Volume]
  private let observer: ResultsObserver<Volume, Never>
  private let descriptor = FetchDescriptor<Volume>(
    predicate: #Predicate { $0.shelf?.name == "inbox" },
    sortBy: [SortDescriptor(\.title)]
  )

  init() throws {
    context = ModelContext(try makeShelves())
    context.undoManager = UndoManager()
    context.insert(shelf)
    volumes = try context.addVolumes("ab")
    shelf.volumes.append(contentsOf: volumes)
    try context.save()
    observer = try ResultsObserver(fetchDescriptor: descriptor, modelContext: context)
  }

  private func expectAgreement(_ titles: String) throws {
    #expect(observer.titles == titles)
    #expect(try context.fetch(descriptor).map(\.title).joined() == titles)
  }

  @Test func `are fetched once for all changes of values that they do not depend on`() throws {
    let notices = Notices()
    let (_, plans) = context.explain {
      for number in 1...5 {
        notices.track { observer.results.count }
        volumes[0].pages = number
      }
    }
    // The first change makes the model an unsaved one, which the store cannot answer for.
    #expect(plans.count <= 1)
    #expect(notices.count <= 1)
    try expectAgreement("ab")
    volumes[0].title = "c"
    try expectAgreement("bc")
  }

  @Test func `follow related models, changed before and after their own`() throws {
    volumes[0].pages = 1
    try expectAgreement("ab")
    shelf.name = "outbox"
    // The store answers for the volume that has no changes.
    try expectAgreement("b")
    volumes[1].pages = 1
    try expectAgreement("")
    shelf.name = "inbox"
    try expectAgreement("ab")
    volumes[0].shelf = nil
    try expectAgreement("b")
    shelf.volumes.append(volumes[0])
    try expectAgreement("ab")
  }

  @Test func `follow a model whose only change is taken back`() throws {
    shelf.name = "outbox"
    context.processPendingChanges()
    try expectAgreement("ab")
    volumes[0].pages = 1
    context.processPendingChanges()
    try expectAgreement("b")
    context.undoManager?.undo()
    try expectAgreement("ab")
    context.undoManager?.redo()
    try expectAgreement("b")
  }

  @Test func `follow a value that is read through a relationship and back`() throws {
    let long = FetchDescriptor<Volume>(
      predicate: #Predicate { $0.shelf?.volumes.contains { $0.pages > 5 } ?? false },
      sortBy: [SortDescriptor(\.title)]
    )
    let observer = try ResultsObserver(fetchDescriptor: long, modelContext: context)
    for volume in volumes { volume.weight = 1 }
    #expect(observer.titles == "")
    let notices = Notices()
    notices.track { observer.results.count }
    volumes[0].pages = 6
    #expect(notices.count == 1)
    #expect(observer.titles == "ab")
    #expect(try context.fetch(long).map(\.title).joined() == "ab")
    volumes[0].pages = 5
    #expect(observer.titles == "")
  }

  @Test func `follow a model that only gets another place in a list`() throws {
    shelf.name = "outbox"
    try expectAgreement("ab")
    shelf.volumes.swapAt(0, 1)
    try expectAgreement(context.fetch(descriptor).map(\.title).joined())
  }

  @Test func `agree with a fetch about a model that others relate to one deleted here`() throws {
    let free = Volume("c")
    context.insert(free)
    try context.save()
    let wanted = [#Predicate<Volume> { $0.shelf == nil }, #Predicate { $0.shelf != nil }]
    let descriptors = wanted.map {
      FetchDescriptor(predicate: $0, sortBy: [SortDescriptor(\.title)])
    }
    let observers = try descriptors.map {
      try ResultsObserver(fetchDescriptor: $0, modelContext: context)
    }
    func expectAgreement(_ step: String) throws {
      let found = try descriptors.map { try context.fetch($0).map(\.title).joined() }
      #expect(observers.map(\.titles) == found, "\(step)")
    }
    context.delete(shelf)
    try expectAgreement("deleted")
    let sibling = ModelContext(context.container)
    let title = #Predicate<Volume> { $0.title == "c" }
    let theirs = try #require(try sibling.fetch(FetchDescriptor(predicate: title)).first)
    theirs.shelf = try sibling.fetch(FetchDescriptor<Shelf>()).first
    try sibling.save()
    try expectAgreement("related by others")
    #expect(free.shelf == nil)
    free.pages = 1
    try expectAgreement("changed")
    context.rollback()
    try expectAgreement("rolled back")
    #expect(observers.map(\.titles) == ["", "abc"])
    context.delete(shelf)
    try context.save()
    try expectAgreement("saved")
  }
}
