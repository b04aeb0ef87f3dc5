import Foundation
import Harness
import LogStore
import SwiftData

/// Cities and visits as models in a LogStore.
final class ModelRelations: RelationStore {
  let contender = Contender.models
  let settings: String
  private let container: ModelContainer
  private var city: PersistentIdentifier?
  private var journal: PersistentIdentifier?

  init(_ folder: URL, state: String = "rows in the log") throws {
    settings = "a new ModelContext on LogStore, #Index on the city's name; \(state)"
    container = try ModelContainer(
      for: Self.schema,
      configurations: [Self.configuration(folder)]
    )
  }

  private static var schema: Schema {
    Schema([City.self, Visit.self, Journal.self, Entry.self])
  }

  private static func configuration(_ folder: URL) -> LogStoreConfiguration {
    var configuration = LogStoreConfiguration(url: folder, durability: .relaxed)
    configuration.schema = schema
    configuration.compaction = LogStoreConfiguration.Compaction(.onDemand, historyByteCount: 0)
    return configuration
  }

  /// Puts all rows of a closed store into packs.
  static func pack(_ folder: URL) throws {
    _ = try LogStore(configuration(folder), migrationPlan: nil).compact()
  }

  func fill(cities: Int, visits: Int) throws {
    let context = ModelContext(container)
    let all = (0..<cities).map(City.init)
    for city in all { context.insert(city) }
    try context.save()
    let names = all.map(\.persistentModelID)
    for start in stride(from: 0, to: visits, by: 10_000) {
      let context = ModelContext(container)
      for number in start..<min(start + 10_000, visits) {
        let visit = Visit(number)
        context.insert(visit)
        visit.city = context.model(for: names[number % cities]) as? City
      }
      try context.save()
    }
  }

  func countVisits(ofCityNamed name: String) throws -> Int {
    try ModelContext(container).fetchCount(
      FetchDescriptor<Visit>(predicate: #Predicate { $0.city?.name == name })
    )
  }

  func countCities(ratedAt rating: Int) throws -> Int {
    try ModelContext(container).fetchCount(
      FetchDescriptor<City>(predicate: #Predicate { $0.visits.contains { $0.rating == rating } })
    )
  }

  func traverse(_ count: Int) throws -> Int {
    var descriptor = FetchDescriptor<Visit>()
    descriptor.fetchLimit = count
    descriptor.relationshipKeyPathsForPrefetching = [\.city]
    return try ModelContext(container).fetch(descriptor).reduce(0) {
      $0 + ($1.city?.name.utf8.count ?? 0)
    }
  }

  func makeCrowdedCity(_ count: Int) throws {
    let context = ModelContext(container)
    let city = City(-1)
    context.insert(city)
    city.visits = (0..<count).map(Visit.init)
    try context.save()
    self.city = city.persistentModelID
  }

  func moveVisits() throws {
    let context = ModelContext(container)
    let other = try moveVisits(in: context)
    try context.save()
    city = other.persistentModelID
  }

  private func moveVisits(in context: ModelContext) throws -> City {
    let other = City(-2)
    context.insert(other)
    for visit in try crowdedCity(in: context).visits { visit.city = other }
    return other
  }

  func deleteCrowdedCity() throws {
    let context = ModelContext(container)
    context.delete(try crowdedCity(in: context))
    try context.save()
  }

  func makeJournal(_ count: Int) throws {
    let context = ModelContext(container)
    let journal = Journal("first")
    context.insert(journal)
    journal.entries = (0..<count).map(Entry.init)
    try context.save()
    self.journal = journal.persistentModelID
  }

  func deleteJournal() throws {
    let context = ModelContext(container)
    context.delete(try longJournal(in: context))
    try context.save()
    try WrongAnswer.check(context.fetchCount(FetchDescriptor<Entry>()), is: 0, .models)
  }

  func makeQuietCities(_ count: Int) throws {
    let context = ModelContext(container)
    for number in 0..<count {
      let city = City(-3)
      context.insert(city)
      city.visits = [Visit(number)]
    }
    try context.save()
  }

  func deleteQuietCities() throws {
    let context = ModelContext(container)
    for city in try quietCities(in: context) { context.delete(city) }
    try context.save()
    try WrongAnswer.check(quietCities(in: context).count, is: 0, .models)
  }

  private func quietCities(in context: ModelContext) throws -> [City] {
    try context.fetch(FetchDescriptor<City>(predicate: #Predicate { $0.name == "city -3" }))
  }

  func makeShortJournals(_ count: Int) throws {
    let context = ModelContext(container)
    for number in 0..<count {
      let journal = Journal("short")
      context.insert(journal)
      journal.entries = [Entry(number)]
    }
    try context.save()
  }

  func deleteShortJournals() throws {
    let context = ModelContext(container)
    for journal in try context.fetch(FetchDescriptor<Journal>()) { context.delete(journal) }
    try context.save()
    try WrongAnswer.check(context.fetchCount(FetchDescriptor<Entry>()), is: 0, .models)
  }

  private func longJournal(in context: ModelContext) throws -> Journal {
    guard let journal = journal.flatMap({ context.model(for: $0) as? Journal }) else {
      throw WrongAnswer(.models, expected: 1, found: 0)
    }
    return journal
  }

  private func crowdedCity(in context: ModelContext) throws -> City {
    guard let city = city.flatMap({ context.model(for: $0) as? City }) else {
      throw WrongAnswer(.models, expected: 1, found: 0)
    }
    return city
  }
}

// MARK: Memory

extension ModelRelations {
  func unsavedBytesOfMovingVisits() throws -> Int {
    try unsavedBytes { _ = try moveVisits(in: $0) }
  }

  func unsavedBytesOfDeletingCity() throws -> Int {
    try unsavedBytes { $0.delete(try crowdedCity(in: $0)) }
  }

  func unsavedBytesOfDeletingJournal() throws -> Int {
    try unsavedBytes { $0.delete(try longJournal(in: $0)) }
  }

  func unsavedBytesOfDeletingQuietCities() throws -> Int {
    try unsavedBytes { context in
      for city in try quietCities(in: context) { context.delete(city) }
    }
  }

  func unsavedBytesOfDeletingShortJournals() throws -> Int {
    try unsavedBytes { context in
      for journal in try context.fetch(FetchDescriptor<Journal>()) { context.delete(journal) }
    }
  }

  /// The memory that a context has more of after a change, objects and their rows included; then the change is saved.
  private func unsavedBytes(_ change: (ModelContext) throws -> Void) throws -> Int {
    let context = ModelContext(container)
    let before = liveHeapBytes()
    try change(context)
    let bytes = liveHeapBytes() - before
    try context.save()
    return bytes
  }
}
