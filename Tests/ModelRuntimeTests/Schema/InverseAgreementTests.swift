import Testing

@testable import ModelRuntime

@Suite struct `The schema and the runtime` {
  class Trip: Described, DescribedModel {
    var lodging: Lodging?
    var companions: [Person] = []
    class var schemaMetadata: [Schema.PropertyMetadata] {
      [.init("lodging", \Trip.lodging), .init("companions", \Trip.companions)]
    }
  }
  final class GuidedTrip: Trip {
    var guide: Guide?
    var leader: Person?
    override class var schemaMetadata: [Schema.PropertyMetadata] {
      [
        .init("guide", \GuidedTrip.guide),
        .init("leader", \GuidedTrip.leader, Schema.Relationship(inverse: \Person.led)),
      ]
    }
  }
  /// Inherits a relationship to the class that its own leads to.
  final class Excursion: Trip {
    var customer: Person?
    override class var schemaMetadata: [Schema.PropertyMetadata] {
      [.init("customer", \Excursion.customer)]
    }
  }
  final class Guide: Described, DescribedModel {
    // Any trip, though only guided ones lead back.
    var trips: [Trip] = []
    class var schemaMetadata: [Schema.PropertyMetadata] { [.init("trips", \Guide.trips)] }
  }
  final class Lodging: Described, DescribedModel {
    var trip: Trip?
    class var schemaMetadata: [Schema.PropertyMetadata] { [.init("trip", \Lodging.trip)] }
  }
  final class Person: Described, DescribedModel {
    var trips: [Trip] = []
    var led: [GuidedTrip] = []
    var booked: [Excursion] = []
    var friend: Person?
    var friends: [Person] = []
    class var schemaMetadata: [Schema.PropertyMetadata] {
      [
        .init("trips", \Person.trips), .init("led", \Person.led),
        .init("booked", \Person.booked),
        .init("friend", \Person.friend), .init("friends", \Person.friends),
      ]
    }
  }

  @Test func `agree on what leads back`() throws {
    let schema = Schema([Trip.self, GuidedTrip.self, Excursion.self])
    #expect(schema.complaint == nil)
    #expect(schema.entitiesByName["Guide"]?.relationshipsByName["trips"]?.inverseName == nil)
    #expect(
      schema.entitiesByName["Excursion"]?.relationshipsByName["customer"]?.inverseName == "booked"
    )
    for entity in schema.entities {
      let descriptor = ModelDescriptor.of(try #require(entity.modelType))
      for relationship in entity.relationships {
        #expect(
          descriptor.property(named: relationship.name)?.inverse?.name == relationship.inverseName,
          "\(entity.name).\(relationship.name)"
        )
      }
    }
  }
}
