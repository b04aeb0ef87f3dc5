import Foundation
import LogStore
import Observation
import SwiftData
import Synchronization
import Testing

@Suite struct `Taking transactions back` {
  private let store: HistoryStore
  private let context: ModelContext

  init() throws {
    store = try HistoryStore()
    context = store.context("mine")
  }

  private func voyages() throws -> [Voyage] {
    try context.fetch(FetchDescriptor<Voyage>(sortBy: [SortDescriptor(\.name)]))
  }

  /// Saves, as an author.
  private func save(as author: String) throws {
    context.author = author
    try context.save()
  }

  @Test func `deletes what was inserted, and gives back what was set and deleted`() throws {
    let (riga, oslo) = (Voyage("Riga", budget: 1), Voyage("Oslo", budget: 2))
    oslo.note = "by train"
    oslo.cabins = [Cabin(1), Cabin(2), Cabin(3)]
    context.insert(riga)
    context.insert(oslo)
    try save(as: "mine")
    let osloID = oslo.persistentModelID

    riga.budget = 10
    riga.note = "new"
    try save(as: "import")
    riga.budget = 11
    context.delete(oslo)
    context.insert(Voyage("Genoa"))
    try save(as: "import")

    let reversal = try context.revert(author: "import")
    #expect(context.hasChanges)
    #expect(reversal.conflicts.isEmpty)
    #expect(reversal.updated == [riga.persistentModelID])
    #expect(reversal.deleted.count == 1)
    #expect(
      reversal.restored.map(\.formerIdentifier.entityName).sorted() == [
        "Cabin", "Cabin", "Cabin", "Voyage",
      ]
    )
    let restored = try #require(reversal.restored.first { $0.formerIdentifier == osloID })
    try save(as: "mine")
    #expect(try voyages().map(\.name) == ["Oslo", "Riga"])
    #expect(riga.budget == 1 && riga.note == nil)
    let again = try #require(restored.model as? Voyage)
    #expect(again.persistentModelID != osloID)
    #expect(again.budget == 2 && again.note == "by train")
    #expect(again.cabins.map(\.number) == [1, 2, 3])
    let elsewhere = ModelContext(store.container)
    #expect(try elsewhere.fetch(FetchDescriptor<Cabin>()).count == 3)
    #expect(
      try elsewhere.fetch(FetchDescriptor<Voyage>(predicate: #Predicate { $0.name == "Oslo" })).map
      { $0.cabins.map(\.number) } == [[1, 2, 3]]
    )
  }

  @Test func `leaves what others have set since, and says so`() throws {
    let riga = Voyage("Riga", budget: 1)
    context.insert(riga)
    try save(as: "mine")
    riga.budget = 10
    riga.note = "from the import"
    riga.name = "RIGA"
    let (genoa, turku) = (Voyage("Genoa"), Voyage("Turku"))
    context.insert(genoa)
    context.insert(turku)
    try save(as: "import")
    riga.note = "mine"
    genoa.budget = 5
    try save(as: "mine")
    let number = try #require(try store.transactions().last?.transactionIdentifier)

    let reversal = try context.revert(author: "import")
    try save(as: "mine")
    #expect(riga.budget == 1 && riga.name == "Riga" && riga.note == "mine")
    #expect(try voyages().map(\.name) == ["Genoa", "Riga"])
    let conflicts = reversal.conflicts.map { "\($0.model.entityName).\($0.property ?? "-")" }
    #expect(conflicts.sorted() == ["Voyage.-", "Voyage.note"])
    #expect(
      reversal.conflicts.allSatisfy {
        $0.reason == .changedSince(transaction: number, author: "mine")
      }
    )
    #expect(reversal.conflicts.contains { $0.description.contains("of mine has changed it since") })
  }

  @Test func `sees no conflict in what is again as it was`() throws {
    let riga = Voyage("Riga", budget: 1)
    context.insert(riga)
    try save(as: "mine")
    riga.budget = 10
    try save(as: "import")
    riga.budget = 1
    try save(as: "mine")
    let reversal = try context.revert(author: "import")
    #expect(reversal.conflicts.isEmpty && reversal.updated.isEmpty)
    #expect(!context.hasChanges)
  }

  @Test func `goes behind the changes of others to those before`() throws {
    let riga = Voyage("Riga", budget: 1)
    context.insert(riga)
    try save(as: "import")
    riga.budget = 2
    try save(as: "mine")
    riga.budget = 3
    try save(as: "import")
    riga.budget = 4
    try save(as: "import")
    let transactions = try store.transactions()
    let reversal = try context.revert(transactions.suffix(1))
    #expect(riga.budget == 3 && reversal.conflicts.isEmpty)
    context.rollback()
    try context.revert(transactions.suffix(2))
    #expect(riga.budget == 2)
    context.rollback()
    // The one that inserted it stays out of it, since another has changed it.
    #expect(try context.revert(author: "import").conflicts.count == 1)
    #expect(!riga.isDeleted)
  }

  @Test func `leaves what is not saved yet`() throws {
    let (riga, oslo) = (Voyage("Riga", budget: 1), Voyage("Oslo", budget: 1))
    context.insert(riga)
    context.insert(oslo)
    try save(as: "mine")
    riga.budget = 10
    oslo.budget = 10
    let genoa = Voyage("Genoa")
    context.insert(genoa)
    try save(as: "import")
    riga.budget = 20
    genoa.note = "unsaved"
    context.delete(oslo)
    let reversal = try context.revert(author: "import")
    #expect(reversal.conflicts.map(\.reason) == [.changedHere, .changedHere, .changedHere])
    try save(as: "mine")
    #expect(try voyages().map(\.budget) == [0, 20])
  }

  @Test func `can be taken back itself, undone, and rolled back`() throws {
    let riga = Voyage("Riga", budget: 1)
    context.insert(riga)
    try save(as: "mine")
    riga.budget = 10
    context.insert(Voyage("Genoa", budget: 7))
    try save(as: "import")

    context.undoManager = UndoManager()
    try context.revert(author: "import")
    context.processPendingChanges()
    context.undoManager?.undo()
    #expect(riga.budget == 10)
    #expect(try voyages().map(\.name) == ["Genoa", "Riga"])
    context.undoManager = nil
    context.rollback()

    try context.revert(author: "import")
    context.rollback()
    #expect(riga.budget == 10 && !context.hasChanges)

    try context.revert(author: "import")
    try save(as: "reversal")
    #expect(try voyages().map(\.budget) == [1])
    let reversal = try context.revert(author: "reversal")
    try save(as: "mine")
    #expect(reversal.conflicts.isEmpty)
    #expect(try voyages().map(\.name) == ["Genoa", "Riga"])
    #expect(try voyages().map(\.budget) == [7, 10])
  }

  @Test func `puts members back to their places, beside those that others have added`() throws {
    let (riga, oslo) = (Voyage("Riga"), Voyage("Oslo"))
    riga.cabins = (1...4).map { Cabin($0) }
    context.insert(riga)
    context.insert(oslo)
    try save(as: "mine")
    let (second, third) = (riga.cabins[1], riga.cabins[2])
    second.voyage = oslo
    context.delete(third)
    try save(as: "import")
    #expect(riga.cabins.map(\.number) == [1, 4])
    try context.revert(author: "import")
    #expect(riga.cabins.map(\.number) == [1, 2, 3, 4])
    #expect(oslo.cabins.isEmpty)
    context.rollback()

    riga.cabins.append(Cabin(5))
    try save(as: "mine")
    try context.revert(author: "import")
    try save(as: "mine")
    let order = riga.cabins.map(\.number)
    #expect(order.prefix(3) == [1, 4, 5] && order.suffix(2).sorted() == [2, 3])
    riga.cabins.reverse()
    try save(as: "order")
    try context.revert(author: "order")
    try save(as: "mine")
    #expect(riga.cabins.map(\.number) == order)
  }

  @Test func `takes guests back who came, and has those again who went`() throws {
    let (riga, oslo) = (Voyage("Riga"), Voyage("Oslo"))
    let (ann, bob, eve) = (Guest("Ann"), Guest("Bob"), Guest("Eve"))
    riga.guests = [ann, bob]
    oslo.guests = [bob]
    for model in [riga, oslo] { context.insert(model) }
    context.insert(eve)
    try save(as: "mine")
    riga.guests = [eve, bob]
    context.delete(bob)
    try save(as: "import")
    #expect(riga.guests.map(\.name) == ["Eve"])
    try context.revert(author: "import")
    #expect(riga.guests.map(\.name) == ["Ann", "Bob"])
    #expect(oslo.guests.map(\.name) == ["Bob"])
    #expect(eve.voyages.isEmpty)
    context.rollback()

    let dan = Guest("Dan")
    riga.guests.append(dan)
    try save(as: "mine")
    let reversal = try context.revert(author: "import")
    try save(as: "mine")
    #expect(reversal.conflicts.isEmpty)
    #expect(Set(riga.guests.map(\.name)) == ["Ann", "Bob", "Dan"])
    let elsewhere = ModelContext(store.container)
    let guests = try elsewhere.fetch(FetchDescriptor<Guest>(sortBy: [SortDescriptor(\.name)]))
    #expect(
      guests.map { $0.voyages.map(\.name).sorted() } == [["Riga"], ["Oslo", "Riga"], ["Riga"], []]
    )
  }

  @Test func `leaves what a delete rule would take along`() throws {
    let riga = Voyage("Riga")
    riga.cabins = [Cabin(1)]
    context.insert(riga)
    try save(as: "mine")
    let cabin = riga.cabins[0]
    let genoa = Voyage("Genoa")
    context.insert(genoa)
    cabin.voyage = genoa
    genoa.cabins.append(Cabin(2))
    context.delete(riga)
    try save(as: "import")
    let reversal = try context.revert(author: "import")
    try save(as: "mine")
    #expect(reversal.conflicts.isEmpty)
    #expect(try voyages().map(\.name) == ["Riga"])
    #expect(try context.fetch(FetchDescriptor<Cabin>()) == [cabin])
    #expect(cabin.voyage?.name == "Riga")
  }

  @Test func `takes out of a list who came in any of the transactions`() throws {
    let riga = Voyage("Riga")
    context.insert(riga)
    try save(as: "mine")
    for (name, author) in [("x", "import"), ("y", "mine"), ("z", "import"), ("w", "import")] {
      riga.guests.append(Guest(name))
      try save(as: author)
    }
    let z = try #require(riga.guests.first { $0.name == "z" })
    riga.guests.removeAll { $0 == z }
    try save(as: "import")
    let reversal = try context.revert(author: "import")
    try save(as: "mine")
    #expect(reversal.conflicts.isEmpty)
    #expect(riga.guests.map(\.name) == ["y"])
  }

  @Test func `leaves the unsaved order of a list, and says what others have deleted`() throws {
    let (riga, oslo) = (Voyage("Riga"), Voyage("Oslo", budget: 1))
    riga.cabins = (1...3).map { Cabin($0) }
    context.insert(riga)
    context.insert(oslo)
    try save(as: "mine")
    riga.cabins.reverse()
    oslo.budget = 2
    try save(as: "import")
    context.delete(oslo)
    try save(as: "mine")
    riga.cabins.insert(Cabin(9), at: 0)
    let reversal = try context.revert(author: "import")
    #expect(riga.cabins.map(\.number) == [9, 3, 2, 1])
    let reasons = reversal.conflicts.map(\.reason)
    #expect(reasons.contains(.changedHere))
    #expect(
      reasons.contains {
        if case .deletedSince(_, "mine") = $0 { true } else { false }
      }
    )
  }

  @Test
  func
    `is known after a compaction that keeps history, after deleting it, and not when it is gone`()
    throws
  {
    let riga = Voyage("Riga", budget: 1)
    context.insert(riga)
    try save(as: "mine")
    riga.budget = 2
    try save(as: "import")
    let transactions = try store.transactions().suffix(1)
    try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(try context.revert(transactions).conflicts.isEmpty)
    #expect(riga.budget == 1)
    context.rollback()

    let short = try HistoryStore(.init(.onDemand, historyByteCount: 0))
    let other = short.context("import")
    other.insert(Voyage("Oslo"))
    try other.save()
    let gone = try short.transactions()
    for number in 0..<300 {
      other.insert(Voyage("\(number)"))
      try other.save()
    }
    for store in short.container.stores(of: LogStore.self) { try store.compact() }
    #expect(throws: SwiftDataError.historyTokenExpired) { try other.revert(gone) }
    #expect(throws: SwiftDataError.historyTokenExpired) { try other.revert(transactions) }
    #expect(!other.hasChanges)
    #expect(throws: DataStoreError.unsupportedFeature) {
      try ModelContext(store.container, asOf: .now).revert(transactions)
    }
    #expect(try context.revert([]).updated.isEmpty)
  }

  /// The transaction may have set either end of a relationship; observers of both ends are notified.
  @Test(arguments: [true, false])
  func `notifies observers of all ends that it sets`(fromOtherEnds: Bool) throws {
    let (riga, cabin, guest) = (Voyage("Riga"), Cabin(1), Guest("Ann"))
    context.insert(riga)
    context.insert(cabin)
    context.insert(guest)
    try save(as: "mine")
    let observer = try ResultsObserver<Cabin, Never>(modelContext: context)
    let guests = try ResultsObserver<Guest, Never>(modelContext: context)
    if fromOtherEnds {
      riga.guests = [guest]
      riga.cabins = [cabin]
    } else {
      guest.voyages = [riga]
      cabin.voyage = riga
    }
    try save(as: "import")
    let (cursor, guestCursor) = (observer.makeCursor(), guests.makeCursor())
    _ = cursor.advance()
    _ = guestCursor.advance()
    let told = Mutex<Set<String>>([])
    func watch(_ name: String, _ read: () -> Void) {
      withObservationTracking(read) { _ = told.withLock { $0.insert(name) } }
    }
    watch("cabin.voyage") { _ = cabin.voyage }
    watch("guest.voyages") { _ = guest.voyages }
    watch("voyage.cabins") { _ = riga.cabins }
    watch("voyage.guests") { _ = riga.guests }
    #expect(try context.revert(author: "import").conflicts.isEmpty)
    #expect(cabin.voyage == nil && guest.voyages.isEmpty)
    let all = ["cabin.voyage", "guest.voyages", "voyage.cabins", "voyage.guests"]
    #expect(told.withLock(\.self).sorted() == all)
    #expect(cursor.advance()?.updated.map(\.element) == [cabin])
    try save(as: "mine")
    #expect(observer.results.map(\.voyage) == [nil])
  }

}

@Suite struct `Taking back what must be unique, one to one, or large` {
  @Model final class Berth {
    @Attribute(.unique) var code: String
    var ship: Ship?
    @Attribute(.externalStorage) var plan: Data
    var needed: Quay

    init(_ code: String, _ needed: Quay, plan: Data = Data()) {
      self.code = code
      self.plan = plan
      self.needed = needed
    }
  }

  @Model final class Ship {
    var name: String
    @Relationship(inverse: \Berth.ship) var berth: Berth?
    init(_ name: String) { self.name = name }
  }

  @Model final class Quay {
    var name: String
    init(_ name: String) { self.name = name }
  }

  private let folder: TemporaryFolder
  private let container: ModelContainer
  private let context: ModelContext

  init() throws {
    folder = try TemporaryFolder()
    container = try Self.makeContainer(in: folder)
    context = ModelContext(container)
  }

  private static func makeContainer(in folder: TemporaryFolder) throws -> ModelContainer {
    try ModelContainer(
      for: Berth.self,
      Ship.self,
      Quay.self,
      configurations: LogStoreConfiguration(url: folder.url.appending(path: "berths.store"))
    )
  }

  private static let plan = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })

  /// Saves two berths with plans that are too large for their rows.
  private func saveBerthsWithPlans() throws -> (Berth, Berth) {
    let berths = (
      Berth("a", Quay("north"), plan: Self.plan), Berth("b", Quay("south"), plan: Self.plan)
    )
    context.insert(berths.0)
    context.insert(berths.1)
    try save(as: "mine")
    return berths
  }

  private func save(as author: String) throws {
    context.author = author
    try context.save()
  }

  /// Saves two berths at a quay.
  private func saveBerths() throws -> (Berth, Berth, Quay) {
    let quay = Quay("north")
    let (a, b) = (Berth("a", quay), Berth("b", quay))
    context.insert(a)
    context.insert(b)
    try save(as: "mine")
    return (a, b, quay)
  }

  @Test func `leaves a value that another model has now`() throws {
    let (a, b, quay) = try saveBerths()
    context.delete(a)
    b.code = "c"
    try save(as: "import")
    let (other, another) = (Berth("a", quay), Berth("b", quay))
    context.insert(other)
    context.insert(another)
    try save(as: "mine")
    let reversal = try context.revert(author: "import")
    try save(as: "mine")
    #expect(reversal.restored.isEmpty && reversal.updated.isEmpty)
    #expect(
      Set(reversal.conflicts.map(\.reason)) == [
        .valueTaken(by: other.persistentModelID), .valueTaken(by: another.persistentModelID),
      ]
    )
    #expect(reversal.conflicts.map(\.property) == ["code", "code"])
    #expect(try Set(context.fetch(FetchDescriptor<Berth>()).map(\.code)) == ["a", "b", "c"])
  }

  @Test func `exchanges values that the transactions exchanged`() throws {
    let (a, b, quay) = try saveBerths()
    a.code = "-"
    try save(as: "import")
    b.code = "a"
    try save(as: "import")
    context.delete(a)
    context.insert(Berth("b", quay))
    try save(as: "import")
    let reversal = try context.revert(author: "import")
    try save(as: "mine")
    #expect(reversal.conflicts.isEmpty)
    #expect(b.code == "b")
    #expect(try context.fetch(FetchDescriptor<Berth>()).map(\.code).sorted() == ["a", "b"])
  }

  @Test func `gives a value to nobody that its holder keeps after all`() throws {
    let quay = Quay("north")
    let (a, b) = (Berth("a", quay, plan: Data([1])), Berth("b", quay, plan: Data([2])))
    context.insert(a)
    context.insert(b)
    try save(as: "mine")
    context.delete(a)
    try save(as: "import")
    b.code = "a"
    try save(as: "import")
    let c = Berth("b", quay, plan: Data([3]))
    context.insert(c)
    try save(as: "mine")
    let reversal = try context.revert(author: "import")
    try save(as: "mine")
    #expect(reversal.restored.isEmpty && reversal.updated.isEmpty)
    #expect(
      Set(reversal.conflicts.map(\.reason)) == [
        .valueTaken(by: b.persistentModelID), .valueTaken(by: c.persistentModelID),
      ]
    )
    let stored = try ModelContext(container).fetch(
      FetchDescriptor<Berth>(sortBy: [SortDescriptor(\.code)])
    )
    #expect(stored.map(\.plan) == [Data([2]), Data([3])])
  }

  @Test func `leaves a value that an unsaved model has`() throws {
    let (a, b, quay) = try saveBerths()
    context.delete(a)
    b.code = "x"
    try save(as: "import")
    let (first, second) = (Berth("a", quay, plan: Data([1])), Berth("b", quay, plan: Data([2])))
    context.insert(first)
    context.insert(second)
    let reversal = try context.revert(author: "import")
    try save(as: "mine")
    #expect(reversal.conflicts.count == 2)
    let stored = try ModelContext(container).fetch(
      FetchDescriptor<Berth>(sortBy: [SortDescriptor(\.code)])
    )
    #expect(stored.map(\.code) == ["a", "b", "x"])
    #expect(stored.prefix(2).map(\.plan) == [Data([1]), Data([2])])
  }

  @Test func `leaves an end of a one-to-one that is not saved yet`() throws {
    let quay = Quay("north")
    let a = Berth("a", quay)
    let (x, y, q) = (Ship("x"), Ship("y"), Ship("q"))
    a.ship = x
    for ship in [y, q] { context.insert(ship) }
    context.insert(a)
    try save(as: "mine")
    a.ship = y
    try save(as: "import")
    a.ship = q
    let reversal = try context.revert(author: "import")
    #expect(a.ship === q && q.berth === a && x.berth == nil)
    #expect(reversal.conflicts.contains { $0.reason == .changedHere })
    try save(as: "mine")
  }

  @Test func `keeps what others refer to`() throws {
    let north = Quay("north")
    let a = Berth("a", north)
    context.insert(a)
    try save(as: "mine")
    let (south, west) = (Quay("south"), Quay("west"))
    context.insert(south)
    context.insert(west)
    try save(as: "import")
    a.needed = south
    try save(as: "mine")
    let reversal = try context.revert(author: "import")
    try save(as: "mine")
    #expect(a.needed === south)
    #expect(reversal.deleted.count == 1)
    #expect(reversal.conflicts.map(\.reason) == [.stillReferredTo(by: a.persistentModelID)])
    let quays = try ModelContext(container).fetch(FetchDescriptor<Quay>())
    #expect(quays.map(\.name).sorted() == ["north", "south"])
  }

  @Test func `keeps what is needed where it cannot be led back`() throws {
    let (north, south) = (Quay("north"), Quay("south"))
    let a = Berth("a", north)
    context.insert(a)
    try save(as: "mine")
    context.insert(south)
    a.needed = south
    try save(as: "import")
    context.delete(north)
    try save(as: "mine")
    let reversal = try context.revert(author: "import")
    try save(as: "mine")
    #expect(a.needed === south)
    #expect(
      Set(reversal.conflicts.map(\.reason)) == [
        .destinationGone, .stillReferredTo(by: a.persistentModelID),
      ]
    )
  }

  @Test func `leads the ends of a one-to-one back, but not past others`() throws {
    let quay = Quay("north")
    let (a, b) = (Berth("a", quay), Berth("b", quay))
    let (x, y) = (Ship("x"), Ship("y"))
    a.ship = x
    b.ship = y
    context.insert(a)
    context.insert(b)
    try save(as: "mine")
    a.ship = y
    try save(as: "import")
    #expect(x.berth == nil && b.ship == nil && y.berth === a)
    try context.revert(author: "import")
    #expect(a.ship === x && b.ship === y && x.berth === a && y.berth === b)
    context.rollback()
    let c = Berth("c", quay)
    context.insert(c)
    c.ship = x
    try save(as: "mine")
    let reversal = try context.revert(author: "import")
    try save(as: "mine")
    #expect(c.ship === x && x.berth === c)
    #expect(b.ship === y && y.berth === b)
    #expect(a.ship == nil)
    #expect(!reversal.conflicts.isEmpty)
  }

  @Test(arguments: [false, true])
  func `leaves an end to others whom the transactions came behind once more`(
    isShipImported: Bool
  ) throws {
    let (a, b, _) = try saveBerths()
    let x = Ship("x")
    if isShipImported {
      context.insert(x)
      try save(as: "import")
    }
    a.ship = x
    try save(as: "mine")
    a.ship = nil
    try save(as: "import")
    b.ship = x
    try save(as: "mine")
    let number = try #require(
      try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last
    ).transactionIdentifier
    b.ship = nil
    try save(as: "import")
    let reversal = try context.revert(author: "import")
    try save(as: "mine")
    #expect(b.ship === x && x.berth === b && a.ship == nil)
    let conflicts = reversal.conflicts.filter { $0.model != x.persistentModelID }
    #expect(conflicts.map(\.model) == [a.persistentModelID])
    #expect(conflicts.map(\.property) == ["ship"])
    #expect(conflicts.map(\.reason) == [.changedSince(transaction: number, author: "mine")])
  }

  @Test func `has large values again that a container from before has kept`() throws {
    let (a, b) = try saveBerthsWithPlans()
    let before = try container.asOf(.now)
    a.plan = Data([1])
    context.delete(b)
    try save(as: "import")
    for store in container.stores(of: LogStore.self) { try store.compact() }
    let reversal = try context.revert(author: "import")
    try save(as: "mine")
    withExtendedLifetime(before) {}
    #expect(reversal.conflicts.isEmpty)
    let plans = try ModelContext(container).fetch(FetchDescriptor<Berth>()).map(\.plan)
    #expect(plans == [Self.plan, Self.plan])
  }

  /// Nothing tells when the files of values that nobody can see are removed; a store that was closed has none.
  @Test func `leaves large values that are gone`() async throws {
    let (a, b) = try saveBerthsWithPlans()
    a.plan = Data([1])
    context.delete(b)
    try save(as: "import")
    try await container.close()
    let reopened = try Self.makeContainer(in: folder)
    let later = ModelContext(reopened)
    let reversal = try later.revert(author: "import")
    #expect(reversal.conflicts.map(\.reason) == [.valueUnknown, .valueUnknown])
    #expect(reversal.conflicts.map(\.property) == ["plan", "plan"])
    try later.save()
    let berths = try ModelContext(reopened).fetch(
      FetchDescriptor<Berth>(sortBy: [SortDescriptor(\.code)])
    )
    #expect(berths.map(\.code) == ["a", "b"])
    #expect(berths.map(\.plan) == [Data([1]), Data()])
  }

  @Test func `leaves a model away that lacks what it needs`() throws {
    let quay = Quay("north")
    let a = Berth("a", quay)
    context.insert(a)
    try save(as: "mine")
    context.delete(a)
    try save(as: "import")
    context.delete(quay)
    try save(as: "mine")
    let reversal = try context.revert(author: "import")
    #expect(reversal.restored.isEmpty)
    #expect(reversal.conflicts.map(\.reason) == [.destinationGone])
    #expect(reversal.conflicts.map(\.property) == ["needed"])
    #expect(!context.hasChanges)
  }
}
