import Foundation
import ModelRuntime
import Testing

@Suite struct `The checksum of a schema` {
  enum V1 {
    enum Status: Int, Codable { case on, off }
    final class Trip: Described, DescribedModel {
      var name = ""
      var status: Status?
      var list: [Status] = []
      var stops: [Stop] = []
      class var schemaMetadata: [Schema.PropertyMetadata] {
        [
          .init("name", \Trip.name, Schema.Attribute(.unique)), .init("status", \Trip.status),
          .init("list", \Trip.list), .init("stops", \Trip.stops),
        ]
      }
    }
    final class Stop: Described, DescribedModel {
      var trip: Trip?
      class var schemaMetadata: [Schema.PropertyMetadata] { [.init("trip", \Stop.trip)] }
    }
  }
  /// The same shape at another place, in another order, with a default value and an old name.
  enum V2 {
    enum Status: Int, Codable { case on, off, unknown }
    final class Trip: Described, DescribedModel {
      var status: Status?
      var name = ""
      var stops: [Stop] = []
      var list: [Status] = []
      class var schemaMetadata: [Schema.PropertyMetadata] {
        [
          .init("stops", \Trip.stops), .init("list", \Trip.list), .init("status", \Trip.status),
          .init(
            name: "name",
            keypath: \Trip.name,
            defaultValue: "x",
            metadata: Schema.Attribute(.unique, .spotlight, originalName: "title")
          ),
        ]
      }
    }
    final class Stop: Described, DescribedModel {
      var trip: Trip?
      class var schemaMetadata: [Schema.PropertyMetadata] { [.init("trip", \Stop.trip)] }
    }
  }

  @Test func `is the same in every process`() {
    let schema = Schema([V1.Trip.self])
    #expect(
      SchemaShape(schema).description == """
        entity Stop
        relationship trip to one Trip optional inverse stops .nullify 0...0
        entity Trip
        attribute list Array<Status>
        attribute name String
        attribute status Int optional
        relationship stops to many Stop inverse trip .nullify 0...0
        unique name

        """
    )
    #expect(schema.checksum == 0xEECF_B500_78E6_14BE)
  }

  @Test func `is that of the shape alone`() {
    let first = Schema([V1.Trip.self], version: Schema.Version(1, 0, 0))
    let second = Schema([V2.Stop.self], version: Schema.Version(2, 0, 0))
    #expect(first.checksum == second.checksum)
  }

  private func shape(_ change: (Schema.Entity) -> Void) -> UInt64 {
    let name = Schema.Attribute(name: "name", valueType: String.self)
    let link = Schema.Relationship()
    link.name = "link"
    link.destination = "Item"
    let entity = Schema.Entity("Item", properties: name, link)
    change(entity)
    return Schema(entity).checksum
  }

  @Test func `differs with everything that is stored or checked`() {
    let changes: [(Schema.Entity) -> Void] = [
      { _ in },
      { $0.name = "Other" },
      { $0.attributesByName["name"]?.name = "title" },
      { $0.attributesByName["name"]?.valueType = Int.self },
      { $0.attributesByName["name"]?.valueType = String?.self },
      { $0.attributesByName["name"]?.options = [.externalStorage] },
      { $0.attributesByName["name"]?.options = [.codable] },
      { $0.attributesByName["name"]?.options = [.transformable(by: "x")] },
      { $0.attributesByName["name"]?.hashModifier = "v2" },
      { $0.relationshipsByName["link"]?.deleteRule = .cascade },
      { $0.relationshipsByName["link"]?.maximumModelCount = 3 },
      { $0.relationshipsByName["link"]?.hashModifier = "v2" },
      { $0.uniquenessConstraints = [["name"]] },
      { $0.indices = [["binary", "name"]] },
      { $0.storedProperties.removeLast() },
    ]
    #expect(Set(changes.map(shape)).count == changes.count)
  }

  @Test func `is the same for indices of every kind`() {
    let binary = shape { $0.indices = [["binary", "name"]] }
    #expect(shape { $0.indices = [["rtree", "name"]] } == binary)
    #expect(shape { $0.indices = [["binary", "name"], ["rtree", "name"]] } == binary)
  }
}

@Suite struct `The properties of an entity` {
  @Test func `can be replaced by kind, and keep their places`() {
    let entity = Schema.Entity(
      "Item",
      properties: Schema.Attribute(name: "b", valueType: Int.self),
      Schema.Relationship(),
      Schema.Attribute(name: "a", valueType: Int.self)
    )
    entity.attributes = [
      Schema.Attribute(name: "a", valueType: String.self),
      Schema.Attribute(name: "c", valueType: Int.self),
    ]
    #expect(entity.storedProperties.map(\.name) == ["", "a", "c"])
    #expect(entity.storedPropertiesByName["a"]?.valueType is String.Type)
    entity.relationshipsByName = [:]
    #expect(entity.properties.map(\.name) == ["a", "c"])
  }

  @Test func `of a subentity made by hand are inherited`() {
    let leaf = Schema.Entity("Leaf", properties: Schema.Attribute(name: "l", valueType: Int.self))
    let root = Schema.Entity(
      "Root",
      subentities: leaf,
      properties: Schema.Attribute(name: "r", valueType: Int.self)
    )
    #expect(Schema(root, leaf).complaint == nil)
    #expect(leaf.properties.map(\.name) == ["r", "l"])
    #expect(leaf.superentityName == "Root")
  }
}
