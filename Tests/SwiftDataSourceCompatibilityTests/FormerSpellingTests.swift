import Foundation
import SwiftData
import Testing

@Suite struct `Listings in former spellings` {
  @available(*, deprecated, message: "in former spellings on purpose")
  @Test func `of the first seeds compile and run`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for container in try FirstSeeds.containers(in: folder) {
      let context = ModelContext(container)
      let trip = try FirstSeeds.plan(in: context)
      #expect(context.object(with: trip.objectID) === trip)
      let registered: FirstSeeds.Trip? = context.registeredObject(for: trip.objectID)
      #expect(registered === trip)
      let other = try #require(
        ModelContext(container).model(for: trip.objectID) as? FirstSeeds.Trip
      )
      #expect(other.note == "warm socks")
      #expect(other.route == FirstSeeds.Route(stops: ["Reykjavík", "Vík"]))
      #expect(try await FirstSeeds.Importer(container: container).count() == 1)
      context.delete(object: trip)
      try context.save()
      #expect(try context.fetchCount(FetchDescriptor<FirstSeeds.BucketListItem>()) == 0)
      #expect(try context.fetchCount(FetchDescriptor<FirstSeeds.LivingAccommodation>()) == 0)
    }
  }

  @available(*, deprecated, message: "in former spellings on purpose")
  @Test func `mean in the schema what today's spellings mean`() throws {
    let entity = try #require(Schema([FirstSeeds.Trip.self]).entitiesByName["Trip"])
    #expect(entity.attributesByName["passport"]?.options == [.allowsCloudEncryption])
    #expect(entity.attributesByName["route"]?.options == [.codable])
    #expect(
      entity.attributesByName["note"]?.options
        == [.transformable(by: FirstSeeds.ReversingTransformer.self)]
    )
    #expect(entity.relationshipsByName["bucketList"]?.deleteRule == .cascade)
    #expect(entity.relationshipsByName["bucketList"]?.inverseName == "trip")
    #expect(entity.relationshipsByName["livingAccommodation"]?.deleteRule == .cascade)
  }

  @available(*, deprecated, message: "in former spellings on purpose")
  @Test func `of a custom store name the store StoreType`() throws {
    let container = try ModelContainer(
      for: Schema([NewestSession.Activity.self]),
      configurations: [FirstStoreConfiguration()]
    )
    let context = ModelContext(container)
    #expect(try context.fetch(FetchDescriptor<NewestSession.Activity>()).isEmpty)
  }

  @available(*, deprecated, message: "in former spellings on purpose")
  @MainActor @Test func `of sections call a title a name`() throws {
    let store = try TestStore(.memory, NewestSession.Activity.self)
    store.container.mainContext.insert(NewestSession.Activity(name: "Swim"))
    let observer = try ResultsObserver<NewestSession.Activity, String>(
      sectionBy: \.name,
      modelContext: store.container.mainContext
    )
    let sections: ResultsSectionCollection<NewestSession.Activity, String> = try #require(
      observer.sections
    )
    #expect(sections[sectionName: "Swim"]?.name == "Swim")
  }
}
