import Foundation
import LogStore
import SchedulePoints
import SwiftData
import Synchronization
import Testing

/// A store of others in front of a log store, which it speaks to in snapshots.
final class FrontedStore: DataStore {
  struct Configuration: DataStoreConfiguration {
    typealias Store = FrontedStore

    var base: LogStoreConfiguration

    var name: String { base.name }
    var schema: Schema? {
      get { base.schema }
      set { base.schema = newValue }
    }
  }

  /// Ends a save that would go on for ever.
  struct TooManyAttempts: Error {}

  typealias Snapshot = LogStore.Snapshot

  let configuration: Configuration
  let base: LogStore
  private let attempts = Atomic(0)

  var identifier: String { base.identifier }
  var schema: Schema { base.schema }

  init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    base = try LogStore(configuration.base, migrationPlan: migrationPlan)
  }

  func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, Snapshot> where T: PersistentModel {
    try base.fetch(request)
  }

  func save(
    _ request: DataStoreSaveChangesRequest<Snapshot>
  ) throws -> DataStoreSaveChangesResult<Snapshot> {
    let count = attempts.add(1, ordering: .sequentiallyConsistent).newValue
    if count > 100 { throw TooManyAttempts() }
    return try base.save(request)
  }
}

enum Fronted {
  @Model final class Trip {
    var number: Int
    var stops: [Stop] = []

    init(_ number: Int) { self.number = number }
  }

  @Model final class Stop {
    var name: String
    @Relationship(inverse: \Trip.stops) var trip: Trip?

    init(_ name: String) { self.name = name }
  }
}

@Suite struct `A store in front of a log store` {
  typealias Trip = Fronted.Trip
  typealias Stop = Fronted.Stop

  private let folder: TemporaryFolder
  private let container: ModelContainer

  init() throws {
    folder = try TemporaryFolder()
    container = try Self.open(folder)
    let context = ModelContext(container)
    let (first, second) = (Trip(1), Trip(2))
    context.insert(first)
    context.insert(second)
    first.stops = ["c", "a", "b"].map { Stop($0) }
    second.stops = ["x", "y", "z"].map { Stop($0) }
    try context.save()
  }

  private static func open(
    _ folder: TemporaryFolder,
    allowsSave: Bool = true
  ) throws -> ModelContainer {
    let url = folder.url.appending(path: "trips.store")
    let base = LogStoreConfiguration(url: url, allowsSave: allowsSave, durability: .relaxed)
    return try ModelContainer(
      for: Schema([Trip.self, Stop.self]),
      configurations: [FrontedStore.Configuration(base: base)]
    )
  }

  private func trips(_ context: ModelContext) throws -> [Trip] {
    try context.fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.number)]))
  }

  private func stop(_ name: String, _ context: ModelContext) throws -> Stop {
    let named = FetchDescriptor<Stop>(predicate: #Predicate { $0.name == name })
    return try #require(try context.fetch(named).first)
  }

  /// What is stored, seen without what this process remembers of it.
  private func stored() throws -> [[String]] {
    try trips(ModelContext(container)).map { $0.stops.map(\.name) }
  }

  @Test func `nullifies a relationship to an owner that another context has deleted, and no other`()
    throws
  {
    let (context, other) = (ModelContext(container), ModelContext(container))
    let trips = try trips(context)
    #expect(trips.map { $0.stops.map(\.name) } == [["c", "a", "b"], ["x", "y", "z"]])
    other.delete(try self.trips(other)[0])
    try other.save()
    let new = Stop("new")
    context.insert(new)
    new.trip = trips[0]
    try context.save()
    #expect(new.trip == nil)
    #expect(!trips[1].isDeleted)
    #expect(trips[1].stops.map(\.name) == ["x", "y", "z"])
    new.trip = trips[1]
    try context.save()
    #expect(try stored() == [["x", "y", "z", "new"]])
  }

  @Test func `keeps the places of members that change otherwise`() throws {
    let context = ModelContext(container)
    try stop("c", context).name = "d"
    try context.save()
    #expect(try stored() == [["d", "a", "b"], ["x", "y", "z"]])
  }

  @Test func `keeps a list in the order that it was put in`() throws {
    let context = ModelContext(container)
    let trips = try trips(context)
    trips[0].stops.sort { $0.name < $1.name }
    trips[1].stops.insert(Stop("0"), at: 1)
    try context.save()
    #expect(try stored() == [["a", "b", "c"], ["x", "0", "y", "z"]])
    trips[0].stops.append(try stop("x", context))
    trips[1].stops.append(try stop("a", context))
    try context.save()
    #expect(try stored() == [["b", "c", "x"], ["0", "y", "z", "a"]])
    trips[1].stops.reverse()
    try context.save()
    #expect(try stored() == [["b", "c", "x"], ["a", "z", "y", "0"]])
  }

  @Test func `leaves alone what others have put into a list meanwhile, or taken out of it`() throws
  {
    let base = try #require(container.stores(of: FrontedStore.self).first?.base)
    let state = EditingState()
    let request = DataStoreFetchRequest(descriptor: FetchDescriptor<Trip>(), editingState: state)
    let found = try base.fetch(request).fetchedSnapshots
    #expect(found.count == 2)
    let other = ModelContext(container)
    try stop("a", other).trip = nil
    try stop("z", other).trip = try self.trips(other)[0]
    try other.save()
    _ = try base.save(
      DataStoreSaveChangesRequest(
        inserted: [],
        updated: found,
        deleted: [],
        editingState: state
      )
    )
    #expect(try stored() == [["c", "b", "z"], ["x", "y"]])
  }

  @Test func `gives no place to a member that others move to another list before the save commits`()
    throws
  {
    let base = try #require(container.stores(of: FrontedStore.self).first?.base)
    let state = EditingState()
    let first = FetchDescriptor<Trip>(predicate: #Predicate { $0.number == 1 })
    let request = DataStoreFetchRequest(descriptor: first, editingState: state)
    let found = try base.fetch(request).fetchedSnapshots
    let sorting = ModelContext(container)
    try trips(sorting)[0].stops.sort { $0.name < $1.name }
    try sorting.save()
    // Only "c" gets another place when the list is put back.
    let thread = UInt(bitPattern: Int(bitPattern: pthread_self()))
    let isDue = Mutex(true)
    let hook = ScheduleHook { [container] point in
      guard point == .beforeCommit, thread == UInt(bitPattern: Int(bitPattern: pthread_self())),
        isDue.withLock({ due in
          defer { due = false }
          return due
        })
      else { return }
      do {
        let other = ModelContext(container)
        let trips = try other.fetch(FetchDescriptor<Trip>())
        let stops = try other.fetch(FetchDescriptor<Stop>())
        let second = try #require(trips.first { $0.number == 2 })
        let moved = try #require(stops.first { $0.name == "c" })
        second.stops.insert(moved, at: 1)
        try other.save()
      } catch {
        Issue.record(error)
      }
    }
    defer { hook.remove() }
    _ = try base.save(
      DataStoreSaveChangesRequest(
        inserted: [],
        updated: found,
        deleted: [],
        editingState: state
      )
    )
    #expect(isDue.withLock { !$0 })
    #expect(try stored() == [["a", "b"], ["x", "c", "y", "z"]])
  }

  @Test func `that only reads sees each save that has returned, and lists as of the same commit`()
    throws
  {
    let reader = try Self.open(folder, allowsSave: false)
    let context = ModelContext(container)
    for number in 3..<6 {
      let trip = Trip(number)
      context.insert(trip)
      trip.stops = [Stop("\(number)")]
      try context.save()
      let found = try trips(ModelContext(reader))
      #expect(found.map(\.number) == Array(1...number))
      #expect(found.last?.stops.map(\.name) == ["\(number)"])
    }
  }
}
