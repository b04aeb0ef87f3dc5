import Foundation
import SwiftData
import Testing

@testable import ModelRuntime

@Suite struct `A merge into an observed context` {
  private let container: ModelContainer
  private let context: ModelContext

  init() throws {
    container = try makeShelves()
    context = ModelContext(container)
    for number in 0..<20 { context.insert(Shelf("\(number)")) }
    try context.save()
    context.rollback()
  }

  private func observe() throws -> ResultsObserver<Shelf, Never> {
    try ResultsObserver(fetchDescriptor: FetchDescriptor(), modelContext: context)
  }

  private var lookedAt: Int? { context.observers?.listOwners.current().count }

  private func addVolumeElsewhere(to name: String) throws {
    let other = ModelContext(container)
    let shelves = try other.fetch(FetchDescriptor<Shelf>(predicate: #Predicate { $0.name == name }))
    for shelf in shelves { shelf.volumes.append(Volume("new")) }
    try other.save()
  }

  @Test func `looks at those models only that have lists in memory`() throws {
    let observer = try observe()
    let shelves = Array(observer.results)
    #expect(lookedAt == 0)
    for shelf in shelves.prefix(2) { #expect(shelf.volumes.isEmpty) }
    #expect(lookedAt == 2)
    let notices = Notices()
    notices.track { shelves[1].volumes.count }
    try addVolumeElsewhere(to: "1")
    #expect(observer.results.count == 20)
    #expect(notices.count == 1)
    #expect(shelves[1].volumes.count == 1)
    #expect(context.invariantViolations() == [])
    withExtendedLifetime(observer) {}
  }

  @Test func `looks at lists that were there before an observer was`() throws {
    let shelves = try context.fetch(FetchDescriptor<Shelf>())
    #expect(shelves[3].volumes.isEmpty)
    #expect(lookedAt == nil)
    for _ in 1...2 {
      let observer = try observe()
      #expect(lookedAt == 1)
      let notices = Notices()
      notices.track { shelves[3].volumes.count }
      try addVolumeElsewhere(to: "3")
      #expect(observer.results.count == 20)
      #expect(notices.count == 1)
      #expect(context.invariantViolations() == [])
    }
    #expect(shelves[3].volumes.count == 2)
  }

  @Test func `looks at no model that is gone, or has let go of its lists`() throws {
    let observer = try observe()
    var shelf: Shelf? = Shelf("last")
    context.insert(try #require(shelf))
    shelf?.volumes.append(Volume("a"))
    try context.save()
    #expect(lookedAt == 1)
    shelf?.volumes.removeAll()
    context.rollback()
    #expect(lookedAt == 0)
    #expect(shelf?.volumes.count == 1)
    #expect(lookedAt == 1)
    if let shelf { context.delete(shelf) }
    try context.save()
    shelf = nil
    #expect(lookedAt == 0)
    #expect(observer.results.count == 20)
    #expect(context.invariantViolations() == [])
  }
}
