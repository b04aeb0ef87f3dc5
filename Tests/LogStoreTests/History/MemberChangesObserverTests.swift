import Foundation
import LogStore
import SwiftData
import Testing

enum Anchorage {
  @Model class Dock {
    var name: String
    @Relationship(inverse: \Boat.dock) var boats: [Boat] = []
    @Relationship(inverse: \Raft.dock) var rafts: [Raft] = []

    init(_ name: String) { self.name = name }
  }

  @Model final class DryDock: Dock {
    var depth = 0

    override init(_ name: String) { super.init(name) }
  }

  @Model final class Boat {
    var name: String
    var retired: Date?
    var dock: Dock?

    init(_ name: String) { self.name = name }
  }

  @Model final class Raft {
    @Relationship(deleteRule: .noAction) var dock: Dock?

    init(at dock: Dock?) { self.dock = dock }
  }

  @Model final class Crane {
    var load = 0

    init() {}
  }
}

@Suite struct `An observer of the owners of lists` {
  /// What changes the members of a list.
  enum Change: CaseIterable {
    case insertion, move, deletion
    case batchInsert, batchUpdate, batchDelete, expiry
  }

  private typealias Boat = Anchorage.Boat
  private let folder: TemporaryFolder
  private let container: ModelContainer
  private let context: ModelContext
  private let dock = Anchorage.DryDock("dry")

  init() throws {
    folder = try TemporaryFolder()
    var configuration = LogStoreConfiguration(
      url: folder.url.appending(path: "anchorage.store"),
      expirations: [.init(Anchorage.Boat.self, after: .zero, since: \.retired)]
    )
    configuration.expirationInterval = nil
    container = try ModelContainer(
      for: Schema([
        Anchorage.Dock.self, Anchorage.DryDock.self, Boat.self, Anchorage.Raft.self,
        Anchorage.Crane.self,
      ]),
      configurations: [configuration]
    )
    context = ModelContext(container)
    context.insert(dock)
    for name in ["in", "out"] {
      let boat = Boat(name)
      boat.retired = .distantPast
      context.insert(boat)
      if name == "in" { boat.dock = dock }
    }
    context.insert(Anchorage.Crane())
    try context.save()
  }

  private func boat(_ name: String) throws -> Boat {
    let found = try context.fetch(FetchDescriptor<Boat>(predicate: #Predicate { $0.name == name }))
    return try #require(found.first)
  }

  private func make(_ change: Change) throws {
    switch change {
    case .insertion:
      let boat = Boat("new")
      context.insert(boat)
      boat.dock = dock
      try context.save()
    case .move:
      try boat("out").dock = dock
      try context.save()
    case .deletion:
      context.delete(try boat("in"))
      try context.save()
    case .batchInsert:
      try context.batchInsert(Boat.self, \.name, \.dock, rows: [("new", dock as Anchorage.Dock?)])
    case .batchUpdate:
      try context.batchUpdate(
        Boat.self,
        where: #Predicate { $0.name == "out" },
        .set(\.dock, to: dock)
      )
    case .batchDelete:
      try context.batchDelete(Boat.self, where: #Predicate { $0.name == "in" })
    case .expiry:
      try container.expire()
    }
  }

  @Test(arguments: Change.allCases)
  func `counts what the history tells of them`(change: Change) throws {
    let models: [any PersistentModel.Type] = [
      Anchorage.Dock.self, Anchorage.DryDock.self, Boat.self, Anchorage.Crane.self,
    ]
    let observers = try models.map {
      try HistoryObserver(observedModels: [$0], modelContainer: container)
    }
    let before = try context.fetchHistory(HistoryDescriptor<Transaction>()).count
    try make(change)
    let told = try context.fetchHistory(HistoryDescriptor<Transaction>()).dropFirst(before)
    #expect(told.count == 1)
    #expect(
      Set(told.flatMap(\.changes).map(\.changedPersistentIdentifier.entityName))
        == ["DryDock", "Boat"]
    )
    #expect(observers.map(\.eventCounter) == [1, 1, 1, 0])
  }

  @Test(arguments: [false, true])
  func `counts a member that is deleted without an action on its owner`(isMoored: Bool) throws {
    context.insert(Anchorage.Raft(at: isMoored ? dock : nil))
    try context.save()
    // In a context that has no list in memory.
    let context = ModelContext(container)
    let raft = try #require(try context.fetch(FetchDescriptor<Anchorage.Raft>()).first)
    let models: [any PersistentModel.Type] = [
      Anchorage.Dock.self, Anchorage.DryDock.self, Anchorage.Raft.self, Boat.self,
    ]
    let observers = try models.map {
      try HistoryObserver(observedModels: [$0], modelContainer: container)
    }
    let before = try context.fetchHistory(HistoryDescriptor<Transaction>()).count
    context.delete(raft)
    try context.save()
    let told = try context.fetchHistory(HistoryDescriptor<Transaction>()).dropFirst(before)
    #expect(
      Set(told.flatMap(\.changes).map(\.changedPersistentIdentifier.entityName))
        == (isMoored ? ["DryDock", "Raft"] : ["Raft"])
    )
    #expect(observers.map(\.eventCounter) == (isMoored ? [1, 1, 1, 0] : [0, 0, 1, 0]))
  }
}
