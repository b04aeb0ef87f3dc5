import Foundation
import ModelRuntime
import Testing

@Suite struct `A schema made from model classes` {
  final class Trip: Described, DescribedModel {
    var name = ""
    var start: Date?
    var stops: [Stop] = []
    var tags: [String] = []
    class var schemaMetadata: [Schema.PropertyMetadata] {
      [
        .init(
          name: "name",
          keypath: \Trip.name,
          defaultValue: "Untitled",
          metadata: Schema.Attribute(.unique, originalName: "title", hashModifier: "v2")
        ),
        .init("start", \Trip.start),
        .init(
          "stops",
          \Trip.stops,
          Schema.Relationship(deleteRule: .cascade, maximumModelCount: 9)
        ),
        .init("tags", \Trip.tags),
        .init(
          "SwiftData.Schema.Index",
          \Schema.encodingVersion,
          Schema.Index<Trip>([\.start], [\.name, \.start])
        ),
        .init(
          "SwiftData.Schema.Unique",
          \Schema.encodingVersion,
          Schema.Unique<Trip>([\.name], [\.name, \.start])
        ),
      ]
    }
  }

  final class Stop: Described, DescribedModel {
    var city: City?
    var trip: Trip?
    class var schemaMetadata: [Schema.PropertyMetadata] {
      [
        .init("city", \Stop.city, Schema.Attribute(.unique)),
        .init("trip", \Stop.trip),
      ]
    }
  }

  class City: Described, DescribedModel {
    var label = ""
    class var schemaMetadata: [Schema.PropertyMetadata] { [.init("label", \City.label)] }
  }

  final class Capital: City {
    var country = ""
    override class var schemaMetadata: [Schema.PropertyMetadata] {
      [.init("country", \Capital.country)]
    }
  }

  /// Inherits the description of its superclass, as a class without `@Model` does.
  final class Undescribed: City {}

  @Test func `holds the listed classes first, then those they lead to`() {
    let schema = Schema([Stop.self])
    #expect(schema.entities.map(\.name) == ["Stop", "City", "Trip"])
    #expect(schema.complaint == nil)
  }

  @Test func `holds the superclass of a listed class`() {
    let schema = Schema([Capital.self])
    #expect(schema.entities.map(\.name) == ["Capital", "City"])
  }

  @Test func `lists a class once, however often it is named`() {
    #expect(Schema(City.self, City.self).entities.count == 1)
  }

  @Test func `keeps properties in the order of the source`() throws {
    let trip = try #require(Schema([Trip.self]).entity(for: Trip.self))
    #expect(trip.storedProperties.map(\.name) == ["name", "start", "stops", "tags"])
    #expect(trip.metadata.map(\.name) == ["name", "start", "stops", "tags"])
  }

  @Test func `carries over what an attribute asks for`() throws {
    let trip = try #require(Schema([Trip.self]).entity(for: Trip.self))
    let name = try #require(trip.attributesByName["name"])
    #expect(name.options == [.unique])
    #expect(name.originalName == "title")
    #expect(name.hashModifier == "v2")
    #expect(name.defaultValue as? String == "Untitled")
    #expect(name.valueType is String.Type)
    #expect(name.isUnique && !name.isOptional)
    let start = try #require(trip.attributesByName["start"])
    #expect(start.originalName == "start")
    #expect(start.valueType is Date?.Type)
    #expect(start.isOptional && !start.isUnique)
  }

  @Test func `carries over what a relationship asks for`() throws {
    let trip = try #require(Schema([Trip.self]).entity(for: Trip.self))
    let stops = try #require(trip.relationshipsByName["stops"])
    #expect(stops.destination == "Stop")
    #expect(stops.deleteRule == .cascade)
    #expect(stops.maximumModelCount == 9)
    #expect(!stops.isToOneRelationship && !stops.isOptional)
    #expect(stops.keypath == \Trip.stops)
  }

  @Test func `has no counts for a relationship that states none`() throws {
    let schema = Schema([Trip.self])
    let stops = try #require(schema.entitiesByName["Trip"]?.relationshipsByName["stops"])
    #expect(stops.minimumModelCount == 0)
    for property in ["trip", "city"] {
      let plain = try #require(schema.entitiesByName["Stop"]?.relationshipsByName[property])
      #expect(plain.minimumModelCount == nil && plain.maximumModelCount == nil)
    }
  }

  @Test func `is equal to one whose relationships state counts of zero`() throws {
    let (schema, other) = (Schema([Trip.self]), Schema([Trip.self]))
    let trip = try #require(other.entitiesByName["Stop"]?.relationshipsByName["trip"])
    (trip.minimumModelCount, trip.maximumModelCount) = (0, 0)
    #expect(schema == other && schema.checksum == other.checksum)
    trip.maximumModelCount = 1
    #expect(schema != other)
  }

  @Test func `shows an entity's class in a mirror, by the name that apps know`() throws {
    let capital = try #require(Schema([Capital.self]).entity(for: Capital.self))
    let type = Mirror(reflecting: capital).descendant("_objectType")
    #expect(type as? any PersistentModel.Type == Capital.self)
  }

  @Test func `merges unique attributes, #Unique and #Index without repeating a list`() throws {
    let trip = try #require(Schema([Trip.self]).entity(for: Trip.self))
    #expect(trip.uniquenessConstraints == [["name"], ["name", "start"]])
    #expect(trip.indices == [["binary", "start"], ["binary", "name", "start"]])
  }

  @Test func `links superentity and subentities, and passes properties down`() throws {
    let schema = Schema([City.self, Capital.self])
    let city = try #require(schema.entitiesByName["City"])
    let capital = try #require(schema.entitiesByName["Capital"])
    #expect(capital.superentity === city)
    #expect(capital.superentityName == "City")
    #expect(city.subentities.map(\.name) == ["Capital"])
    #expect(capital.inheritedProperties.map(\.name) == ["label"])
    #expect(capital.storedProperties.map(\.name) == ["country"])
    #expect(capital.properties.map(\.name) == ["label", "country"])
    #expect(capital.attributesByName.keys.sorted() == ["country", "label"])
  }

  @Test func `does not repeat properties in a subclass that describes none`() throws {
    let schema = Schema([Undescribed.self])
    let entity = try #require(schema.entitiesByName["Undescribed"])
    #expect(entity.storedProperties.isEmpty)
    #expect(entity.inheritedProperties.map(\.name) == ["label"])
  }

  @Test func `finds the entity of a class, and the property of a key path`() throws {
    let schema = Schema([Trip.self, Capital.self])
    let capital = try #require(schema.entity(for: Capital.self))
    #expect(schema.entity(forModelType: Capital.self) === capital)
    #expect(capital.modelType == Capital.self)
    #expect(capital.propertyName(for: \Capital.country) == "country")
    #expect(capital.propertyName(for: \City.label) == "label")
    #expect(capital.propertyName(for: \Trip.name) == nil)
    #expect(Schema().entity(for: Capital.self) == nil)
  }

  @Test func `calls an entity like its class, without what it is nested in`() {
    #expect(Schema.entityName(for: Trip.self) == "Trip")
  }

  @Test func `takes version and models from a versioned schema`() {
    enum V2: VersionedSchema {
      static let versionIdentifier = Schema.Version(2, 1, 0)
      static let models: [any PersistentModel.Type] = [City.self]
    }
    let schema = Schema(versionedSchema: V2.self)
    #expect(schema.version == Schema.Version(2, 1, 0))
    #expect(schema.entities.map(\.name) == ["City"])
  }
}
