import Foundation
import ModelRuntime
import Testing

@Suite struct `A schema in a file` {
  enum Kind: Int, Codable { case a = 1, b }
  struct Point: Codable { var x = 0.0 }

  class Base: Described, DescribedModel {
    var code = ""
    var kind: Kind?
    var place = Point()
    var links: [Link] = []
    class var schemaMetadata: [Schema.PropertyMetadata] {
      [
        .init("code", \Base.code, Schema.Attribute(.unique, .spotlight, originalName: "id")),
        .init("kind", \Base.kind, Schema.Attribute(hashModifier: "v3")),
        .init("place", \Base.place),
        .init("links", \Base.links, Schema.Relationship(deleteRule: .deny, minimumModelCount: 1)),
        .init(
          "SwiftData.Schema.Index",
          \Schema.encodingVersion,
          Schema.Index<Base>(.binary([\.kind, \.code]), .rtree([\.kind]))
        ),
      ]
    }
  }

  final class Derived: Base {
    var extra = Data()
    override class var schemaMetadata: [Schema.PropertyMetadata] {
      [.init("extra", \Derived.extra, Schema.Attribute(.externalStorage))]
    }
  }

  final class Link: Described, DescribedModel {
    var base: Base?
    class var schemaMetadata: [Schema.PropertyMetadata] { [.init("base", \Link.base)] }
  }

  let schema = Schema([Base.self, Derived.self], version: Schema.Version(1, 2, 3))

  private func copy() throws -> Schema {
    let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).schema")
    defer { try? FileManager.default.removeItem(at: url) }
    try schema.save(to: url)
    return try Schema.load(from: url)
  }

  @Test func `is read as it was written`() throws {
    let copy = try copy()
    #expect(copy == schema)
    #expect(copy.hashValue == schema.hashValue)
    #expect(copy.version == Schema.Version(1, 2, 3))
    #expect(copy.encodingVersion == Schema.schemaEncodingVersion)
    #expect(copy.complaint == nil)
    #expect(copy.checksum == schema.checksum)
    #expect(copy.debugDescription == schema.debugDescription)
  }

  @Test func `keeps what entities are linked by`() throws {
    let copy = try copy()
    let derived = try #require(copy.entitiesByName["Derived"])
    #expect(derived.superentity === copy.entitiesByName["Base"])
    #expect(derived.inheritedProperties.map(\.name) == ["code", "kind", "place", "links"])
    #expect(copy.entitiesByName["Base"]?.subentities == [derived])
    let indices = copy.entitiesByName["Base"]?.indices
    #expect(indices == [["binary", "kind", "code"], ["rtree", "kind"]])
    #expect(copy.entitiesByName["Base"]?.uniquenessConstraints == [["code"]])
    #expect(derived.relationshipsByName["links"]?.inverseName == "base")
    let place = try #require(derived.attributesByName["place"] as? Schema.CompositeAttribute)
    #expect(place.properties.map(\.name) == ["x"])
    #expect(derived.attributesByName["kind"]?.valueType is Kind?.Type)
  }

  @Test func `is read where its types do not exist`() throws {
    var text = String(decoding: try JSONEncoder().encode(schema), as: UTF8.self)
    text.replace("mangledName\":\"", with: "mangledName\":\"no such type ")
    let copy = try JSONDecoder().decode(Schema.self, from: Data(text.utf8))
    #expect(copy == schema)
    #expect(copy.checksum == schema.checksum)
    let again = try JSONDecoder().decode(Schema.self, from: JSONEncoder().encode(copy))
    #expect(again == schema)
  }

  @Test func `names the properties of indices as before, and their kinds beside them`() throws {
    let text = String(decoding: try JSONEncoder().encode(schema), as: UTF8.self)
    #expect(text.contains(#""indices":[["kind","code"],["kind"]]"#))
    // In files from before that was written every index is a binary one.
    let older = text.replacing(#/"indexKinds":\[[^\]]*\],?/#, with: "").replacing(",}", with: "}")
    #expect(older != text)
    let old = try JSONDecoder().decode(Schema.self, from: Data(older.utf8))
    let indices = old.entitiesByName["Base"]?.indices
    #expect(indices == [["binary", "kind", "code"], ["binary", "kind"]])
    #expect(old.checksum == schema.checksum)
  }

  final class Yard: Described, DescribedModel {
    var leading: [Plant] = []
    var trailing: [Plant] = []
    class var schemaMetadata: [Schema.PropertyMetadata] {
      [
        .init("leading", \Yard.leading, Schema.Relationship(inverse: \Plant.yard)),
        .init("trailing", \Yard.trailing, Schema.Relationship(inverse: \Plant.yard)),
      ]
    }
  }

  final class Plant: Described, DescribedModel {
    var yard: Yard?
    var formerYard: Yard?
    class var schemaMetadata: [Schema.PropertyMetadata] {
      [.init("yard", \Plant.yard), .init("formerYard", \Plant.formerYard)]
    }
  }

  @Test func `has a list without an inverse where another has the one that it names`() throws {
    let schema = Schema([Yard.self])
    #expect(schema.complaint == nil)
    let text = String(decoding: try JSONEncoder().encode(schema), as: UTF8.self)
    let copy = try JSONDecoder().decode(Schema.self, from: Data(text.utf8))
    #expect(copy == schema)
    #expect(copy.checksum == schema.checksum)
    #expect(copy.entitiesByName["Yard"]?.relationshipsByName["trailing"]?.inverseName == nil)
    let again = try JSONDecoder().decode(Schema.self, from: JSONEncoder().encode(copy))
    #expect(again == schema)
    // Files from before that was written are read as they were.
    let older = text.replacing(/"isOneSided":true,?/, with: "")
    #expect(older != text)
    let old = try JSONDecoder().decode(
      Schema.self,
      from: Data(older.replacing(",}", with: "}").utf8)
    )
    #expect(old.complaint == nil && old.entities.count == 2)
  }

  @Test(arguments: [(1, true), (2, false)])
  func `of a later form is refused`(major: Int, isReadable: Bool) {
    let text = """
      {"encodingVersion": {"major": \(major), "minor": 9, "patch": 0},
       "version": {"major": 1, "minor": 0, "patch": 0}, "entities": []}
      """
    let schema = try? JSONDecoder().decode(Schema.self, from: Data(text.utf8))
    #expect((schema != nil) == isReadable)
  }

  /// A list made by hand may name no kind.
  @Test func `takes an index without a kind for a binary one`() throws {
    let entity = Schema.Entity("Trip")
    entity.indices = [["name"], ["start", "end"], ["rtree", "place"], ["binary"]]
    #expect(
      entity.indexedProperties == [["name"], ["start", "end"], ["place"], ["binary"]]
    )
    let copy = try JSONDecoder().decode(
      Schema.Entity.self,
      from: JSONEncoder().encode(entity)
    )
    let expected = [
      ["binary", "name"], ["binary", "start", "end"], ["rtree", "place"], ["binary", "binary"],
    ]
    #expect(copy.indices == expected)
  }

  @Test func `holds indices and constraints by the names of their properties`() throws {
    let index = Schema.Index<Base>(.binary([\.code, \.kind]), .rtree([\.kind]))
    let coded = try JSONEncoder().encode(index)
    #expect(try JSONDecoder().decode(Schema.Index<Base>.self, from: coded) == index)
    let unique = Schema.Unique<Base>([\.code], [\.code, \.kind])
    let codedUnique = try JSONEncoder().encode(unique)
    #expect(try JSONDecoder().decode(Schema.Unique<Base>.self, from: codedUnique) == unique)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(
        Schema.Unique<Base>.self,
        from: Data(#"{"constraints":[["nothing"]]}"#.utf8)
      )
    }
    #expect(throws: EncodingError.self) {
      try JSONEncoder().encode(Schema.Unique<Base>([\.code.count]))
    }
  }
}

@Suite struct `The options of an attribute` {
  final class Reversing: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? {
      (value as? String).map { String($0.reversed()) }
    }
  }

  @Test(
    arguments: [
      .unique, .externalStorage, .allowsCloudEncryption, .preserveValueOnDeletion, .ephemeral,
      .spotlight, .codable, .transformable(by: "name"), .transformable(by: Reversing.self),
    ] as [Schema.Attribute.Option]
  )
  func `can be coded`(option: Schema.Attribute.Option) throws {
    let coded = try JSONEncoder().encode([option])
    #expect(try JSONDecoder().decode([Schema.Attribute.Option].self, from: coded) == [option])
  }

  @Test func `say what the attribute is`() {
    #expect(Schema.Attribute(.ephemeral).isTransient)
    #expect(Schema.Attribute(.unique, .codable).isUnique)
    #expect(Schema.Attribute(.unique, .codable).isCodable)
    #expect(Schema.Attribute(.transformable(by: "x")).isTransformable)
    let plain = Schema.Attribute()
    #expect(!plain.isTransient && !plain.isUnique && !plain.isCodable && !plain.isTransformable)
    #expect(plain.isAttribute && !plain.isRelationship)
  }

  @Test func `find a transformer by its class or by its name`() throws {
    let byClass = Schema.Attribute.Option.transformable(by: Reversing.self)
    let name = try #require(byClass.transformerName)
    #expect(TransformerNames.transformer(named: name)?.transformedValue("abc") as? String == "cba")
    ValueTransformer.setValueTransformer(Reversing(), forName: .init("reversing"))
    #expect(ValueTransformer(forName: .init("reversing")) is Reversing)
    #expect(
      TransformerNames.transformer(named: "reversing")?.transformedValue("ab") as? String == "ba"
    )
    #expect(ValueTransformer.valueTransformerNames().contains(.init("reversing")))
    #expect(TransformerNames.transformer(named: "nobody") == nil)
    #expect(Reversing(forName: .isNilTransformerName) == nil)
  }

  @Test func `know the transformers everybody knows`() {
    let negate = ValueTransformer(forName: .negateBooleanTransformerName)
    #expect(negate?.transformedValue(true) as? Bool == false)
    #expect(
      ValueTransformer(forName: .isNilTransformerName)?.transformedValue(nil) as? Bool == true
    )
    #expect(
      ValueTransformer(forName: .isNotNilTransformerName)?.transformedValue(nil) as? Bool == false
    )
    let archiver = ValueTransformer(forName: .secureUnarchiveFromDataTransformerName)
    let data = archiver?.reverseTransformedValue("text" as NSString) as? Data
    #expect(archiver?.transformedValue(data) as? NSString == "text")
  }
}
