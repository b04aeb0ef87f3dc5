public import Foundation
public import Harness
import SwiftData
public import Workloads

/// Trips as models in a LogStore, each call as an app would write it.
///
/// One context lives on for what is saved and for reads by identifier; each query has a new one, as no object
/// is at hand yet.
public final class ModelTrips: MixedTripStore {
  /// Nobody else holds them, so that letting go closes the store.
  private var opened: (container: ModelContainer, context: ModelContext)?
  /// The names of the models that are about to be asked for.
  private var names: [UInt64: PersistentIdentifier] = [:]
  private var knownStore: String?

  public static func settings(_ durability: Harness.Durability) -> String {
    "ModelContext on LogStore, \(durability == .full ? ".full" : ".relaxed"); model(for:) by identifier"
  }

  /// Opens a store, or makes it.
  ///
  /// - Parameters:
  ///   - folder: Its folder.
  ///   - durability: The event that a save waits for.
  /// - Throws: What the store throws.
  public convenience init(_ folder: URL, _ durability: Harness.Durability) throws {
    self.init(
      sharing: try ModelContainer(
        for: Schema([Trip.self]),
        configurations: [
          LogStoreConfiguration(url: folder, durability: durability == .full ? .full : .relaxed)
        ]
      )
    )
  }

  private init(sharing container: ModelContainer) {
    opened = (container, ModelContext(container))
  }

  public func insert(_ records: ArraySlice<TripRecord>, firstKey: UInt64) throws {
    let context = try open.context
    for record in records { context.insert(Trip(record)) }
    try context.save()
  }

  public func prepare(_ keys: ArraySlice<UInt64>) throws {
    names.removeAll(keepingCapacity: true)
    for key in keys { names[key] = try name(of: key) }
  }

  public func read(_ key: UInt64) throws -> Int { try trip(key).checksum }

  public func raiseRatings(_ keys: ArraySlice<UInt64>) throws {
    for key in keys { try trip(key).rating += 1 }
    try open.context.save()
  }

  public func overwrite(_ records: ArraySlice<TripRecord>) throws {
    for record in records {
      let trip = try trip(record.id)
      trip.name = record.name
      trip.destination = record.destination
      trip.startDate = record.startDate
      trip.endDate = record.endDate
      trip.rating = record.rating
      trip.isFavorite = record.isFavorite
      trip.note = record.note
      trip.tag = record.tag
    }
    try open.context.save()
  }

  /// Models are asked for by attributes, and trips have no key among theirs: they are read one by one.
  public func read(_ count: Int, from first: UInt64) throws -> Int {
    try (first..<first + UInt64(count)).reduce(0) { try $0 + read($1) }
  }

  public func count(destination: String, ratingAbove rating: Int64) throws -> Int {
    try ModelContext(open.container).fetchCount(
      FetchDescriptor<Trip>(
        predicate: #Predicate { $0.destination == destination && $0.rating > rating }
      )
    )
  }

  public func readEarliest(_ count: Int) throws -> Int {
    try read(FetchDescriptor(sortBy: [SortDescriptor(\.startDate)]), count)
  }

  public func readFirst(_ count: Int) throws -> Int { try read(FetchDescriptor(), count) }

  public func makeHandle() throws -> any TripStore { ModelTrips(sharing: try open.container) }

  public func close() throws {
    names = [:]
    opened = nil
  }

  private var open: (container: ModelContainer, context: ModelContext) {
    get throws {
      guard let opened else { throw ClosedStore() }
      return opened
    }
  }

  private func trip(_ key: UInt64) throws -> Trip {
    let identifier = try names[key] ?? name(of: key)
    guard let trip = try open.context.model(for: identifier) as? Trip else {
      throw WrongAnswer(.models, expected: Int(key), found: 0)
    }
    return trip
  }

  /// Models have the keys 1, 2, 3 in the order in which they were saved.
  private func name(of key: UInt64) throws -> PersistentIdentifier {
    try .identifier(for: storeIdentifier(), entityName: "Trip", primaryKey: key)
  }

  private func storeIdentifier() throws -> String {
    if let knownStore { return knownStore }
    var descriptor = FetchDescriptor<Trip>()
    descriptor.fetchLimit = 1
    let found = try open.context.fetchIdentifiers(descriptor).first?.storeIdentifier
    knownStore = found
    return found ?? ""
  }

  private func read(_ descriptor: FetchDescriptor<Trip>, _ count: Int) throws -> Int {
    var descriptor = descriptor
    descriptor.fetchLimit = count
    return try ModelContext(open.container).fetch(descriptor).reduce(0) { $0 + $1.checksum }
  }
}

/// A store was asked that is closed.
struct ClosedStore: Error {}
