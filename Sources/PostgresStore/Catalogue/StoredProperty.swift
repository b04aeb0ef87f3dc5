#if PostgreSQL
import Foundation
import ModelRuntime

/// The record of a property in a namespace, of facts that the types of SQL do not say.
///
/// A value of the metadata for each entity has them by name, as JSON. A namespace of an older program lacks it.
struct StoredProperty: Codable {
  /// A `StoredValues`, as text.
  var values: String?
  /// The kind of the other end of a relationship.
  var inverse: InverseKind?

  init(_ property: ModelProperty, _ values: StoredValues?) {
    self.values = values?.text
    inverse = property.isRelationship ? property.inverseKind : nil
  }

  /// The key of an entity's properties among the metadata.
  static func metadataKey(of entity: String) -> String { "properties.\(entity)" }

  static func text(of properties: [String: StoredProperty]) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(properties), as: UTF8.self)
  }

  /// Reads the properties of an entity; none if the text says nothing of the kind.
  static func properties(from text: String?) -> [String: StoredProperty] {
    let data = Data((text ?? "").utf8)
    return (try? JSONDecoder().decode([String: StoredProperty].self, from: data)) ?? [:]
  }
}
#endif
