import Foundation
import SwiftData

// In the style of "Dive deeper into SwiftData" (WWDC23): schemas in several stores, enumeration,
// and notifications of saves.

enum DiveDeeper {
  @Model
  final class Trip {
    var destination: String?
    var end_date: Date?
    var name: String?
    var start_date: Date?

    @Relationship(deleteRule: .cascade)
    var bucketListItem: [BucketListItem] = [BucketListItem]()

    @Relationship(deleteRule: .cascade)
    var livingAccommodation: LivingAccommodation?

    init(name: String) { self.name = name }
  }

  @Model
  final class BucketListItem {
    var title: String
    init(title: String) { self.title = title }
  }

  @Model
  final class LivingAccommodation {
    var placeName: String
    var isConfirmed: Bool = false
    init(placeName: String) { self.placeName = placeName }
  }

  @Model
  final class Person {
    var firstName: String
    var lastName: String
    @Relationship(inverse: \Address.residents) var addresses: [Address] = []
    @Attribute(.externalStorage) var portrait: Data?

    init(firstName: String, lastName: String) {
      self.firstName = firstName
      self.lastName = lastName
    }
  }

  @Model
  final class Address {
    var street: String
    var residents: [Person] = []
    init(street: String) { self.street = street }
  }

  static func makeContainer() throws -> ModelContainer {
    let fullSchema = Schema([
      Trip.self, BucketListItem.self, LivingAccommodation.self, Person.self, Address.self,
    ])
    let trips = ModelConfiguration(
      "trips",
      schema: Schema([Trip.self, BucketListItem.self, LivingAccommodation.self]),
      isStoredInMemoryOnly: true
    )
    let people = ModelConfiguration(
      "people",
      schema: Schema([Person.self, Address.self]),
      isStoredInMemoryOnly: true
    )
    return try ModelContainer(for: fullSchema, configurations: [trips, people])
  }

  static func confirmAll(in context: ModelContext) throws -> Int {
    var count = 0
    let isOpen = #Predicate<Trip> { trip in
      trip.livingAccommodation != nil && trip.livingAccommodation?.isConfirmed == false
    }
    try context.enumerate(
      FetchDescriptor(predicate: isOpen),
      batchSize: 100,
      allowEscapingMutations: true
    ) { trip in
      trip.livingAccommodation?.isConfirmed = true
      count += 1
    }
    return count
  }

  static func onSave(of context: ModelContext, _ body: @escaping @Sendable () -> Void)
    -> any NSObjectProtocol
  {
    NotificationCenter.default.addObserver(
      forName: ModelContext.didSave,
      object: context,
      queue: nil
    ) { _ in body() }
  }
}
