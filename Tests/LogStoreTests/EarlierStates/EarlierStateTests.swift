import LogStore
import SwiftData
import Testing

@Suite struct `Reading a store as it was` {
  @Test func `shows the values, the lists and the counts of then`() throws {
    let store = try HistoryStore()
    let context = store.context()
    let voyage = Voyage("Riga", budget: 1)
    voyage.cabins = [Cabin(1), Cabin(2)]
    context.insert(voyage)
    try context.save()
    let token = try #require(try store.newestToken())
    voyage.name = "Oslo"
    voyage.cabins.removeFirst()
    voyage.cabins.append(Cabin(3))
    context.insert(Voyage("Genoa"))
    try context.save()

    let past = try ModelContext(store.container, asOf: token)
    #expect(try past.fetchCount(FetchDescriptor<Voyage>()) == 1)
    let then = try #require(try past.fetch(FetchDescriptor<Voyage>()).first)
    #expect(then.persistentModelID == voyage.persistentModelID)
    #expect(then.name == "Riga")
    #expect(then.cabins.map(\.number) == [1, 2])
    let byName = FetchDescriptor<Voyage>(predicate: #Predicate { $0.name == "Riga" })
    #expect(try past.fetch(byName).map(\.budget) == [1])
    #expect(
      try past.fetchCount(
        FetchDescriptor<Cabin>(predicate: #Predicate { $0.voyage?.name == "Riga" })
      ) == 2
    )
    #expect(try past.aggregate(FetchDescriptor<Cabin>(), .sum(\.number)) == 3)
    #expect(voyage.name == "Oslo")
    #expect(voyage.cabins.map(\.number) == [2, 3])
  }

  @Test func `has models again that were deleted since, with their large values`() throws {
    let folder = try TemporaryFolder()
    let container = try ModelContainer(
      for: Archived.self,
      configurations: LogStoreConfiguration(url: folder.url.appending(path: "archive.store"))
    )
    let context = ModelContext(container)
    let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
    let archived = Archived("kept", bytes)
    context.insert(archived)
    try context.save()
    let pinned = try ModelContext(container, asOf: .now)
    archived.bytes = Data([1])
    try context.save()
    context.delete(archived)
    try context.save()
    for store in container.stores(of: LogStore.self) { try store.compact() }
    let then = try #require(try pinned.fetch(FetchDescriptor<Archived>()).first)
    #expect(then.title == "kept")
    #expect(then.bytes == bytes)
    #expect(try context.fetchCount(FetchDescriptor<Archived>()) == 0)
  }

  @Test func `says that a large value is gone, not that the store is damaged`() throws {
    let folder = try TemporaryFolder()
    func open() throws -> ModelContainer {
      try ModelContainer(
        for: Archived.self,
        configurations: LogStoreConfiguration(url: folder.url.appending(path: "archive.store"))
      )
    }
    func saveAndReplace() throws -> DefaultHistoryToken {
      let context = ModelContext(try open())
      let bytes = Data(repeating: 1, count: 300_000)
      let (replaced, deleted) = (Archived("replaced", bytes), Archived("deleted", bytes))
      for archived in [replaced, deleted] { context.insert(archived) }
      try context.save()
      let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
      replaced.bytes = Data([1])
      context.delete(deleted)
      try context.save()
      return try #require(history.last?.token)
    }
    // Opening removes files that a store no longer needs, if closing has not.
    let token = try saveAndReplace()
    let container = try open()
    for title in ["replaced", "deleted"] {
      let then = try ModelContext(container, asOf: token)
      let named = FetchDescriptor<Archived>(predicate: #Predicate { $0.title == title })
      let archived = try #require(try then.fetch(named).first)
      _ = archived.bytes
      #expect(throws: SwiftDataError.historyTokenExpired) { try then.fetch(named) }
    }
  }

  @Test func `keeps its state while others save and compact`() throws {
    let store = try HistoryStore(.init(.onDemand, historyByteCount: 0))
    let context = store.context()
    for number in 0..<500 { context.insert(Voyage("V\(number)", budget: Double(number))) }
    try context.save()
    let pinned = try ModelContext(store.container, asOf: .now)
    for round in 1...3 {
      for voyage in try context.fetch(FetchDescriptor<Voyage>()) { voyage.budget += 1000 }
      if round == 2 { try context.delete(model: Voyage.self, where: #Predicate { $0.name > "V3" }) }
      try context.save()
      for store in store.container.stores(of: LogStore.self) { try store.compact() }
      #expect(try pinned.fetchCount(FetchDescriptor<Voyage>()) == 500)
      #expect(try pinned.aggregate(FetchDescriptor<Voyage>(), .sum(\.budget)) == 499 * 250)
    }
  }

  @Test func `takes a time for the last save before it`() throws {
    let store = try HistoryStore()
    let context = store.context()
    #expect(
      try ModelContext(store.container, asOf: .distantPast).fetchCount(FetchDescriptor<Voyage>())
        == 0
    )
    var times: [Date] = []
    for number in 1...3 {
      context.insert(Voyage("V\(number)"))
      try context.save()
      times.append(try #require(try store.transactions().last?.timestamp))
    }
    for (number, time) in times.enumerated() {
      let past = try ModelContext(store.container, asOf: time)
      // Saves of one microsecond are one state.
      let last = times.lastIndex(of: time) ?? number
      #expect(try past.fetchCount(FetchDescriptor<Voyage>()) == last + 1)
    }
    let future = try ModelContext(store.container, asOf: .distantFuture)
    #expect(try future.fetchCount(FetchDescriptor<Voyage>()) == 3)
  }

  @Test func `moves on, and back, with the objects it has`() throws {
    let store = try HistoryStore()
    let context = store.context()
    let voyage = Voyage("Riga")
    context.insert(voyage)
    try context.save()
    let first = try #require(try store.newestToken())
    voyage.name = "Oslo"
    let second = Voyage("Genoa")
    context.insert(second)
    try context.save()
    let token = try #require(try store.newestToken())
    context.delete(voyage)
    try context.save()

    let past = try ModelContext(store.container, asOf: token)
    let order = [SortDescriptor(\Voyage.name)]
    let shown = try past.fetch(FetchDescriptor<Voyage>(sortBy: order))
    #expect(shown.map(\.name) == ["Genoa", "Oslo"])
    try past.show(asOf: first)
    #expect(shown[1].name == "Riga")
    #expect(shown[0].isDeleted || shown[0].name.isEmpty)
    #expect(try past.fetch(FetchDescriptor<Voyage>()).map(\.name) == ["Riga"])
    try past.show(asOf: token)
    #expect(try past.fetch(FetchDescriptor<Voyage>(sortBy: order)) == shown)
    #expect(shown.map(\.name) == ["Genoa", "Oslo"])
    try past.show(asOf: .now)
    #expect(try past.fetch(FetchDescriptor<Voyage>()).map(\.name) == ["Genoa"])
  }

  @Test func `moves along in other contexts, with models that were away`() throws {
    let store = try HistoryStore()
    let context = store.context()
    context.insert(Voyage("Riga"))
    try context.save()
    let token = try #require(try store.newestToken())
    context.insert(Voyage("Oslo"))
    try context.save()
    let past = try store.container.asOf(.now)
    let (first, second) = (ModelContext(past), ModelContext(past))
    second.automaticallyMergesChanges = true
    let byName = FetchDescriptor<Voyage>(sortBy: [SortDescriptor(\.name)])
    let oslo = try second.fetch(byName)[0]
    try first.show(asOf: token)
    second.processPendingChanges()
    #expect(oslo.name.isEmpty)
    try first.show(asOf: .now)
    second.processPendingChanges()
    #expect(oslo.name == "Oslo")
  }

  @Test func `moves several stores together, or none`() throws {
    let folder = try TemporaryFolder()
    func configuration(_ name: String, _ model: any PersistentModel.Type) -> LogStoreConfiguration {
      var configuration = LogStoreConfiguration(
        name,
        schema: Schema([model]),
        url: folder.url.appending(path: name)
      )
      configuration.compaction = .init(.onDemand, historyByteCount: name == "b" ? 0 : nil)
      return configuration
    }
    let container = try ModelContainer(
      for: Schema([Archived.self, Footnote.self]),
      configurations: [
        configuration("a", Archived.self), configuration("b", Footnote.self),
      ]
    )
    let context = ModelContext(container)
    let (archived, footnote) = (Archived("1", Data()), Footnote("1"))
    context.insert(archived)
    context.insert(footnote)
    try context.save()
    let token = try #require(
      try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last?.token
    )
    for number in 2...500 {
      archived.title = "\(number)"
      footnote.text = String(repeating: "\(number)", count: 200)
      try context.save()
    }
    for store in container.stores(of: LogStore.self) { try store.compact() }
    let past = try ModelContext(container, asOf: .now)
    let shown = try #require(try past.fetch(FetchDescriptor<Archived>()).first)
    #expect(throws: SwiftDataError.historyTokenExpired) { try past.show(asOf: token) }
    #expect(shown.title == "500")
    #expect(try past.fetch(FetchDescriptor<Archived>()).map(\.title) == ["500"])
    let named = FetchDescriptor<Archived>(predicate: #Predicate { $0.title == "500" })
    #expect(try past.fetchCount(named) == 1)
  }

  @Test func `lets observers of results move along`() throws {
    let store = try HistoryStore()
    let context = store.context()
    context.insert(Voyage("Riga"))
    try context.save()
    let token = try #require(try store.newestToken())
    context.insert(Voyage("Oslo"))
    try context.save()
    let past = try ModelContext(store.container, asOf: .now)
    let observer = try ResultsObserver(
      fetchDescriptor:
        FetchDescriptor<Voyage>(sortBy: [SortDescriptor(\.name)]),
      modelContext: past
    )
    #expect(observer.results.map(\.name) == ["Oslo", "Riga"])
    try past.show(asOf: token)
    #expect(observer.results.map(\.name) == ["Riga"])
  }

  @Test func `takes no changes`() throws {
    let store = try HistoryStore()
    let context = store.context()
    context.insert(Voyage("Riga"))
    try context.save()
    let past = try ModelContext(store.container, asOf: .now)
    past.insert(Voyage("Oslo"))
    let error = #expect(throws: SwiftDataError.modelValidationFailure) { try past.save() }
    #expect(error.map { "\($0)".contains("an earlier state") } == true)
    past.rollback()
    #expect(throws: SwiftDataError.modelValidationFailure) {
      try past.batchInsert(Voyage.self, \.name, \.budget, rows: [("Oslo", 1)])
    }
    #expect(throws: SwiftDataError.modelValidationFailure) {
      try past.batchDelete(Voyage.self)
    }
    #expect(throws: SwiftDataError.modelValidationFailure) {
      try past.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    }
    #expect(throws: LogStoreError.self) { try past.container.erase() }
    #expect(try context.fetch(FetchDescriptor<Voyage>()).map(\.name) == ["Riga"])
    #expect(throws: DataStoreError.unsupportedFeature) { try context.show(asOf: .now) }
  }

  @Test func `says when a state is no longer known, or not yet`() throws {
    let store = try HistoryStore(.init(.onDemand, historyByteCount: 0))
    let context = store.context()
    let voyage = Voyage("Riga")
    context.insert(voyage)
    try context.save()
    let token = try #require(try store.newestToken())
    let time = try #require(try store.transactions().last?.timestamp)
    for number in 0..<2000 {
      voyage.budget = Double(number)
      voyage.note = String(repeating: "n", count: 500)
      try context.save()
    }
    for store in store.container.stores(of: LogStore.self) { try store.compact() }
    #expect(throws: SwiftDataError.historyTokenExpired) { try store.container.asOf(token) }
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try store.container.asOf(time.addingTimeInterval(-1))
    }
    #expect(
      try ModelContext(store.container, asOf: .now).fetch(FetchDescriptor<Voyage>()).map(\.budget)
        == [1999]
    )

    let other = try HistoryStore()
    other.context("x").insert(Voyage("Oslo"))
    #expect(throws: SwiftDataError.historyTokenExpired) { try other.container.asOf(token) }
  }

  @Test func `keeps the stores open without the container of today, and ends with a closed one`()
    async throws
  {
    let store = try HistoryStore()
    store.context().insert(Voyage("unsaved"))
    let context = store.context()
    context.insert(Voyage("Riga"))
    try context.save()
    let past = try store.container.asOf(.now)
    let container = store.container
    try store.close()
    #expect(try ModelContext(past).fetchCount(FetchDescriptor<Voyage>()) == 1)
    try await container.close()
    #expect(throws: SwiftDataError.storeClosed) {
      try ModelContext(past).fetchCount(FetchDescriptor<Voyage>())
    }
  }

  @Test func `ends its history with its state`() throws {
    let store = try HistoryStore()
    let context = store.context()
    context.insert(Voyage("Riga"))
    try context.save()
    let past = try store.container.asOf(.now)
    context.insert(Voyage("Oslo"))
    try context.save()
    let told = try ModelContext(past).fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(told.map(\.told) == ["+Voyage"])
  }

  @Test func `works for the default store, in memory, and in what is only read`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "default.store")
    for configuration in [
      ModelConfiguration(url: url), ModelConfiguration(isStoredInMemoryOnly: true),
    ] {
      let container = try ModelContainer(for: Archived.self, configurations: configuration)
      let context = ModelContext(container)
      let archived = Archived("before", Data())
      context.insert(archived)
      try context.save()
      let past = try ModelContext(container, asOf: .now)
      archived.title = "after"
      try context.save()
      #expect(try past.fetch(FetchDescriptor<Archived>()).map(\.title) == ["before"])
      if !configuration.isStoredInMemoryOnly {
        let reader = try ModelContainer(
          for: Archived.self,
          configurations: ModelConfiguration(url: url, allowsSave: false)
        )
        let then = try #require(
          try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).first?.token
        )
        #expect(
          try ModelContext(reader, asOf: then).fetch(FetchDescriptor<Archived>()).map(\.title) == [
            "before"
          ]
        )
      }
    }
  }

  @Test(arguments: [1, 2, 3]) func `answers as it did then, whatever was saved since`(seed: UInt64)
    throws
  {
    var random = SeededRandom(seed: seed)
    let store = try HistoryStore(.init(.onDemand, historyByteCount: 1 << 20))
    let context = store.context()
    var remembered: [(DefaultHistoryToken, State)] = []
    for step in 0..<60 {
      let voyages = try context.fetch(FetchDescriptor<Voyage>())
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let voyage = voyages.randomElement(using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1:
          let new = Voyage("V\(step)", budget: Double.random(in: 0..<9, using: &random).rounded())
          new.cabins = (0..<Int.random(in: 0..<3, using: &random)).map { Cabin($0) }
          context.insert(new)
        case 2: voyage?.budget = Double.random(in: 0..<9, using: &random).rounded()
        case 3: voyage?.cabins.append(Cabin(step))
        case 4: voyage?.cabins.first?.voyage = voyages.randomElement(using: &random)
        default: if let voyage, !voyage.isDeleted { context.delete(voyage) }
        }
      }
      try context.save()
      if let token = try store.newestToken() { remembered.append((token, try State(of: context))) }
      if step == 40 {
        for store in store.container.stores(of: LogStore.self) { try store.compact() }
      }
    }
    for (token, state) in remembered.shuffled(using: &random) {
      #expect(try State(of: ModelContext(store.container, asOf: token)) == state, "seed \(seed)")
    }
    let moving = try ModelContext(store.container, asOf: .now)
    for (token, state) in remembered.shuffled(using: &random) {
      try moving.show(asOf: token)
      #expect(try State(of: moving) == state, "seed \(seed)")
    }
  }

  /// What a context answers to some questions.
  private struct State: Equatable {
    let voyages: [String]
    let rich: [String]
    let cabinCount: Int
    let budget: Double

    init(of context: ModelContext) throws {
      let order = [SortDescriptor(\Voyage.name), SortDescriptor(\Voyage.budget)]
      voyages = try context.fetch(FetchDescriptor<Voyage>(sortBy: order)).map {
        "\($0.name) \($0.budget) \($0.cabins.map(\.number))"
      }
      rich = try context.fetch(
        FetchDescriptor<Voyage>(
          predicate: #Predicate { $0.budget > 4 && $0.cabins.contains { $0.number > 1 } },
          sortBy: order
        )
      ).map(\.name)
      cabinCount = try context.fetchCount(
        FetchDescriptor<Cabin>(predicate: #Predicate { $0.voyage != nil })
      )
      budget = try context.aggregate(FetchDescriptor<Voyage>(), .sum(\.budget))
    }
  }
}

@Suite struct `The difference of two states` {
  @Test func `takes the transactions between them together`() throws {
    let store = try HistoryStore()
    let context = store.context()
    let (kept, gone) = (Voyage("kept"), Voyage("gone"))
    context.insert(kept)
    context.insert(gone)
    try context.save()
    let first = try #require(try store.newestToken())
    kept.budget = 2
    let passing = Voyage("passing")
    context.insert(passing)
    try context.save()
    kept.note = "late"
    gone.budget = 3
    let new = Voyage("new")
    context.insert(new)
    try context.save()
    context.delete(passing)
    context.delete(gone)
    new.budget = 4
    let (keptName, goneName) = (kept.persistentModelID, gone.persistentModelID)
    try context.save()
    let last = try #require(try store.newestToken())

    let difference = try context.difference(from: first, to: last)
    #expect(difference.inserted == [new.persistentModelID])
    #expect(difference.deleted == [goneName])
    #expect(difference.updated.map(\.identifier) == [keptName])
    let update = try #require(difference.updated.first)
    #expect(update.properties == ["budget", "note"])
    #expect(update.sets(\Voyage.note))
    #expect(!update.sets(\Voyage.name))
    #expect(try context.difference(from: first).inserted == difference.inserted)
    let back = try context.difference(from: last, to: first)
    #expect(back.deleted == difference.inserted)
    #expect(back.inserted == difference.deleted)
    #expect(try context.difference(from: last, to: last).isEmpty)
  }

  @Test func `is not that of other stores, or of what is yet to come`() throws {
    let folder = try TemporaryFolder()
    let store = try HistoryStore()
    let context = store.context("mine")
    context.insert(Voyage("Riga"))
    try context.save()
    let token = try #require(try store.newestToken())
    let copy = folder.url.appending(path: "voyages.store")
    for store in store.container.stores(of: LogStore.self) { try store.backup(to: copy) }
    context.insert(Voyage("Oslo"))
    try context.save()
    let later = try #require(try store.newestToken())
    let restored = ModelContext(try HistoryStore.open(folder))
    #expect(try restored.difference(from: token, to: token).isEmpty)
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try restored.difference(from: token, to: later)
    }

    let other = try HistoryStore()
    let otherContext = other.context()
    otherContext.insert(Voyage("Turku"))
    try otherContext.save()
    let foreign = try #require(try other.newestToken())
    #expect(throws: SwiftDataError.historyTokenExpired) { try context.difference(from: foreign) }
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try context.difference(from: token, to: foreign)
    }
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try context.revert(author: "mine", since: foreign)
    }
    let past = try ModelContext(store.container, asOf: .now)
    #expect(throws: SwiftDataError.historyTokenExpired) { try past.show(asOf: foreign) }
    #expect(try past.fetchCount(FetchDescriptor<Voyage>()) == 2)
  }

  @Test func `goes forth in one store, and back in another`() throws {
    let folder = try TemporaryFolder()
    func configuration(_ name: String, _ model: any PersistentModel.Type) -> LogStoreConfiguration {
      LogStoreConfiguration(name, schema: Schema([model]), url: folder.url.appending(path: name))
    }
    let container = try ModelContainer(
      for: Schema([Archived.self, Footnote.self]),
      configurations: [configuration("a", Archived.self), configuration("b", Footnote.self)]
    )
    let context = ModelContext(container)
    let archived = Archived("1", Data())
    context.insert(archived)
    context.author = "archive"
    try context.save()
    let footnote = Footnote("1")
    context.insert(footnote)
    context.author = "notes"
    try context.save()
    func token(_ author: String) throws -> DefaultHistoryToken {
      let descriptor = HistoryDescriptor<DefaultHistoryTransaction>(
        predicate: #Predicate { $0.author == author }
      )
      return try #require(try context.fetchHistory(descriptor).first?.token)
    }
    // Each knows of one store alone.
    let (first, second) = (try token("archive"), try token("notes"))
    for (from, to, inserted, deleted) in [
      (first, second, footnote.persistentModelID, archived.persistentModelID),
      (second, first, archived.persistentModelID, footnote.persistentModelID),
    ] {
      let difference = try context.difference(from: from, to: to)
      #expect(difference.inserted == [inserted] && difference.deleted == [deleted])
    }
  }
}

@Model final class Archived {
  var title: String
  @Attribute(.externalStorage) var bytes: Data

  init(_ title: String, _ bytes: Data) {
    self.title = title
    self.bytes = bytes
  }
}

@Model final class Footnote {
  var text: String
  init(_ text: String) { self.text = text }
}
