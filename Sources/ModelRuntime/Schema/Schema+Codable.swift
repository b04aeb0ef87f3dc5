public import Foundation

extension Schema {
  private enum CodingKeys: CodingKey { case encodingVersion, version, entities }

  public convenience init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let encodingVersion = try container.decode(Version.self, forKey: .encodingVersion)
    guard encodingVersion.major == Schema.schemaEncodingVersion.major else {
      throw DecodingError.dataCorruptedError(
        forKey: .encodingVersion,
        in: container,
        debugDescription: "expected a schema encoded in version "
          + "\(Schema.schemaEncodingVersion), found \(encodingVersion)"
      )
    }
    let version = try container.decode(Version.self, forKey: .version)
    let entities = try container.decode([Entity].self, forKey: .entities)
    let problems = EntityLinker.link(entities)
    self.init(
      entities: entities,
      version: version,
      encodingVersion: encodingVersion,
      problems: problems
    )
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(encodingVersion, forKey: .encodingVersion)
    try container.encode(version, forKey: .version)
    try container.encode(entities, forKey: .entities)
  }

  /// Writes the schema to a file, as JSON.
  ///
  /// - Parameter toURL: The file.
  /// - Throws: An error of encoding or writing.
  public func save(to toURL: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    try encoder.encode(self).write(to: toURL, options: .atomic)
  }

  /// Reads a schema written by ``save(to:)``.
  ///
  /// - Parameter fromURL: The file.
  /// - Returns: The schema; types that this process lacks are known by name only.
  /// - Throws: An error of reading or decoding.
  public static func load(from fromURL: URL) throws -> Schema {
    try JSONDecoder().decode(Schema.self, from: Data(contentsOf: fromURL))
  }
}

/// Schemas are equal when their versions and their entities are, in any order.
extension Schema {
  public static func == (lhs: Schema, rhs: Schema) -> Bool {
    lhs === rhs || lhs.version == rhs.version && lhs.entitiesByName == rhs.entitiesByName
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(version)
    hasher.combine(Set(entitiesByName.keys))
  }
}

extension Schema: CustomDebugStringConvertible {
  public var debugDescription: String {
    "Schema(\(version), \(entities.map(\.debugDescription).joined(separator: ", ")))"
  }
}
