import LogEngine
import ModelRuntime

/// The entry of a catalogue that says at which version the entities are that the store has, and the schema lacked that wrote it
/// last.
///
/// `schema.absent` has the version that it belongs to, as `schema.version` has it, and one a line the versions and names of the
/// entities: that of the schema which listed the entity last, or of the last stage that took its rows along. As with
/// ``EntityRecord``, it is worth nothing beside another version. An entity that is missing here was left by an older library.
enum LastListing {
  private static let key = "schema.absent"

  /// The versions, by the names of entities.
  static func versions(in catalogue: Catalogue) -> [String: StoredSchemaVersion] {
    guard let record = catalogue.metadata[key],
      let version = CatalogueMapping.schemaVersion(in: catalogue)
    else { return [:] }
    let lines = String(decoding: record, as: UTF8.self).split(separator: "\n").map(String.init)
    guard lines.first == version.description else { return [:] }
    var versions: [String: StoredSchemaVersion] = [:]
    for line in lines.dropFirst() {
      let words = line.split(separator: " ", maxSplits: 2).map(String.init)
      guard words.count == 3, let version = StoredSchemaVersion(words[0] + " " + words[1]) else {
        continue
      }
      versions[words[2]] = version
    }
    return versions
  }

  /// The entities whose rows are as the version has them that the store was written with last.
  ///
  /// Rows that are behind stay behind when stages run: what they lack is not for these to say.
  static func currentEntities(in catalogue: Catalogue) -> Set<String> {
    let names = Set(catalogue.tables.map(\.name))
    let absent = EntityRecord.absentEntities(in: catalogue)
    if absent.isEmpty { return names }
    let versions = versions(in: catalogue)
    let stored = CatalogueMapping.schemaVersion(in: catalogue)?.version
    return names.filter { !absent.contains($0) || versions[$0]?.version == stored }
  }

  /// The change that has the entry say where the entities are once a schema writes the store.
  ///
  /// - Parameters:
  ///   - names: The entities of the schema.
  ///   - version: Its version.
  ///   - migrated: The entities that stages have just taken to it.
  ///   - catalogue: The store's catalogue, which has the version before.
  /// - Returns: `nil` if there is nothing to be changed.
  static func change(
    to names: Set<String>,
    of version: StoredSchemaVersion,
    migrated: Set<String>,
    in catalogue: Catalogue
  ) -> CatalogueChange? {
    let stored = CatalogueMapping.schemaVersion(in: catalogue)
    let known = versions(in: catalogue)
    let absent = EntityRecord.absentEntities(in: catalogue)
    var lines: [String] = []
    for name in catalogue.tables.map(\.name).sorted() where !names.contains(name) {
      let last =
        migrated.contains(name) ? version : known[name] ?? (absent.contains(name) ? nil : stored)
      if let last { lines.append("\(last) \(name)") }
    }
    let record =
      lines.isEmpty ? [] : Array(([version.description] + lines).joined(separator: "\n").utf8)
    guard catalogue.metadata[key] ?? [] != record else { return nil }
    return .setMetadata(key: key, value: record)
  }
}
