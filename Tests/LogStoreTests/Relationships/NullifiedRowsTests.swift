import Foundation
import LogEngineTestSupport
import SwiftData
import Testing

@testable import LogStore
@testable import ModelRuntime

@Suite struct `Members that lose a deleted owner` {
  let towns: Towns

  init() throws { towns = try Towns() }

  @Test func `stay rows where the context has no objects of them`() throws {
    let context = try towns.context()
    context.delete(try #require(try context.town(1)))
    #expect(context.hasChanges)
    #expect(context.maps[0].count == 1)
    try context.save()
    #expect(context.maps[0].count == 0)
    #expect(!context.hasChanges)
    #expect(
      try towns.stored() == [
        "dweller 10 of -1, -1", "dweller 11 of -1, -1", "dweller 12 of -1, -1",
        "post 10 of -1", "post 11 of -1",
      ]
    )
  }

  @Test func `are among the changed models when the context is asked for them`() throws {
    let context = try towns.context()
    let town = try #require(try context.town(1))
    context.delete(town)
    let changed = context.changedModelsArray
    #expect(changed.count == 5)
    #expect(changed.compactMap { ($0 as? Dweller)?.key }.sorted() == [10, 11, 12])
    #expect(context.deletedModelsArray.map(ObjectIdentifier.init) == [ObjectIdentifier(town)])
    try context.save()
    #expect(try towns.stored().count == 5)
  }

  @Test func `have no owner for a fetch before the save`() throws {
    let context = try towns.context()
    context.delete(try #require(try context.town(1)))
    let dwellers = FetchDescriptor<Dweller>(predicate: #Predicate { $0.town == nil })
    #expect(try context.fetchCount(dwellers) == 3)
    #expect(try context.fetch(FetchDescriptor<Post>()).allSatisfy { $0.town == nil })
  }

  @Test func `have their owner again after a rollback`() throws {
    let context = try towns.context()
    let before = try towns.stored()
    context.delete(try #require(try context.town(1)))
    context.rollback()
    #expect(!context.hasChanges)
    #expect(try context.texts() == before)
    try context.save()
    #expect(try towns.stored() == before)
  }

  @Test(arguments: [false, true])
  func `stay without it if it is inserted again`(areLookedAt: Bool) throws {
    let context = try towns.context()
    let town = try #require(try context.town(1))
    context.delete(town)
    if areLookedAt { #expect(context.changedModelsArray.count == 5) }
    context.insert(town)
    #expect(town.dwellers.isEmpty)
    town.posts = try context.fetch(FetchDescriptor<Post>()).filter { $0.key == 10 }
    try context.save()
    #expect(
      try towns.stored() == [
        "dweller 10 of -1, -1", "dweller 11 of -1, -1", "dweller 12 of -1, -1",
        "post 10 of 1", "post 11 of -1", "town 1: [] [10]",
      ]
    )
  }

  @Test func `keep an owner that another save gave them before`() throws {
    _ = try towns.context(town: 2)
    let context = try towns.context()
    context.delete(try #require(try context.town(1)))
    try towns.elsewhere { try $0.dweller(11)?.town = $0.town(2) }
    try context.save()
    #expect(
      try towns.stored().filter { $0.contains("dweller 1") } == [
        "dweller 10 of -1, -1", "dweller 11 of 2, -1", "dweller 12 of -1, -1",
      ]
    )
  }

  @Test func `keep what another save changed of them`() throws {
    let context = try towns.context()
    context.delete(try #require(try context.town(1)))
    try towns.elsewhere { other in
      try other.dweller(10)?.name = "renamed"
      if let dweller = try other.dweller(12) { other.delete(dweller) }
    }
    try context.save()
    #expect(
      try towns.stored() == [
        "dweller 11 of -1, -1", "post 10 of -1", "post 11 of -1", "renamed of -1, -1",
      ]
    )
  }

  @Test func `that another save gave it before lose it, too`() throws {
    let context = try towns.context()
    context.delete(try #require(try context.town(1)))
    try towns.elsewhere { other in
      let new = Dweller(99)
      other.insert(new)
      new.town = try other.town(1)
    }
    try context.save()
    #expect(try towns.stored().contains("dweller 99 of -1, -1"))
  }

  @Test func `lose two owners in one save`() throws {
    let context = try towns.context()
    try towns.elsewhere { other in
      let lodge = Lodge(1)
      other.insert(lodge)
      lodge.members = try other.fetch(FetchDescriptor<Dweller>()).filter { $0.key > 10 }
    }
    context.delete(try #require(try context.lodge(1)))
    context.delete(try #require(try context.town(1)))
    try context.save()
    #expect(
      try towns.stored().filter { $0.contains("dweller") }.allSatisfy { $0.hasSuffix("-1, -1") }
    )
  }

  @Test func `are named in the notice of the save and in the history`() throws {
    let context = try towns.context()
    context.delete(try #require(try context.town(1)))
    nonisolated(unsafe) var told: [AnyHashable: Any] = [:]
    let observer = NotificationCenter.default.addObserver(
      forName: ModelContext.didSave,
      object: context,
      queue: nil
    ) { told = $0.userInfo ?? [:] }
    defer { NotificationCenter.default.removeObserver(observer) }
    let posts = try HistoryObserver(observedModels: [Post.self], modelContainer: towns.container)
    try context.save()
    let key = ModelContext.NotificationKey.updatedIdentifiers
    let updated = told[key] as? [PersistentIdentifier] ?? []
    #expect(updated.map(\.entityName).sorted() == ["Dweller", "Dweller", "Mayor", "Post", "Post"])
    #expect(posts.eventCounter == 1)
    let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    let attributes = try #require(history.last).changes.compactMap { change -> [AnyKeyPath]? in
      guard case .update(let update as DefaultHistoryUpdate<Post>) = change else { return nil }
      return update.updatedAttributes
    }
    #expect(attributes == [[\Post.town], [\Post.town]])
  }

  @Test func `are taken over by contexts that merge`() throws {
    let context = try towns.context()
    let other = ModelContext(towns.container)
    other.automaticallyMergesChanges = true
    let dwellers = try other.fetch(FetchDescriptor<Dweller>())
    #expect(dwellers.allSatisfy { $0.town?.key == 1 })
    context.delete(try #require(try context.town(1)))
    try context.save()
    other.processPendingChanges()
    #expect(dwellers.allSatisfy { $0.town == nil })
  }

  @Test func `lose an owner of a packed store, which compaction has moved`() throws {
    let folder = try TemporaryFolder()
    let schema = Schema([Town.self, Lodge.self, Dweller.self, Mayor.self, Post.self])
    var configuration = LogStoreConfiguration(schema: schema, url: folder.url)
    configuration.compaction = LogStoreConfiguration.Compaction(.onDemand)
    let container = try ModelContainer(for: schema, configurations: [configuration])
    let context = ModelContext(container)
    for key in 1...2 {
      let town = Town(key)
      context.insert(town)
      town.dwellers = (0..<300).map { Dweller(1000 * key + $0) }
    }
    try context.save()
    try container.stores(of: LogStore.self)[0].compact()
    let fresh = ModelContext(container)
    fresh.delete(try #require(try fresh.town(1)))
    try fresh.save()
    let homeless = FetchDescriptor<Dweller>(predicate: #Predicate { $0.town == nil })
    #expect(try ModelContext(container).fetchCount(homeless) == 300)
    #expect(try ModelContext(container).town(2)?.dwellers.count == 300)
  }
}

/// Two contexts do the same by chance: one makes objects of whatever it changes, as its undo manager wants to have them.
@Suite struct `Members that lose a deleted owner, by chance` {
  @Test(arguments: 1...60 as ClosedRange<UInt64>)
  func `are left as they would be as objects`(seed: UInt64) throws {
    let pair = try [true, false].map { try Twin(hasObjects: $0) }
    var chance = SeededGenerator(seed: seed)
    for step in 0..<40 {
      let action = Int.random(in: 0..<14, using: &chance)
      let (a, b) = (Int.random(in: 0..<4, using: &chance), Int.random(in: 0..<4, using: &chance))
      for twin in pair { try twin.act(action, a, b, step) }
      for twin in pair { twin.context.checkInvariants("seed \(seed), step \(step):") }
      // A look makes objects of the rows.
      if action < 9 || pair[0].mayBeMoved { continue }
      let (objects, rows) = (try pair[0].look(), try pair[1].look())
      let difference = Set(objects).symmetricDifference(rows)
      #expect(
        objects == rows,
        "seed \(seed), step \(step), action \(action): \(difference.sorted())"
      )
    }
    for twin in pair { try twin.context.save() }
    #expect(try pair[0].towns.stored() == pair[1].towns.stored(), "seed \(seed)")
    for twin in pair { twin.context.checkInvariants("seed \(seed)") }
  }

  private final class Twin {
    let towns: Towns
    let context: ModelContext
    private var held: [Dweller] = []
    /// Whether others may have given a dweller another town since this context took away its town: if it has an object, the
    /// context may learn it with the save.
    private(set) var mayBeMoved = false

    init(hasObjects: Bool) throws {
      towns = try Towns()
      for key in 0..<4 {
        _ = try towns.context(town: key)
        try towns.elsewhere { other in
          let lodge = Lodge(key)
          other.insert(lodge)
          lodge.members = try other.town(key)?.dwellers.dropLast() ?? []
        }
      }
      context = ModelContext(towns.container)
      if hasObjects { context.undoManager = UndoManager() }
    }

    func act(_ action: Int, _ a: Int, _ b: Int, _ step: Int) throws {
      switch action {
      case 0, 1: if let town = try context.town(a) { context.delete(town) }
      case 2: if let lodge = try context.lodge(a) { context.delete(lodge) }
      case 3:
        // Without a fetch in between.
        for town in try context.fetch(FetchDescriptor<Town>()).prefix(2) { context.delete(town) }
      case 4:
        let town = Town(a)
        context.insert(town)
        town.dwellers = (0..<b).map { Dweller(1000 * (step + 1) + $0) }
        town.posts = [Post(1000 * (step + 1))]
        if b.isMultiple(of: 2) { try context.save() }
      case 5:
        try context.save()
        mayBeMoved = false
      case 6:
        try towns.elsewhere { other in
          let dweller = Dweller(1000 * (step + 1))
          other.insert(dweller)
          dweller.town = try other.town(a)
          dweller.lodge = try other.lodge(b)
        }
      case 7:
        try towns.elsewhere { other in
          let dwellers = try other.fetch(FetchDescriptor<Dweller>(sortBy: [SortDescriptor(\.key)]))
          guard let dweller = dwellers.dropFirst(3 * a).first else { return }
          switch b {
          case 0: other.delete(dweller)
          case 1: dweller.name += "'"
          default:
            dweller.town = try other.town(b)
            mayBeMoved = true
          }
        }
      case 8:
        try towns.elsewhere { other in
          if let town = try other.town(a), b == 0 { other.delete(town) }
        }
      case 9:
        context.rollback()
        mayBeMoved = false
      case 10: if let town = try context.town(a) { held += town.dwellers.prefix(b) }
      case 11:
        let dwellers = try context.fetch(FetchDescriptor<Dweller>(sortBy: [SortDescriptor(\.key)]))
        for dweller in dwellers.dropFirst(2 * a).prefix(b) {
          dweller.town = try context.town(b)
          dweller.lodge = try context.lodge(a)
        }
      case 12:
        for model in context.deletedModelsArray.compactMap({ $0 as? Town })
          .sorted(by: { $0.key < $1.key }).prefix(b)
        { context.insert(model) }
      default: break
      }
    }

    func look() throws -> [String] {
      try context.texts()
        + context.deletedModelsArray.map { "deleted \(type(of: $0))" }.sorted()
        + ["\(context.hasChanges)"]
    }
  }
}
