import Foundation
import ModelRuntime
import Testing

@Suite struct `A composite attribute` {
  enum Kind: String, Codable { case home, work }
  enum Payload: Codable { case none, some(Int) }
  struct Location: Codable {
    var latitude: Double
    var altitude: Float?
  }
  struct Address: Codable {
    var street: String
    var number: Int?
    var kind: Kind
    var location: Location
    var former: [Location]
    var payload: Payload?
    var since: Date
    var price: Decimal
    enum CodingKeys: String, CodingKey {
      case street = "road"
      case number, kind, location, former, payload, since, price
    }
  }
  struct Opaque: Codable {
    var code = 0
  }
  struct Wrapped: RawRepresentable, Codable {
    var rawValue: String
  }

  final class Person: Described, DescribedModel {
    var address: Address?
    var location = Location(latitude: 0)
    var payload = Payload.none
    var kind = Kind.home
    var wrapped = Wrapped(rawValue: "")
    var opaque = Opaque()
    var stay = DateInterval()
    class var schemaMetadata: [Schema.PropertyMetadata] {
      [
        .init("address", \Person.address),
        .init("location", \Person.location),
        .init("payload", \Person.payload),
        .init("kind", \Person.kind),
        .init("wrapped", \Person.wrapped),
        .init("opaque", \Person.opaque, Schema.Attribute(.codable)),
        .init("stay", \Person.stay),
      ]
    }
  }

  private func attribute(_ name: String) throws -> Schema.Attribute {
    let schema = Schema([Person.self])
    #expect(schema.complaint == nil)
    return try #require(schema.entitiesByName["Person"]?.attributesByName[name])
  }

  @Test func `stands for a struct of the user's`() throws {
    #expect(try attribute("address") is Schema.CompositeAttribute)
    #expect(try attribute("address").isOptional)
    #expect(try attribute("location") is Schema.CompositeAttribute)
  }

  @Test(arguments: ["payload", "kind", "wrapped", "opaque", "stay"])
  func `stands for nothing without known fields`(name: String) throws {
    #expect(!(try attribute(name) is Schema.CompositeAttribute))
  }

  @Test func `has the fields its type decodes, by the names it gives them`() throws {
    let address = try #require(try attribute("address") as? Schema.CompositeAttribute)
    let fields = address.properties
    #expect(
      fields.map(\.name) == [
        "road", "number", "kind", "location", "former", "payload", "since", "price",
      ]
    )
    #expect(
      fields.map(\.isOptional) == [false, true, false, false, false, true, false, false]
    )
    #expect(fields[0].valueType is String.Type)
    #expect(fields[1].valueType is Int?.Type)
    #expect(fields[2].valueType is Kind.Type)
    let location = try #require(fields[3] as? Schema.CompositeAttribute)
    #expect(location.properties.map(\.name) == ["latitude", "altitude"])
  }

  @Test func `knows as many fields as a type that refuses an empty value asks for`() {
    struct Picky: Codable {
      var first: String
      var second: Int
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        first = try container.decode(String.self, forKey: .first)
        if first.isEmpty { throw CancellationError() }
        second = try container.decode(Int.self, forKey: .second)
      }
    }
    let attribute = Schema.CompositeAttribute(name: "picky", valueType: Picky.self)
    #expect(attribute.properties.map(\.name) == ["first"])
  }

  final class Node: Codable {
    var value = 1
    var next: Node?
  }

  @Test func `does not follow a type into itself`() {
    struct Tree: Codable {
      var label = ""
      var root = Node()
      var children: [Tree] = []
    }
    let attribute = Schema.CompositeAttribute(name: "tree", valueType: Tree.self)
    #expect(attribute.properties.map(\.name) == ["label", "root", "children"])
  }

  @Test func `can be given its fields`() {
    let attribute = Schema.CompositeAttribute(name: "point", valueType: Location.self)
    attribute.properties = [Schema.Attribute(name: "x", valueType: Double.self)]
    #expect(attribute.properties.map(\.name) == ["x"])
  }
}
