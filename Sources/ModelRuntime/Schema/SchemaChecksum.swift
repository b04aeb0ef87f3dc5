/// The distinguishing shape of a schema, with one line of text for each property.
///
/// It includes the stored properties and the rules: not the version, not default values, not former
/// names of properties, and not the nesting of a class in the source. Stores keep the
/// checksum of this text, so it must never change for an unchanged schema.
package struct SchemaShape: Hashable, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ schema: Schema) {
    description = schema.entities.sorted { $0.name < $1.name }
      .map { SchemaShape.describe($0) }.joined()
  }

  /// The part of the shape that is an entity's.
  init(_ entity: Schema.Entity) { description = SchemaShape.describe(entity) }

  /// The FNV-1a hash of the text, in 64 bits.
  package var checksum: UInt64 {
    SchemaShape.checksum(of: description.utf8, after: SchemaShape.emptyChecksum)
  }

  /// The checksum of no text.
  static let emptyChecksum: UInt64 = 0xCBF2_9CE4_8422_2325

  /// The checksum of a text that goes on behind another, of which there is the checksum.
  static func checksum(of text: some Sequence<UInt8>, after checksum: UInt64) -> UInt64 {
    text.reduce(checksum) { hash, byte in (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }

  private static func describe(_ entity: Schema.Entity) -> String {
    var lines = ["entity \(entity.name)" + (entity.superentityName.map { ": \($0)" } ?? "")]
    lines += entity.storedProperties.map { property in
      switch property {
      case let attribute as Schema.Attribute: describe(attribute)
      case let relationship as Schema.Relationship: describe(relationship)
      default: "property \(property.name)"
      }
    }.sorted()
    lines += entity.uniquenessConstraints.map { "unique \($0.joined(separator: " "))" }.sorted()
    lines += entity.indexedProperties.map { "index \($0.joined(separator: " "))" }.sorted()
    return lines.map { $0 + "\n" }.joined()
  }

  private static func describe(_ attribute: Schema.Attribute) -> String {
    // Only options that change how a value is stored.
    let options = [Schema.Attribute.Option.externalStorage, .ephemeral, .codable]
      .filter(attribute.options.contains).map(\.debugDescription)
    return
      (["attribute \(attribute.name) \(attribute.valueTypeName.shape)"]
      + (attribute.isOptional ? ["optional"] : []) + options
      + (attribute.isTransformable ? [".transformable"] : [])
      + (attribute.derivationNames.map { ["derived \($0)"] } ?? [])
      + (attribute.hashModifier.map { ["modified by \($0)"] } ?? [])).joined(separator: " ")
  }

  private static func describe(_ relationship: Schema.Relationship) -> String {
    let count = relationship.isToOneRelationship ? "one" : "many"
    return
      (["relationship \(relationship.name) to \(count) \(relationship.destination)"]
      + (relationship.isOptional ? ["optional"] : [])
      + (relationship.inverseName.map { ["inverse \($0)"] } ?? [])
      + [".\(relationship.deleteRule.rawValue)"]
      + [
        "\(relationship.minimumModelCount ?? 0)...\(relationship.maximumModelCount ?? 0)"
      ]
      + (relationship.hashModifier.map { ["modified by \($0)"] } ?? [])).joined(separator: " ")
  }
}

extension Schema {
  /// The checksum of the schema's shape: the same in every process, and for every version number.
  package var checksum: UInt64 { SchemaShape(self).checksum }
}
