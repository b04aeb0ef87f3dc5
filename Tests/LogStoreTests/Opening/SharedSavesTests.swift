import Foundation
import LogStore
import Observation
import SwiftData
import Testing

@Model private final class Beacon {
  @Attribute(.unique) var name: String
  var power: Int
  @Relationship(inverse: \Keeper.beacons) var keeper: Keeper?

  init(_ name: String, power: Int = 0) {
    self.name = name
    self.power = power
  }
}

@Model private final class Keeper {
  var name: String
  var beacons: [Beacon] = []

  init(_ name: String) { self.name = name }
}

/// A model of one of the containers only.
@Model private final class Ferry {
  var name: String

  init(_ name: String) { self.name = name }
}

/// One process opens a store in two containers.
@MainActor @Suite struct `Saves through another container of the process` {
  private let folder: TemporaryFolder
  private let container: ModelContainer
  private let other: ModelContext

  init() throws {
    folder = try TemporaryFolder()
    container = try Self.open(in: folder, Beacon.self, Keeper.self, Ferry.self)
    other = ModelContext(try Self.open(in: folder, Beacon.self, Keeper.self))
  }

  private static func open(
    in folder: TemporaryFolder,
    _ models: any PersistentModel.Type...
  ) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(models),
      configurations: LogStoreConfiguration(
        url: folder.url.appending(path: "store"),
        durability: .relaxed
      )
    )
  }

  private func beacons() -> FetchDescriptor<Beacon> {
    FetchDescriptor(sortBy: [SortDescriptor(\.name)])
  }

  @Test func `reach contexts that merge changes, the main one among them`() throws {
    let beacon = Beacon("a")
    other.insert(beacon)
    try other.save()
    let merging = ModelContext(container)
    merging.automaticallyMergesChanges = true
    let contexts = [merging, container.mainContext]
    let held = try contexts.map { try #require(try $0.fetch(beacons()).first) }
    #expect(held.allSatisfy { $0.power == 0 && $0.keeper == nil })
    let keeper = Keeper("k")
    beacon.power = 5
    beacon.keeper = keeper
    try other.save()
    for context in contexts { context.processPendingChanges() }
    #expect(held.allSatisfy { $0.power == 5 && $0.keeper?.name == "k" })
    #expect(held.allSatisfy { $0.keeper?.beacons.first === $0 })
    try other.batchUpdate(Beacon.self, .set(\.power, to: 6))
    for context in contexts { context.processPendingChanges() }
    #expect(held.allSatisfy { $0.power == 6 })
    other.delete(beacon)
    try other.save()
    for context in contexts { context.processPendingChanges() }
    #expect(held.allSatisfy { $0.isDeleted || $0.modelContext == nil })
    #expect(try contexts.allSatisfy { try $0.fetchCount(beacons()) == 0 })
  }

  @Test func `reach observers of results and of history, and back`() throws {
    let results = try ResultsObserver(
      sortBy: [SortDescriptor(\Beacon.name)],
      modelContext: container.mainContext
    )
    let history = try HistoryObserver(
      observedModels: [Beacon.self],
      modelContainer: container
    )
    let back = try HistoryObserver(modelContainer: other.container)
    #expect(results.results.isEmpty)
    other.insert(Beacon("b"))
    try other.save()
    #expect(results.results.map(\.name) == ["b"])
    try other.batchInsert(Beacon.self, \.name, \.power, rows: [("a", 1), ("c", 3)])
    #expect(results.results.map(\.name) == ["a", "b", "c"])
    try other.batchDelete(Beacon.self, where: #Predicate { $0.name == "b" })
    #expect(results.results.map(\.name) == ["a", "c"])
    #expect(history.eventCounter == 3)
    #expect(back.eventCounter == 3)
    // A class that the other container does not have.
    let own = ModelContext(container)
    own.insert(Ferry("f"))
    own.insert(Beacon("d"))
    try own.save()
    #expect(results.results.map(\.name) == ["a", "c", "d"])
    #expect(history.eventCounter == 4)
    #expect(back.eventCounter == 4)
  }

  @Test func `pass over containers that were closed or released`() async throws {
    do {
      let released = try Self.open(in: folder, Beacon.self, Keeper.self)
      let context = ModelContext(released)
      context.automaticallyMergesChanges = true
      _ = try context.fetch(beacons())
    }
    let closed = try Self.open(in: folder, Beacon.self, Keeper.self)
    let context = ModelContext(closed)
    context.automaticallyMergesChanges = true
    let beacon = Beacon("a")
    context.insert(beacon)
    try context.save()
    try await closed.close()
    let found = try #require(try other.fetch(beacons()).first)
    found.power = 9
    try other.save()
    #expect(try container.mainContext.fetch(beacons()).map(\.power) == [9])
  }
}
