import Foundation
import ModelRuntime
import SwiftData
import Synchronization
import Testing

@testable import LogStore

enum Quay {
  enum Kind: String, Codable { case ferry, yacht, tug }

  struct Size: Codable, Equatable {
    var length: Double
    var beam: Double
  }

  @Model final class Port {
    @Attribute(.unique) var code: String
    var name: String
    var berths = 1
    @Relationship(deleteRule: .cascade, inverse: \Ship.home) var ships: [Ship] = []
    @Relationship(deleteRule: .deny, inverse: \Captain.port) var captains: [Captain] = []

    init(_ code: String, _ name: String) {
      self.code = code
      self.name = name
    }
  }

  @Model class Ship {
    #Index<Ship>([\.tonnage])
    var name: String
    var tonnage: Int
    var draught: Double?
    var small: Int8 = 0
    var kind = Kind.ferry
    var size: Size?
    var built: Date?
    var photo: Data?
    var isRegistered = true
    var serial: UUID?
    var home: Port?

    init(_ name: String, _ tonnage: Int) {
      self.name = name
      self.tonnage = tonnage
    }
  }

  @Model final class Tanker: Ship {
    var cargo = "oil"
    override init(_ name: String, _ tonnage: Int) { super.init(name, tonnage) }
  }

  @Model final class Captain {
    var name: String
    var port: Port?
    init(_ name: String) { self.name = name }
  }

  @Model final class Lamp {
    #Unique<Lamp>([\.pier, \.number], [\.label])
    var pier: String
    var number: Int
    var label: String
    var watts = 40
    init(_ pier: String, _ number: Int, _ label: String) {
      self.pier = pier
      self.number = number
      self.label = label
    }
  }
}

@Suite struct `A batch` {
  private typealias Ship = Quay.Ship
  private typealias Port = Quay.Port
  private typealias Lamp = Quay.Lamp

  private let folder: TemporaryFolder
  private let container: ModelContainer
  private let context: ModelContext

  init() throws {
    folder = try TemporaryFolder()
    container = try Self.open(folder)
    context = ModelContext(container)
  }

  private static func open(_ folder: TemporaryFolder) throws -> ModelContainer {
    try ModelContainer(
      for: Port.self,
      Ship.self,
      Quay.Tanker.self,
      Quay.Captain.self,
      Lamp.self,
      configurations: LogStoreConfiguration(
        url: folder.url.appending(path: "harbour.store"),
        durability: .relaxed
      )
    )
  }

  private func ships(in context: ModelContext? = nil) throws -> [Ship] {
    try (context ?? ModelContext(container)).fetch(
      FetchDescriptor<Ship>(sortBy: [SortDescriptor(\.tonnage)])
    )
  }

  // MARK: Inserting

  @Test
  func `inserts rows of all kinds of values, in any order of columns, with defaults for the rest`()
    throws
  {
    let port = Port("OSL", "Oslo")
    context.insert(port)
    try context.save()
    var rows: [(Data?, Int, String, Quay.Kind, Quay.Size?, Date?, Double?, Port?)] = []
    for number in 0..<300 {
      let photo: Data? = number % 3 == 0 ? nil : Data([UInt8(number % 256), 7])
      let kind: Quay.Kind = number % 2 == 0 ? .tug : .yacht
      let size: Quay.Size? = number % 5 == 0 ? nil : Quay.Size(length: Double(number), beam: 2)
      let built: Date? =
        number % 7 == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(number))
      let draught: Double? = number % 4 == 0 ? nil : Double(number) / 8
      let home: Port? = number % 11 == 0 ? nil : port
      rows.append((photo, number, "Ship \(number)", kind, size, built, draught, home))
    }
    let result = try context.batchInsert(
      Ship.self,
      \.photo,
      \.tonnage,
      \.name,
      \.kind,
      \.size,
      \.built,
      \.draught,
      \.home,
      rows: rows
    )
    #expect(result.insertedCount == 300)
    #expect(result.commitCount == 1)
    for found in [try ships(in: context), try ships()] {
      #expect(found.map(\.persistentModelID) == result.insertedIdentifiers)
      for (ship, row) in zip(found, rows) {
        #expect(ship.photo == row.0)
        #expect(ship.tonnage == row.1)
        #expect(ship.name == row.2)
        #expect(ship.kind == row.3)
        #expect(ship.size == row.4)
        #expect(ship.built == row.5)
        #expect(ship.draught == row.6)
        #expect(ship.home?.code == row.7?.code)
        #expect(ship.isRegistered)
        #expect(ship.small == 0)
        #expect(ship.serial == nil)
      }
    }
    let atHome: [Int] = rows.compactMap { row in row.7 == nil ? nil : row.1 }
    #expect(port.ships.map(\.tonnage) == atHome)
  }

  @Test(arguments: [1, 7, 100, 1000])
  func `commits after as many rows as it is told to`(step: Int) throws {
    let result = try context.batchInsert(
      Ship.self,
      \.name,
      \.tonnage,
      rows: (0..<100).lazy.map { ("Ship \($0)", $0) },
      commitEvery: step
    )
    #expect(result.commitCount == (100 + step - 1) / step)
    #expect(try ships().map(\.tonnage) == Array(0..<100))
    let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(history.count == result.commitCount)
    #expect(history.flatMap(\.changes).count == 100)
  }

  @Test func `refuses a unique value that is taken, and stores nothing of the commit`() throws {
    try context.batchInsert(Port.self, \.code, \.name, rows: [("OSL", "Oslo"), ("BGO", "Bergen")])
    let error = #expect(throws: SwiftDataError.self) {
      try context.batchInsert(
        Port.self,
        \.code,
        \.name,
        rows: [("TRD", "Trondheim"), ("BGO", "B")]
      )
    }
    let conflict = try #require(error?.underlyingError as? UniquenessConflict)
    #expect(conflict.properties == ["code"])
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Port>()) == 2)
  }

  @Test func `names the property that must be named`() throws {
    let error = #expect(throws: SwiftDataError.self) {
      try context.batchInsert(Ship.self, \.name, \.isRegistered, rows: [("Fram", true)])
    }
    #expect(error?.propertyName == "tonnage")
    #expect(throws: SwiftDataError.unsupportedKeyPath) {
      try context.batchInsert(Ship.self, \.name, \.tonnage, \.name, rows: [("Fram", 1, "Fram")])
    }
    #expect(throws: SwiftDataError.unsupportedKeyPath) {
      let none: [Ship] = []
      try context.batchInsert(Port.self, \.code, \.name, \.ships, rows: [("a", "b", none)])
    }
    #expect(try ships().isEmpty)
  }

  @Test
  func `is seen by other contexts, observers and notifications, and leaves unsaved changes alone`()
    throws
  {
    let ship = Ship("Fram", 400)
    context.insert(ship)
    try context.save()
    ship.name = "Unsaved"
    let other = ModelContext(container)
    other.automaticallyMergesChanges = true
    let seen = try #require(try ships(in: other).first)
    let results = try ResultsObserver(sortBy: [SortDescriptor(\Ship.tonnage)], modelContext: other)
    #expect(results.results.count == 1)
    try context.batchInsert(Ship.self, \.name, \.tonnage, rows: [("Gjøa", 47)])
    try context.batchUpdate(Ship.self, .add(1, to: \.tonnage), .set(\.name, to: "Batch"))
    other.processPendingChanges()
    #expect(results.results.map(\.tonnage) == [48, 401])
    #expect(seen.tonnage == 401)
    #expect(seen.name == "Batch")
    #expect(ship.tonnage == 401)
    #expect(ship.name == "Unsaved")
    #expect(context.hasChanges)
    try context.save()
    #expect(try ships().map(\.name) == ["Batch", "Unsaved"])
  }

  // MARK: Updating

  @Test func `updates what matches by constants and by what was there`() throws {
    try context.batchInsert(
      Ship.self,
      \.name,
      \.tonnage,
      \.draught,
      rows: (0..<1000).map { ("Ship \($0)", $0, $0 % 2 == 0 ? nil : Double($0)) }
    )
    try context.batchInsert(Quay.Tanker.self, \.name, \.tonnage, rows: [("Tanker", 5000)])
    let result = try context.batchUpdate(
      Ship.self,
      where: #Predicate { $0.tonnage >= 500 },
      .add(10_000, to: \.tonnage),
      .add(0.5, to: \.draught),
      .change(\.name) { $0.uppercased() },
      .set(\.kind, to: .tug)
    )
    #expect(result.updatedCount == 501)
    let all = try ships()
    #expect(all.count == 1001)
    for ship in all {
      let old = ship.tonnage >= 10_000 ? ship.tonnage - 10_000 : ship.tonnage
      let isChanged = old >= 500
      #expect(isChanged == (ship.kind == .tug))
      if old < 1000 {
        #expect(ship.name == (isChanged ? "SHIP \(old)" : "Ship \(old)"))
        #expect(ship.draught == (old % 2 == 0 ? nil : Double(old) + (isChanged ? 0.5 : 0)))
      }
    }
    let changed = FetchDescriptor<Ship>(predicate: #Predicate { $0.tonnage > 10_000 })
    #expect(try context.fetchCount(changed) == 501)
    #expect((try context.fetch(FetchDescriptor<Quay.Tanker>())).map(\.cargo) == ["oil"])
  }

  @Test func `moves members of a list by their to-one end`() throws {
    let (oslo, bergen) = (Port("OSL", "Oslo"), Port("BGO", "Bergen"))
    context.insert(oslo)
    context.insert(bergen)
    try context.save()
    try context.batchInsert(
      Ship.self,
      \.name,
      \.tonnage,
      \.home,
      rows: (0..<10).map { ("Ship \($0)", $0, oslo) }
    )
    #expect(oslo.ships.map(\.tonnage) == Array(0..<10))
    try context.batchUpdate(
      Ship.self,
      where: #Predicate { $0.tonnage < 4 },
      .set(\.home, to: bergen)
    )
    try context.batchUpdate(Ship.self, where: #Predicate { $0.tonnage > 7 }, .set(\.home, to: nil))
    #expect(oslo.ships.map(\.tonnage) == [4, 5, 6, 7])
    #expect(bergen.ships.map(\.tonnage) == [0, 1, 2, 3])
    let other = ModelContext(container)
    let ports = try other.fetch(FetchDescriptor<Port>(sortBy: [SortDescriptor(\.code)]))
    #expect(ports.map { $0.ships.map(\.tonnage) } == [[0, 1, 2, 3], [4, 5, 6, 7]])
  }

  @Test func `refers to no model that was deleted`() throws {
    let (oslo, bergen) = (Port("OSL", "Oslo"), Port("BGO", "Bergen"))
    context.insert(oslo)
    context.insert(bergen)
    try context.save()
    try context.batchInsert(Ship.self, \.name, \.tonnage, \.home, rows: [("a", 1, oslo)])
    try context.batchDelete(Port.self, where: #Predicate { $0.code == "BGO" })
    let error = #expect(throws: SwiftDataError.self) {
      try context.batchUpdate(Ship.self, .set(\.home, to: bergen))
    }
    #expect(error == .modelValidationFailure)
    #expect(error.map { "\($0)" }?.contains("a Port that was deleted") == true)
    #expect(try ships().map(\.home?.code) == ["OSL"])
  }

  /// Its state does not know it, nor its class.
  @Test(arguments: [false, true])
  func `refers to no model that is not saved`(isInserted: Bool) throws {
    context.insert(Ship("Fram", 400))
    try context.save()
    let port = Port("OSL", "Oslo")
    if isInserted { context.insert(port) }
    let calls: [() throws -> Void] = [
      {
        try context.batchInsert(Ship.self, \.name, \.tonnage, \.home, rows: [("a", 1, port)])
      },
      { try context.batchUpdate(Ship.self, .set(\.home, to: port)) },
    ]
    for call in calls {
      let error = #expect(throws: SwiftDataError.self) { try call() }
      #expect(error == .modelValidationFailure)
      #expect(error.map { "\($0)" }?.contains("a Port that is not saved") == true)
    }
  }

  /// Also where it makes objects, in a context that nobody knows.
  @Test func `names its context in notifications`() throws {
    let oslo = Port("OSL", "Oslo")
    oslo.ships = [Ship("Fram", 400)]
    context.insert(oslo)
    try context.save()
    let notes = Mutex<[(name: Notification.Name, sender: ObjectIdentifier?)]>([])
    let observers = [ModelContext.willSave, ModelContext.didSave].map { name in
      NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { note in
        let sender = (note.object as? ModelContext).map(ObjectIdentifier.init)
        notes.withLock { $0.append((note.name, sender)) }
      }
    }
    defer { observers.forEach(NotificationCenter.default.removeObserver) }
    let result = try context.batchDelete(Port.self)
    #expect(result.deletedCount == 2)
    let seen = notes.withLock { $0 }
    #expect(seen.map(\.name) == [ModelContext.willSave, ModelContext.didSave])
    #expect(seen.allSatisfy { $0.sender == ObjectIdentifier(context) })
  }

  @Test func `throws for an overflow and a value that must differ, and changes nothing`() throws {
    try context.batchInsert(
      Ship.self,
      \.name,
      \.tonnage,
      \.small,
      rows: [("a", 1, Int8(100)), ("b", 2, Int8(127))]
    )
    let overflow = #expect(throws: SwiftDataError.self) {
      try context.batchUpdate(Ship.self, .add(1, to: \.small))
    }
    #expect(overflow == .aggregateOverflow)
    #expect(overflow.map { "\($0)" }?.contains("Ship.small: 127 + 1 is no Int8") == true)
    #expect(try ships().map(\.small) == [100, 127])
    try context.batchInsert(Port.self, \.code, \.name, rows: [("OSL", "Oslo"), ("BGO", "Bergen")])
    #expect(throws: SwiftDataError.modelValidationFailure) {
      try context.batchUpdate(Port.self, .set(\.code, to: "X"))
    }
    #expect(
      try ModelContext(container).fetch(FetchDescriptor<Port>()).map(\.code) == ["OSL", "BGO"]
    )
  }

  // MARK: Upserting

  @Test func `updates by a unique value, inserts the rest, and keeps what is not named`() throws {
    let oslo = Port("OSL", "Kristiania")
    oslo.berths = 12
    context.insert(oslo)
    try context.save()
    let result = try context.batchUpsert(
      Port.self,
      \.code,
      \.name,
      rows: [("BGO", "Bergen"), ("OSL", "Oslo"), ("TRD", "Nidaros"), ("TRD", "Trondheim")]
    )
    #expect(result.insertedCount == 2)
    #expect(result.updatedCount == 1)
    #expect(result.updatedIdentifiers == [oslo.persistentModelID])
    #expect(oslo.name == "Oslo")
    let ports = try ModelContext(container).fetch(
      FetchDescriptor<Port>(sortBy: [SortDescriptor(\.code)])
    )
    #expect(ports.map(\.name) == ["Bergen", "Oslo", "Trondheim"])
    #expect(ports.map(\.berths) == [1, 12, 1])
  }

  @Test(arguments: 0..<20)
  func `is what upserts one by one come to`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var expected: [String: String] = [:]
    for round in 0..<4 {
      let rows = (0..<60).map { number in
        (
          "P\(Int.random(in: 0..<(round == 0 ? 10 : 80), using: &random))",
          "\(round) \(number)"
        )
      }
      for row in rows { expected[row.0] = row.1 }
      try context.batchUpsert(
        Port.self,
        \.code,
        \.name,
        rows: rows,
        commitEvery: Int.random(in: 1...90, using: &random)
      )
      let ports = try ModelContext(container).fetch(FetchDescriptor<Port>())
      #expect(ports.count == expected.count, "seed \(seed)")
      for port in ports { #expect(port.name == expected[port.code], "seed \(seed)") }
    }
  }

  @Test func `follows constraints of several properties, and refuses rows of two models`() throws {
    let columns = [("A", 1, "one"), ("A", 2, "two")]
    try context.batchUpsert(Lamp.self, \.pier, \.number, \.label, rows: columns)
    try context.batchUpsert(
      Lamp.self,
      \.pier,
      \.number,
      \.label,
      \.watts,
      rows: [("A", 2, "two", 60), ("B", 1, "one", 25)]
    )
    let lamps = try ModelContext(container).fetch(
      FetchDescriptor<Lamp>(sortBy: [SortDescriptor(\.label)])
    )
    #expect(
      lamps.map { "\($0.pier)\($0.number) \($0.label) \($0.watts)" } == ["B1 one 25", "A2 two 60"]
    )
    let error = #expect(throws: SwiftDataError.self) {
      try context.batchUpsert(Lamp.self, \.pier, \.number, \.label, rows: [("B", 1, "two")])
    }
    #expect((error?.underlyingError as? UniquenessConflict)?.reason == .severalModels)
    #expect(throws: SwiftDataError.modelValidationFailure) {
      try context.batchUpsert(Ship.self, \.name, \.tonnage, rows: [("a", 1)])
    }
  }

  // MARK: Deleting

  @Test func `deletes what matches, and says which`() throws {
    let inserted = try context.batchInsert(
      Ship.self,
      \.name,
      \.tonnage,
      rows: (0..<50).map { ("Ship \($0)", $0) }
    )
    let held = try ships(in: context)
    let result = try context.batchDelete(
      Ship.self,
      where: #Predicate { $0.tonnage < 20 },
      commitEvery: 8
    )
    #expect(result.deletedIdentifiers == Array(inserted.insertedIdentifiers.prefix(20)))
    #expect(result.commitCount == 3)
    #expect(held.map(\.isDeleted) == (0..<50).map { $0 < 20 })
    #expect(try ships().map(\.tonnage) == Array(20..<50))
  }

  @Test func `follows delete rules`() throws {
    let (oslo, bergen) = (Port("OSL", "Oslo"), Port("BGO", "Bergen"))
    for port in [oslo, bergen] { context.insert(port) }
    try context.save()
    try context.batchInsert(
      Ship.self,
      \.name,
      \.tonnage,
      \.home,
      rows: (0..<10).map { ("Ship \($0)", $0, $0 % 2 == 0 ? oslo : bergen) }
    )
    // A ship is in its port's list, which the store finds by itself.
    try context.batchDelete(Ship.self, where: #Predicate { $0.tonnage < 2 })
    #expect(oslo.ships.map(\.tonnage) == [2, 4, 6, 8])
    // A port takes its ships along.
    let result = try context.batchDelete(Port.self, where: #Predicate { $0.code == "OSL" })
    #expect(result.deletedCount == 5)
    #expect(try ships().map(\.tonnage) == [3, 5, 7, 9])
    let captain = Quay.Captain("Roald")
    context.insert(captain)
    captain.port = bergen
    try context.save()
    #expect(throws: SwiftDataError.modelValidationFailure) { try context.batchDelete(Port.self) }
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Port>()) == 1)
    let left = try context.batchDelete(Quay.Captain.self)
    #expect(left.deletedIdentifiers == [captain.persistentModelID])
    try context.batchDelete(Port.self)
    #expect(try ships().isEmpty)
  }

  @Test func `is there after another opening`() throws {
    try context.batchInsert(Ship.self, \.name, \.tonnage, rows: [("a", 1), ("b", 2), ("c", 3)])
    try context.batchUpdate(Ship.self, where: #Predicate { $0.tonnage == 2 }, .set(\.name, to: "x"))
    try context.batchDelete(Ship.self, where: #Predicate { $0.tonnage == 3 })
    try container.stores(of: LogStore.self).first?.close()
    let reopened = ModelContext(try Self.open(folder))
    #expect(try ships(in: reopened).map(\.name) == ["a", "x"])
  }
}
