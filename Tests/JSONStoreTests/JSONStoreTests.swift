import JSONStore
import SwiftData
import Testing

@Suite struct `A store in one JSON file` {
  let folder: TemporaryFolder
  let file: URL

  init() throws {
    folder = try TemporaryFolder()
    file = folder.url.appending(path: "journeys.json")
  }

  func open() throws -> ModelContainer {
    try ModelContainer(
      for: Schema([Journey.self]),
      configurations: [JSONStoreConfiguration(name: "journeys", url: file)]
    )
  }

  @Test func `gives back after another opening what was saved`() throws {
    let context = ModelContext(try open())
    let journey = Journey(name: "Spring", destination: "Lisbon", startDate: .day(100))
    journey.wishes = [Wish("tram 28"), Wish("custard tarts")]
    context.insert(journey)
    context.insert(Journey(name: "Winter", destination: "Oslo", startDate: .day(10)))
    try context.save()
    journey.wishes[0].isDone = true
    try context.save()

    let reopened = ModelContext(try open())
    let found = try reopened.fetch(
      FetchDescriptor<Journey>(
        predicate: #Predicate { $0.destination == "Lisbon" },
        sortBy: [SortDescriptor(\.startDate)]
      )
    )
    #expect(found.map(\.name) == ["Spring"])
    #expect(found.first?.startDate == .day(100))
    #expect(found.first?.wishes.map(\.title) == ["tram 28", "custard tarts"])
    #expect(found.first?.wishes.map(\.isDone) == [true, false])
    #expect(try reopened.fetchCount(FetchDescriptor<Journey>()) == 2)
  }

  @Test func `filters, sorts and cuts through the context`() throws {
    let context = ModelContext(try open())
    for day in 1...20 {
      context.insert(Journey(name: "\(day)", destination: "Rome", startDate: .day(day)))
    }
    try context.save()
    var descriptor = FetchDescriptor<Journey>(
      predicate: #Predicate { $0.destination == "Rome" },
      sortBy: [SortDescriptor(\.startDate, order: .reverse)]
    )
    descriptor.fetchLimit = 3
    descriptor.fetchOffset = 1
    let other = ModelContext(context.container)
    #expect(try other.fetch(descriptor).map(\.name) == ["19", "18", "17"])
    #expect(try other.fetchCount(descriptor) == 3)
  }

  @Test(arguments: [nil, 0, -1], [nil, 0, -2])
  func `takes no limit and no offset from numbers that are none`(limit: Int?, offset: Int?) throws {
    let context = ModelContext(try open())
    for day in 1...3 {
      context.insert(Journey(name: "\(day)", destination: "Rome", startDate: .day(day)))
    }
    try context.save()
    var descriptor = FetchDescriptor<Journey>()
    descriptor.fetchLimit = limit
    descriptor.fetchOffset = offset
    #expect(try context.fetch(descriptor).count == 3)
    #expect(try context.fetchCount(descriptor) == 3)
    #expect(try context.fetchIdentifiers(descriptor).count == 3)
    var visited = 0
    try context.enumerate(descriptor) { _ in visited += 1 }
    #expect(visited == 3)
  }

  @Test func `leaves filter and sort to the context, as a plan says`() throws {
    let context = ModelContext(try open())
    for day in 1...20 {
      context.insert(Journey(name: "\(day)", destination: "Rome", startDate: .day(day)))
    }
    try context.save()
    let other = ModelContext(context.container)
    let plan = try other.explain(
      FetchDescriptor<Journey>(
        predicate: #Predicate { $0.name == "7" },
        sortBy: [SortDescriptor(\.startDate)]
      )
    )
    #expect(plan.store == "JSONStore")
    #expect(plan.accesses.isEmpty)
    #expect(plan.filteredBy == .context)
    #expect(plan.sortedBy == .context)
    #expect(plan.handedOverCount == 20)
    #expect(plan.resultCount == 1)
    #expect(plan.steps.first?.kind == .ask)
    #expect(plan.description.contains("JSONStore answered with 20 models"))
    #expect(plan.description.contains("tested the predicate on objects, sorted objects"))
  }

  @Test func `forgets what is deleted, with its parts`() throws {
    let context = ModelContext(try open())
    let journey = Journey(name: "Spring", destination: "Lisbon", startDate: .day(100))
    journey.wishes = [Wish("tram 28")]
    context.insert(journey)
    try context.save()
    context.delete(journey)
    try context.save()
    let reopened = ModelContext(try open())
    #expect(try reopened.fetchCount(FetchDescriptor<Journey>()) == 0)
    #expect(try reopened.fetchCount(FetchDescriptor<Wish>()) == 0)
  }

  @Test func `says so when the file is not an archive, and leaves it alone`() throws {
    try Data("{\"not\": \"ours\"}".utf8).write(to: file)
    let context = ModelContext(try open())
    #expect(throws: JSONStoreError.self) { try context.fetch(FetchDescriptor<Journey>()) }
    context.insert(Journey(name: "Spring", destination: "Lisbon", startDate: .day(100)))
    #expect(throws: JSONStoreError.self) { try context.save() }
    #expect(try Data(contentsOf: file) == Data("{\"not\": \"ours\"}".utf8))
  }
}
