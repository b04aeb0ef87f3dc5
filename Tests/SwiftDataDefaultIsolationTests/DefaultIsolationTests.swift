import Foundation
import SwiftData
import Testing

@Suite struct `Models in a module that is the main actor's by default` {
  private func container() throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: WorkshopSchema.self),
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
  }

  @Test func `are fetched by predicates and sort descriptors`() throws {
    let container = try container()
    let planner = Planner(container)
    let workshop = Workshop(name: "Left")
    workshop.address = Address(street: "Rua Augusta", city: "Lisboa")
    container.mainContext.insert(workshop)
    planner.add("Paint", hours: 3, to: workshop)
    planner.add("Sweep", hours: 1, to: workshop)
    planner.add("Weld", hours: 5, to: workshop)
    container.mainContext.insert(Repair(part: "Wheel"))
    try container.mainContext.save()
    #expect(planner.error == nil)
    #expect(try planner.openJobs(longerThan: 2).map(\.title) == ["Weld", "Paint"])
    #expect(try planner.jobs(of: workshop, containing: "E").map(\.title) == ["Sweep", "Weld"])
    planner.finish(workshop.jobs[0])
    #expect(try planner.openJobs(longerThan: 2).map(\.title) == ["Weld"])
    #expect(try container.mainContext.fetch(Workshop.unnamed).isEmpty)
    let repairs = try container.mainContext.fetch(FetchDescriptor<Repair>())
    #expect(repairs.map(\.part) == ["Wheel"])
    let read = try ModelContext(container).fetch(FetchDescriptor<Workshop>())
    #expect(read.first?.address?.city == "Lisboa")
  }

  @Test func `are seen by observers`() async throws {
    let container = try container()
    let workshop = Workshop(name: "Right")
    container.mainContext.insert(workshop)
    await confirmation { changed in
      withObservationTracking {
        _ = workshop.name
      } onChange: {
        changed()
      }
      workshop.name = "Wrong"
    }
  }

  @Test func `are worked on by a model actor meanwhile`() async throws {
    let container = try container()
    let workshop = Workshop(name: "Behind")
    container.mainContext.insert(workshop)
    try container.mainContext.save()
    let importer = Importer(modelContainer: container)
    let added = try await importer.add(["One", "Two"], to: workshop.persistentModelID)
    #expect(added.count == 2)
    #expect(try await importer.count(titled: "One") == 1)
    #expect(try await importer.hours() == 0)
    let found = try container.mainContext.fetch(
      FetchDescriptor<Job>(sortBy: [SortDescriptor(\.title)])
    )
    #expect(found.map(\.title) == ["One", "Two"])
    #expect(found.allSatisfy { $0.workshop === workshop })
    #expect(Set(found.map(\.persistentModelID)) == Set(added))
  }

  @Test(.timeLimit(.minutes(30)))
  func `are listed by a view model that observes them`() async throws {
    let container = try container()
    let board = try Board(container)
    var drawn: [String] = []
    board.onChange = { drawn.append(board.lines.joined(separator: ", ")) }
    board.draw()
    let workshop = Workshop(name: "Left")
    container.mainContext.insert(workshop)
    let weld = Job(title: "Weld", priority: .high)
    weld.workshop = workshop
    container.mainContext.insert(weld)
    await Task {}.value
    let importer = Importer(modelContainer: container)
    try container.mainContext.save()
    _ = try await importer.add(["Paint"], to: workshop.persistentModelID)
    while drawn.last != "Paint, Weld", !Task.isCancelled { await Task.yield() }
    weld.isDone = true
    while drawn.last != "Paint", !Task.isCancelled { await Task.yield() }
    #expect(drawn == ["", "Weld", "Paint, Weld", "Paint"])
  }

  @Test func `may state a protocol of the app's`() throws {
    let container = try ModelContainer(
      for: Delivery.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = container.mainContext
    context.insert(Delivery(load: "sand"))
    context.insert(Delivery(load: "lime"))
    try context.save()
    let found = try #require(try Delivery.unsynced(in: context).first { $0.load == "lime" })
    found.syncedAt = .now
    try context.save()
    #expect(try Delivery.unsynced(in: ModelContext(container)).map(\.load) == ["sand"])
  }
}
