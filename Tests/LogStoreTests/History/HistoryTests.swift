import LogStore
import SwiftData
import Testing

@Suite struct `The history of saves` {
  @Test func `tells each save with its author, its time and what it did`() throws {
    let store = try HistoryStore()
    let began = Date()
    let context = store.context("editor")
    let voyage = Voyage("Riga")
    context.insert(voyage)
    try context.save()
    voyage.budget = 12
    context.author = nil
    try context.save()
    try context.save()
    context.delete(voyage)
    let identifier = voyage.persistentModelID
    context.author = "cleaner"
    try context.save()

    let transactions = try store.transactions()
    #expect(transactions.map(\.told) == ["+Voyage", "Voyage(budget)", "-Voyage"])
    #expect(transactions.map(\.author) == ["editor", nil, "cleaner"])
    #expect(
      transactions.flatMap(\.changes).map(\.changedPersistentIdentifier)
        == [identifier, identifier, identifier]
    )
    #expect(transactions.map(\.token) == transactions.map(\.token).sorted())
    #expect(Set(transactions.map(\.token)).count == 3)
    #expect(transactions.allSatisfy { $0.timestamp >= began.addingTimeInterval(-1) })
    #expect(transactions.allSatisfy { $0.timestamp <= Date().addingTimeInterval(1) })
    let name = try #require(store.container.storeIdentifier(forConfigurationNamed: "voyages"))
    #expect(transactions.allSatisfy { $0.storeIdentifier == name })
    #expect(transactions.allSatisfy { $0.token.storeIdentifier == name })
    #expect(transactions.map(\.transactionIdentifier) == transactions.map(\.id))
  }

  @Test func `names models that a context finds`() throws {
    let store = try HistoryStore()
    let context = store.context()
    context.insert(Voyage("Oslo"))
    try context.save()
    let reader = store.context()
    let change = try #require(try store.transactions().first?.changes.first)
    let found = reader.model(for: change.changedPersistentIdentifier) as? Voyage
    #expect(found?.name == "Oslo")
  }

  @Test func `opens changes by the class of their models`() throws {
    let store = try HistoryStore()
    let context = store.context()
    let voyage = Voyage("Genoa")
    context.insert(voyage)
    try context.save()
    voyage.note = "late"
    try context.save()
    context.delete(voyage)
    try context.save()
    var seen: [String] = []
    for change in try store.transactions().flatMap(\.changes) {
      switch change {
      case .insert(_ as DefaultHistoryInsert<Cabin>): seen.append("another class")
      case .insert(_ as DefaultHistoryInsert<Voyage>): seen.append("insert")
      case .update(let update as DefaultHistoryUpdate<Voyage>):
        #expect(update.updatedAttributes.contains(\.note))
        #expect(!update.updatedAttributes.contains(\.name))
        seen.append("update")
      case .delete(let delete as DefaultHistoryDelete<Voyage>):
        #expect(delete.tombstone[\.name] as? String == "Genoa")
        seen.append("delete")
      default: seen.append("unknown")
      }
    }
    #expect(seen == ["insert", "update", "delete"])
  }

  @Test func `numbers the changes of a transaction in their order`() throws {
    let store = try HistoryStore()
    let context = store.context()
    for number in 0..<5 { context.insert(Cabin(number)) }
    try context.save()
    let transaction = try #require(try store.transactions().first)
    var last: Int64 = 0
    for case .insert(let insert as DefaultHistoryInsert<Cabin>) in transaction.changes {
      #expect(insert.changeIdentifier > last)
      #expect(insert.transactionIdentifier == transaction.transactionIdentifier)
      last = insert.changeIdentifier
    }
    #expect(last > 0)
  }

  @Test(arguments: [1, 8, 9, 20])
  func `says which attribute was set, also where the log keeps the whole row`(rounds: Int) throws {
    let store = try HistoryStore()
    let context = store.context()
    let voyage = Voyage("Kiel")
    context.insert(voyage)
    try context.save()
    for round in 1...rounds {
      voyage.note = String(repeating: "\(round)", count: 40)
      try context.save()
    }
    #expect(
      try store.told() == ["+Voyage"] + Array(repeating: "Voyage(note)", count: rounds)
    )
  }

  @Test func `tells an attribute that was set to what it was`() throws {
    let store = try HistoryStore()
    let context = store.context()
    let voyage = Voyage("Bergen")
    context.insert(voyage)
    try context.save()
    voyage.name = "Bergen"
    try context.save()
    #expect(try store.told() == ["+Voyage", "Voyage(name)"])
  }

  @Test func `keeps in tombstones what was to be preserved, and nothing else`() throws {
    let store = try HistoryStore()
    let context = store.context()
    let voyage = Voyage("Lisbon", budget: 99)
    voyage.started = Date(timeIntervalSince1970: 1_000)
    let plain = Cabin(4)
    context.insert(voyage)
    context.insert(plain)
    try context.save()
    context.delete(voyage)
    context.delete(plain)
    try context.save()
    var tombstones = 0
    for change in try #require(try store.transactions().last).changes {
      switch change {
      case .delete(let delete as DefaultHistoryDelete<Voyage>):
        tombstones += 1
        #expect(delete.tombstone[\.name] as? String == "Lisbon")
        #expect(delete.tombstone[\.started] as? Date == Date(timeIntervalSince1970: 1_000))
        #expect(delete.tombstone[\.budget] == nil)
        #expect(delete.tombstone.count(where: { _ in true }) == 2)
      case .delete(let delete as DefaultHistoryDelete<Cabin>):
        tombstones += 1
        #expect(delete.tombstone[\.number] == nil)
        #expect(Array(delete.tombstone).isEmpty)
      default: Issue.record("\(change)")
      }
    }
    #expect(tombstones == 2)
  }

  @Test func `lives in memory as it does on disk`() throws {
    let container = try ModelContainer(
      for: Voyage.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    context.author = "memory"
    context.insert(Voyage("Malta"))
    try context.save()
    let transactions = try context.fetchHistory(HistoryDescriptor<Transaction>())
    #expect(transactions.map(\.told) == ["+Voyage"])
    #expect(transactions.map(\.author) == ["memory"])
  }
}

@Suite struct `The history of relationships` {
  private let store: HistoryStore
  private let context: ModelContext

  init() throws {
    store = try HistoryStore()
    context = store.context()
  }

  /// Two voyages, the first with two cabins.
  private func start() throws -> (Voyage, Voyage, [Cabin]) {
    let (first, second) = (Voyage("first"), Voyage("second"))
    let cabins = [Cabin(1), Cabin(2)]
    for cabin in cabins { cabin.voyage = first }
    context.insert(first)
    context.insert(second)
    try context.save()
    return (first, second, cabins)
  }

  @Test func `tells the owner of a list that a new member joined`() throws {
    let (first, _, _) = try start()
    let token = try store.newestToken()
    first.cabins.append(Cabin(3))
    try context.save()
    #expect(try store.told(since: token) == ["+Cabin, Voyage(cabins)"])
    let update = try #require(try store.transactions().last?.changes.last)
    #expect(update.changedPersistentIdentifier == first.persistentModelID)
  }

  @Test func `tells both owners of a member that moved`() throws {
    let (_, second, cabins) = try start()
    let token = try store.newestToken()
    cabins[0].voyage = second
    try context.save()
    #expect(try store.told(since: token) == ["Cabin(voyage), Voyage(cabins), Voyage(cabins)"])
  }

  @Test func `tells the owner of a member that was deleted`() throws {
    let (_, _, cabins) = try start()
    let token = try store.newestToken()
    context.delete(cabins[1])
    try context.save()
    #expect(try store.told(since: token) == ["-Cabin, Voyage(cabins)"])
  }

  @Test func `tells what a cascade deleted, and no change of who is gone`() throws {
    let (first, _, _) = try start()
    let token = try store.newestToken()
    context.delete(first)
    try context.save()
    #expect(try store.told(since: token) == ["-Cabin, -Cabin, -Voyage"])
  }

  @Test func `tells that a relationship was nullified`() throws {
    let (first, _, _) = try start()
    let token = try store.newestToken()
    first.cabins.removeLast()
    try context.save()
    #expect(try store.told(since: token) == ["Cabin(voyage), Voyage(cabins)"])
  }

  @Test func `tells that a list has another order`() throws {
    let (first, _, _) = try start()
    let token = try store.newestToken()
    first.cabins.reverse()
    try context.save()
    let told = try store.told(since: token)
    #expect(told.count == 1)
    #expect(told.first?.contains("Voyage(cabins)") == true)
    #expect(told.first?.contains("+") == false && told.first?.contains("-") == false)
  }

  @Test func `tells an own change of an owner and that of its list as one`() throws {
    let (first, _, _) = try start()
    let token = try store.newestToken()
    first.name = "renamed"
    first.cabins.append(Cabin(3))
    try context.save()
    #expect(try store.told(since: token) == ["+Cabin, Voyage(cabins name)"])
  }

  @Test func `tells both sides of many to many`() throws {
    let (first, second, _) = try start()
    let guest = Guest("Ada")
    context.insert(guest)
    try context.save()
    let token = try store.newestToken()
    first.guests.append(guest)
    try context.save()
    guest.voyages.append(second)
    try context.save()
    context.delete(guest)
    try context.save()
    #expect(
      try store.told(since: token) == [
        "Guest(voyages), Voyage(guests)", "Guest(voyages), Voyage(guests)",
        "-Guest, Voyage(guests), Voyage(guests)",
      ]
    )
  }
}
