import Foundation
import SwiftData
import Synchronization
import Testing

// The snippets of Asking questions, Observing results, Migrating, History and of the modules' first pages, as they are
// printed there.

@Model
final class Flight {
  var month: Int
  var carrier: String
  var origin: String
  var destination: String
  var distance: Int
  var departure: Date
  var departureDelay: Double?
  var isCancelled = false
  var plane: Plane?

  init(_ carrier: String, _ origin: String, _ destination: String, day: Int, delay: Double?) {
    month = day < 31 ? 1 : 2
    self.carrier = carrier
    self.origin = origin
    self.destination = destination
    distance = 100 * destination.count
    departure = Date(timeIntervalSince1970: 1_356_998_400 + Double(day) * 86_400)
    departureDelay = delay
    isCancelled = delay == nil
  }
}

@Model
final class Plane {
  var manufacturer: String
  init(manufacturer: String) { self.manufacturer = manufacturer }
}

@Suite struct `The article on questions` {
  let context: ModelContext

  init() throws {
    context = ModelContext(
      try ModelContainer(
        for: Flight.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
      )
    )
    for day in 0..<40 {
      let delay = day % 10 == 9 ? nil : Double(day)
      context.insert(
        Flight(
          day % 2 == 0 ? "UA" : "DL",
          "JFK",
          day % 3 == 0 ? "LAX" : "BOSN",
          day: day,
          delay: delay
        )
      )
    }
    try context.save()
  }

  @Test func `searches texts`() throws {
    var printed: [String] = []
    func print(_ score: Double, _ text: String) { printed.append(text) }
    let found = try context.search(
      FetchDescriptor<Flight>(predicate: #Predicate { $0.month == 1 }),
      for: "jfk -lax",
      in: \.origin,
      \.destination
    )
    for match in found.prefix(10) {
      print(match.score, match.snippet(of: \.origin)?.text ?? match.model.origin)
    }
    #expect(found.count == 20)
    #expect(printed == Array(repeating: "JFK", count: 10))
  }

  @Test func `measures without objects`() throws {
    let january = FetchDescriptor<Flight>(predicate: #Predicate { $0.month == 1 })
    let (flights, delay, farthest) = try context.aggregate(
      january,
      .count,
      .average(\.departureDelay),
      .maximum(\.distance)
    )
    #expect(flights == 31)
    #expect(delay != nil)
    #expect(farthest == 400)

    var printed = 0
    func print(_ carrier: String, _ flights: Int, _ delay: Double) { printed += flights }
    for (carrier, (flights, delay)) in try context.aggregate(
      january,
      by: \.carrier,
      .count,
      .average(\.departureDelay)
    ) {
      print(carrier, flights, delay ?? 0)
    }
    #expect(printed == 31)
  }

  @Test func `groups by several things and by parts of dates`() throws {
    var newYork = Calendar(identifier: .gregorian)
    newYork.timeZone = try #require(TimeZone(identifier: "America/New_York"))
    let cancelled = FetchDescriptor<Flight>(predicate: #Predicate { $0.isCancelled })

    let routes = try context.aggregate(
      FetchDescriptor<Flight>(),
      by: (.value(\.origin), .value(\.destination)),
      .count
    )
    let makers = try context.aggregate(
      FetchDescriptor<Flight>(),
      by: \.plane?.manufacturer,
      .sum(\.distance)
    )
    let weeks = try context.aggregate(
      cancelled,
      by: .calendar(\.departure, .weekOfYear, in: newYork),
      .count
    )
    let byHour = try context.aggregate(
      FetchDescriptor<Flight>(),
      by: .component(.hour, of: \.departure, in: newYork),
      .average(\.departureDelay)
    )
    let bands = try context.aggregate(
      FetchDescriptor<Flight>(),
      by: .ranges(of: \.distance, [0..<350, 350..<2000]),
      .count
    )

    #expect(routes.map(\.values) == [26, 14])
    #expect(makers.map(\.key) == [nil])
    #expect(weeks.reduce(0) { $0 + $1.values } == 4)
    #expect(byHour.map(\.key) == [19])
    #expect(bands.count == 2)

    let january = FetchDescriptor<Flight>(predicate: #Predicate { $0.month == 1 })
    let worst = try context.aggregate(
      january,
      by: (.value(\.origin), .value(\.destination)),
      .count,
      .average(\.departureDelay)
    )
    .filter { $0.values.0 >= 10 }
    .sorted { ($0.values.1 ?? 0) > ($1.values.1 ?? 0) }
    .prefix(10)
    #expect(worst.count == 2)
  }

  @Test func `measures and groups by expressions`() throws {
    let january = FetchDescriptor<Flight>(predicate: #Predicate { $0.month == 1 })
    let route = #Expression<Flight, String> { $0.origin + "-" + $0.destination }
    let isLate = #Expression<Flight, Double> { ($0.departureDelay ?? 0) > 15 ? 1 : 0 }
    let lateness = try context.aggregate(january, by: .value(route), .count, .average(isLate))
    let longest = try context.aggregate(
      january,
      .maximum(#Expression { (flight: Flight) in flight.distance * 2 })
    )
    #expect(lateness.map(\.key) == ["JFK-BOSN", "JFK-LAX"])
    #expect(lateness.map(\.values.0) == [20, 11])
    #expect(lateness.allSatisfy { 0.3...0.6 ~= $0.values.1 ?? 0 })
    #expect(longest == 800)
  }

  @Test func `has predicates in predicates`() throws {
    struct Limits { var delay = 15.0 }
    let limits = Limits()
    let wanted = ["JFK-BOSN"]
    let flight = try #require(try context.fetch(FetchDescriptor<Flight>()).first)

    let late = #Predicate<Flight> { ($0.departureDelay ?? 0) > 15 }
    let route = #Expression<Flight, String> { $0.origin + "-" + $0.destination }
    let search = #Predicate<Flight> { flight in
      late.evaluate(flight) && !wanted.isEmpty && wanted.contains(route.evaluate(flight))
    }
    let sisters = #Predicate<Flight> { $0.plane == flight.plane && $0 != flight }
    #expect(try context.fetchCount(FetchDescriptor(predicate: search)) == 14)
    #expect(try context.fetchCount(FetchDescriptor(predicate: sisters)) == 39)

    let delayed = #Predicate<Flight> { flight in
      guard let delay = flight.departureDelay else { return false }
      if flight.isCancelled { return false }
      return delay > limits.delay && flight.departure < Date.now
    }
    #expect(try context.fetchCount(FetchDescriptor(predicate: delayed)) == 21)
    #expect(try context.explain(FetchDescriptor(predicate: delayed)).filteredBy == .store)
  }

  @Test func `says how a question was answered`() throws {
    let january = FetchDescriptor<Flight>(predicate: #Predicate { $0.month == 1 })
    var printed: [String] = []
    func print(_ plan: QueryPlan) { printed.append("\(plan)") }

    let far = FetchDescriptor<Flight>(
      predicate: #Predicate { $0.origin == "JFK" && $0.distance > 2000 }
    )
    print(try context.explain(far))
    let (delays, plans) = try context.explain {
      try context.aggregate(january, by: \.carrier, .average(\.departureDelay))
    }
    #expect(delays.count == 2)
    #expect(plans.count == 1)
    #expect(printed.count == 1)
  }

  @Test func `reports fetches that take long`() throws {
    let home = try TestFolder()
    let slow = Mutex<[String]>([])
    @Sendable func print(_ plan: QueryPlan) { slow.withLock { $0.append("\(plan)") } }
    var configuration = LogStoreConfiguration(url: home.url.appending(path: "flights.store"))
    configuration.slowFetchThreshold = .milliseconds(50)
    configuration.onSlowFetch = { plan in print(plan) }
    #expect(configuration.slowFetchThreshold == .milliseconds(50))
  }

  @Test func `fetches columns alone`() throws {
    let january = FetchDescriptor<Flight>(predicate: #Predicate { $0.month == 1 })
    var far: Set<String> = []
    for (origin, distance) in try context.fetch(january, \.origin, \.distance) {
      if distance > 350 { far.insert(origin) }
    }
    let carriers = try context.distinct(\.carrier, in: january)
    #expect(far == ["JFK"])
    #expect(carriers == ["DL", "UA"])
  }

  @Test func `changes many models without objects`() throws {
    let day = Date(timeIntervalSince1970: 1_356_998_400)
    let lines = [
      (month: 3, carrier: "AA", origin: "JFK", destination: "SFO", miles: 2586, departure: day)
    ]
    let inserted = try context.batchInsert(
      Flight.self,
      \.month,
      \.carrier,
      \.origin,
      \.destination,
      \.distance,
      \.departure,
      rows: lines.lazy.map {
        ($0.month, $0.carrier, $0.origin, $0.destination, $0.miles, $0.departure)
      }
    )
    let updated = try context.batchUpdate(
      Flight.self,
      where: #Predicate { $0.carrier == "UA" },
      .set(\.isCancelled, to: false),
      .add(5, to: \.departureDelay)
    )
    let gone = try context.batchDelete(Flight.self, where: #Predicate { $0.month == 2 })
    #expect(inserted.insertedCount == 1)
    #expect(updated.updatedCount == 20)
    #expect(gone.deletedIdentifiers.count == 9)
  }
}

@Model
final class Job {
  var title: String
  var due: Date
  var isDone = false
  init(_ title: String, due: Date) {
    self.title = title
    self.due = due
  }
}

private nonisolated(unsafe) var shown: [String] = []
private func print(_ title: String) { shown.append(title) }

@MainActor final class Agenda {
  private let jobs: ResultsObserver<Job, Never>

  init(_ container: ModelContainer) throws {
    jobs = try ResultsObserver(
      filterBy: #Predicate { !$0.isDone },
      sortBy: [SortDescriptor(\.due)],
      modelContext: container.mainContext
    )
  }

  func draw() {
    withObservationTracking {
      for job in jobs.results { print(job.title) }
    } onChange: {
      Task { @MainActor in self.draw() }
    }
  }
}

@MainActor
@Suite struct `The article on observing results` {
  @Test func `draws what is due`() throws {
    let container = try ModelContainer(
      for: Job.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let agenda = try Agenda(container)
    container.mainContext.insert(Job("second", due: Date(timeIntervalSince1970: 2)))
    container.mainContext.insert(Job("first", due: Date(timeIntervalSince1970: 1)))
    agenda.draw()
    #expect(shown == ["first", "second"])
  }
}

enum TripsV1: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Trip.self] }
  @Model
  final class Trip {
    var name: String
    init(name: String) { self.name = name }
  }
}

enum TripsV2: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Trip.self] }
  @Model
  final class Trip {
    @Attribute(.unique) var name: String
    init(name: String) { self.name = name }
  }
}

enum TripsV3: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }
  static var models: [any PersistentModel.Type] { [Trip.self] }
  @Model
  final class Trip {
    @Attribute(.unique) var name: String
    @Attribute(.preserveValueOnDeletion) var note: String?
    init(name: String) { self.name = name }
  }
}

typealias Trip = TripsV3.Trip

enum TripsPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [TripsV1.self, TripsV2.self, TripsV3.self] }
  static var stages: [MigrationStage] { [v1ToV2, v2ToV3] }

  static let v1ToV2 = MigrationStage.custom(
    fromVersion: TripsV1.self,
    toVersion: TripsV2.self,
    willMigrate: { context in  // Sees TripsV1.Trip.
      var names: Set<String> = []
      for trip in try context.fetch(FetchDescriptor<TripsV1.Trip>())
      where !names.insert(trip.name).inserted {
        context.delete(trip)
      }
      try context.save()
    },
    didMigrate: nil  // Would see TripsV2.Trip.
  )

  static let v2ToV3 = MigrationStage.lightweight(fromVersion: TripsV2.self, toVersion: TripsV3.self)
}

enum DowngradePlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [TripsV2.self, TripsV3.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: TripsV3.self, toVersion: TripsV2.self)]
  }
}

@Suite struct `The articles on migration and history` {
  @Test func `read the models of then, and say what became different`() throws {
    let container = try ModelContainer(
      for: Trip.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let trip = Trip(name: "Rome")
    context.insert(trip)
    try context.save()
    let transactions = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    let token = try #require(transactions.last?.token)
    trip.name = "Oslo"
    try context.save()

    let then = try ModelContext(container, asOf: token)  // or a date; .now pins what is there now
    let before = try then.fetch(FetchDescriptor<Trip>())
    try then.show(asOf: .now)  // moves on, with the objects it has

    #expect(before.map(\.name) == ["Oslo"])
    try then.show(asOf: token)
    #expect(before.map(\.name) == ["Rome"])

    var lines: [String] = []
    func print(_ items: Any...) { lines.append("\(items[0])") }
    let difference = try context.difference(from: token)
    for update in difference.updated where update.sets(\Trip.name) {
      print("renamed:", update.identifier)
    }
    print(difference.inserted.count, "new,", difference.deleted.count, "gone")
    #expect(lines == ["renamed:", "0"])
  }

  @Test func `take back what an author did`() throws {
    let container = try ModelContainer(
      for: Trip.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let trip = Trip(name: "Rome")
    context.insert(trip)
    try context.save()
    let importer = ModelContext(container)
    importer.author = "import"
    importer.insert(Trip(name: "Oslo"))
    try importer.fetch(FetchDescriptor<Trip>(predicate: #Predicate { $0.name == "Rome" }))[0].name =
      "ROME"
    try importer.save()

    var lines: [String] = []
    func print(_ items: Any...) { lines.append("\(items[0])") }
    let reversal = try context.revert(author: "import")
    for conflict in reversal.conflicts { print(conflict) }
    try context.save()
    #expect(lines.isEmpty)
    #expect(try context.fetch(FetchDescriptor<Trip>()).map(\.name) == ["Rome"])
  }

  @Test func `bring a store to its newest version, and tell what was saved`() async throws {
    let home = try TestFolder()
    let folder = home.url.appending(path: "trips.store")
    let old = try ModelContainer(
      for: Schema(versionedSchema: TripsV1.self),
      configurations: LogStoreConfiguration(url: folder)
    )
    let writer = ModelContext(old)
    for name in ["Rome", "Rome", "Oslo"] { writer.insert(TripsV1.Trip(name: name)) }
    try writer.save()
    try await old.close()

    let container = try ModelContainer(
      for: Trip.self,
      migrationPlan: TripsPlan.self,
      configurations: LogStoreConfiguration(url: folder)
    )
    let context = ModelContext(container)
    #expect(try context.fetch(FetchDescriptor<Trip>()).map(\.name).sorted() == ["Oslo", "Rome"])

    var newest = HistoryDescriptor<DefaultHistoryTransaction>(
      sortBy: [.init(\.token, order: .reverse)]
    )
    newest.fetchLimit = 1
    let token = try context.fetchHistory(newest).first?.token

    var last = try #require(token)
    let trip = Trip(name: "Lima")
    context.insert(trip)
    try context.save()
    trip.name = "Cuzco"
    try context.save()
    context.delete(trip)
    try context.save()
    var lines: [String] = []
    func print(_ items: Any...) {
      lines.append(items.map { "\($0)" }.joined(separator: " "))
    }

    let since = last
    let descriptor = HistoryDescriptor<DefaultHistoryTransaction>(
      predicate: #Predicate { $0.token > since && $0.author != "sync" }
    )
    let transactions = try context.fetchHistory(descriptor)
    for change in transactions.flatMap(\.changes) {
      switch change {
      case .insert(let insert as DefaultHistoryInsert<Trip>):
        print("new:", insert.changedPersistentIdentifier.urlComponent)
      case .update(let update as DefaultHistoryUpdate<Trip>):
        if update.updatedAttributes.contains(\.name) { print("renamed") }
      case .delete(let delete as DefaultHistoryDelete<Trip>):
        print("gone, with the note", delete.tombstone[\.note] ?? "–")
      default: break
      }
    }
    last = transactions.last?.token ?? last  // Codable: keep it for the next run.

    #expect(lines.count == 3)
    #expect(last > since)

    var configuration = LogStoreConfiguration(url: folder)
    configuration.newerStores = .takeBack
    #expect(configuration.newerStores == .takeBack)

    let copy = home.url.appending(path: "copy.store")
    for store in container.stores(of: LogStore.self) {
      print(store.statistics().liveByteCount, "bytes of rows")
      try store.backup(to: copy)
    }
    #expect(FileManager.default.fileExists(atPath: copy.path))
  }

  @Test func `tune a store`() throws {
    let home = try TestFolder()
    let folder = home.url.appending(path: "trips.store")
    var configuration = LogStoreConfiguration(url: folder, durability: .relaxed)
    configuration.compaction = .init(.automatic, historyByteCount: 64 << 20)
    let container = try ModelContainer(for: Trip.self, configurations: configuration)
    #expect(container.stores(of: LogStore.self).count == 1)
  }
}

@Model
final class Person {
  @Attribute(.unique) var email: String
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Letter.sender) var letters: [Letter] = []

  init(email: String, name: String) {
    self.email = email
    self.name = name
  }
}

@Model
final class Letter {
  var text: String
  var sender: Person?

  init(_ text: String, from sender: Person) {
    self.text = text
    self.sender = sender
  }
}

func letters(from email: String, in context: ModelContext) throws -> [Letter] {
  try context.fetch(
    FetchDescriptor(predicate: #Predicate { $0.sender?.email == email })
  )
}

@Test func `people are updated by what is unique`() throws {
  let container = try ModelContainer(
    for: Person.self,
    configurations: ModelConfiguration(isStoredInMemoryOnly: true)
  )
  let context = ModelContext(container)
  context.insert(Person(email: "ada@example.org", name: "A."))
  try context.save()
  let result = try context.batchUpsert(
    Person.self,
    \.email,
    \.name,
    rows: [("ada@example.org", "Ada"), ("bob@example.org", "Bob")]
  )
  #expect(result.updatedCount == 1)
  #expect(result.insertedCount == 1)
}

@Test func `letters are found by their sender`() throws {
  let container = try ModelContainer(
    for: Person.self,
    configurations: ModelConfiguration(isStoredInMemoryOnly: true)
  )
  let context = ModelContext(container)
  context.insert(Letter("Hello", from: Person(email: "ada@example.org", name: "Ada")))
  context.insert(Letter("Bye", from: Person(email: "bob@example.org", name: "Bob")))
  try context.save()
  #expect(try letters(from: "ada@example.org", in: context).map(\.text) == ["Hello"])
}
