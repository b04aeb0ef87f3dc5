import Foundation
import SwiftData
import Testing

@Suite struct `A store that an app brings` {
  typealias Trip = CustomDataStore.Trip
  typealias Memo = CustomDataStore.Memo

  @Test func `keeps models, and lets the context filter, sort, count and delete`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "trips.json")

    try
      ({
        let context = ModelContext(try CustomDataStore.makeArchive(at: file))
        for number in 1...5 {
          let trip = Trip(name: "trip \(number)", destination: number % 2 == 0 ? "Rome" : "Oslo")
          trip.stops = [CustomDataStore.Stop(city: "stop \(number)")]
          context.insert(trip)
        }
        try context.save()
      })()

    let container = try CustomDataStore.makeArchive(at: file)
    let context = ModelContext(container)
    let oslo = #Predicate<Trip> { $0.destination == "Oslo" }
    var descriptor = FetchDescriptor(
      predicate: oslo,
      sortBy: [SortDescriptor(\.name, order: .reverse)]
    )
    descriptor.fetchLimit = 2
    #expect(try context.fetch(descriptor).map(\.name) == ["trip 5", "trip 3"])
    #expect(try context.fetch(descriptor).first?.stops.map(\.city) == ["stop 5"])
    #expect(try context.fetchCount(FetchDescriptor(predicate: oslo)) == 3)
    #expect(try context.fetchIdentifiers(descriptor).count == 2)
    try context.delete(model: Trip.self, where: oslo)
    try context.save()
    let other = ModelContext(container)
    #expect(try other.fetchCount(FetchDescriptor<Trip>()) == 2)
    #expect(try other.fetchCount(FetchDescriptor<CustomDataStore.Stop>()) == 2)
    try container.erase()
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test func `may take snapshots of its own kind`() throws {
    let container = try CustomDataStore.makeMemoStore()
    let context = ModelContext(container)
    let memo = Memo(text: "buy milk", stars: 3)
    memo.tags = ["home"]
    context.insert(memo)
    try context.save()
    memo.stars = 4
    try context.save()
    let found = try #require(try ModelContext(container).fetch(FetchDescriptor<Memo>()).first)
    #expect(found.text == "buy milk")
    #expect(found.stars == 4)
    #expect(found.tags == ["home"])
  }

  @Test func `may change values, which the saved objects then have`() throws {
    let context = ModelContext(try CustomDataStore.makeMemoStore())
    let memo = Memo(text: "a", stars: 9)
    context.insert(memo)
    try context.save()
    #expect(memo.stars == 5)
    memo.stars = 7
    try context.save()
    #expect(memo.stars == 5)
    #expect(!memo.hasChanges)
  }

  @Test func `may make an update of an insert`() throws {
    let container = try CustomDataStore.makeMemoStore()
    let context = ModelContext(container)
    let first = Memo(text: "a", stars: 1)
    context.insert(first)
    try context.save()
    let second = Memo(text: "a", stars: 2)
    context.insert(second)
    try context.save()
    #expect(second.persistentModelID == first.persistentModelID)
    #expect(first.stars == 2)
    #expect(second.modelContext == nil)
    #expect(try context.fetch(FetchDescriptor<Memo>()).map(\.stars) == [2])
  }
}
