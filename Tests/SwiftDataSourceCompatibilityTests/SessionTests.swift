import Foundation
import Synchronization
import SwiftData
import Testing

@Suite struct `The sessions' models` {
  @Test(arguments: TestStore.Kind.allCases)
  func `save a planned trip and find it again`(in kind: TestStore.Kind) throws {
    let store = try TestStore(
      kind,
      MeetSwiftData.Trip.self,
      MeetSwiftData.BucketListItem.self,
      MeetSwiftData.LivingAccommodation.self
    )
    let trip = MeetSwiftData.Trip(
      name: "A birthday",
      destination: "New York",
      startDate: .now.addingTimeInterval(86_400)
    )
    try MeetSwiftData.plan(trip, in: store.makeContext())
    let found = try MeetSwiftData.tripsToNewYork(in: store.makeContext())
    #expect(found.map(\.name) == ["A birthday"])
    #expect(
      found.first?.bucketList?.map(\.title) == [
        "See the Statue of Liberty", "Walk the High Line",
      ]
    )
    #expect(found.first?.livingAccommodation?.address.city == "New York")
  }

  @Test func `of three versions describe their properties each in their own way`() {
    #expect(SampleTripsMigrationPlan.schemas.count == 3)
    #expect(SampleTripsMigrationPlan.stages.count == 2)
    let names = { (version: any VersionedSchema.Type) in
      Schema(versionedSchema: version).entitiesByName["Trip"]?.attributes.map(\.name).sorted()
    }
    #expect(
      names(SampleTripsSchemaV1.self) == ["destination", "end_date", "name", "start_date"]
    )
    #expect(names(SampleTripsSchemaV3.self) == ["destination", "endDate", "name", "startDate"])
    let schema = Schema(versionedSchema: SampleTripsSchemaV3.self)
    let start = schema.entitiesByName["Trip"]?.attributesByName["startDate"]
    #expect(start?.originalName == "start_date")
    #expect(schema.entitiesByName["Trip"]?.attributesByName["name"]?.isUnique == true)
  }

  @Test(arguments: TestStore.Kind.allCases)
  func `are confirmed while they are enumerated, and the save is heard`(in kind: TestStore.Kind)
    throws
  {
    let store = try TestStore(
      kind,
      DiveDeeper.Trip.self,
      DiveDeeper.BucketListItem.self,
      DiveDeeper.LivingAccommodation.self
    )
    let context = store.makeContext()
    for number in 0..<25 {
      let trip = DiveDeeper.Trip(name: "\(number)")
      context.insert(trip)
      if number.isMultiple(of: 5) {
        trip.livingAccommodation = DiveDeeper.LivingAccommodation(placeName: "\(number)")
      }
    }
    try context.save()
    let saves = Mutex(0)
    let observer = DiveDeeper.onSave(of: context) { saves.withLock { $0 += 1 } }
    defer { NotificationCenter.default.removeObserver(observer) }
    #expect(try DiveDeeper.confirmAll(in: context) == 5)
    try context.save()
    #expect(saves.withLock { $0 } == 1)
    #expect(try DiveDeeper.confirmAll(in: store.makeContext()) == 0)
  }

  @Test func `are kept each in the store that its configuration names`() throws {
    let container = try DiveDeeper.makeContainer()
    #expect(container.configurations.count == 2)
    let context = ModelContext(container)
    let ann = DiveDeeper.Person(firstName: "Ann", lastName: "Lee")
    ann.addresses.append(DiveDeeper.Address(street: "Main Street"))
    ann.portrait = Data(repeating: 7, count: 100_000)
    context.insert(ann)
    context.insert(DiveDeeper.Trip(name: "Coast"))
    try context.save()
    let reader = ModelContext(container)
    let found = try #require(try reader.fetch(FetchDescriptor<DiveDeeper.Person>()).first)
    #expect(found.addresses.first?.residents == [found])
    #expect(found.portrait?.count == 100_000)
    let trip = try #require(try reader.fetch(FetchDescriptor<DiveDeeper.Trip>()).first)
    #expect(
      found.persistentModelID.storeIdentifier != trip.persistentModelID.storeIdentifier
    )
  }

  @Test(arguments: TestStore.Kind.allCases)
  func `are found by text, dates and what is in their lists`(in kind: TestStore.Kind) throws {
    let store = try TestStore(
      kind,
      WhatsNew.Trip.self,
      WhatsNew.BucketListItem.self,
      WhatsNew.LivingAccommodation.self
    )
    let context = store.makeContext()
    let day = { Date(timeIntervalSinceReferenceDate: 86_400 * $0) }
    for (name, start) in [("Alps", 1.0), ("Alpine lakes", 5), ("Coast", 3)] {
      let trip = WhatsNew.Trip(
        name: name,
        destination: "Europe",
        startDate: day(start),
        endDate: day(start + 1)
      )
      context.insert(trip)
      trip.bucketList = (0..<Int(start)).map { WhatsNew.BucketListItem(title: "\($0)") }
    }
    try context.save()
    let reader = store.makeContext()
    let names = { (predicate: Predicate<WhatsNew.Trip>) in
      try reader.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.startDate)]))
        .map(\.name)
    }
    #expect(
      try names(WhatsNew.search("ALP", from: day(0), to: day(10))) == ["Alps", "Alpine lakes"]
    )
    #expect(try names(WhatsNew.search("", from: day(2), to: day(10))) == ["Coast", "Alpine lakes"])
    #expect(try names(WhatsNew.busyTrips(moreThan: 2)) == ["Coast", "Alpine lakes"])
  }

  @Test(arguments: TestStore.Kind.allCases)
  func `that inherit are fetched by their class, and told apart in predicates`(
    in kind: TestStore.Kind
  ) throws {
    let store = try TestStore(
      kind,
      Journey.self,
      BusinessJourney.self,
      PersonalJourney.self,
      Stopover.self
    )
    let context = store.makeContext()
    context.insert(Journey(name: "plain", destination: "Rome"))
    context.insert(BusinessJourney(name: "fair", destination: "Cologne", perdiem: 80))
    let reunion = PersonalJourney(name: "school", destination: "Bonn", reason: .reunion)
    context.insert(reunion)
    context.insert(PersonalJourney(name: "spa", destination: "Baden", reason: .wellness))
    reunion.stopovers.append(Stopover(city: "Mainz"))
    try context.save()

    let reader = store.makeContext()
    let all = try reader.fetch(FetchDescriptor<Journey>(sortBy: [SortDescriptor(\.name)]))
    #expect(all.map(\.name) == ["fair", "plain", "school", "spa"])
    #expect((all.first as? BusinessJourney)?.perdiem == 80)
    #expect(try reader.fetchCount(FetchDescriptor<PersonalJourney>()) == 2)
    let business = try reader.fetch(FetchDescriptor(predicate: Journey.business))
    #expect(business.map(\.name) == ["fair"])
    let reunions = try reader.fetch(FetchDescriptor(predicate: Journey.personal(because: .reunion)))
    #expect(reunions.map(\.name) == ["school"])
    #expect(reunions.first?.stopovers.map(\.city) == ["Mainz"])
    #expect(reunions.first?.stopovers.first?.journey is PersonalJourney)
  }
}
