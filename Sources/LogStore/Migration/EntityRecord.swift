import LogEngine
import ModelRuntime

/// The entry of a catalogue that says with which entities the store was written last, if these are not all that it has.
///
/// `schema.entities` has the version that it belongs to, as `schema.version` has it, and the names of the entities, one a
/// line. It is worth nothing beside another version: a library that does not know it leaves it alone. Without it the store
/// was written with all the entities it has, or by such a library.
enum EntityRecord {
  private static let key = "schema.entities"

  /// The names of the entities; `nil` if the store does not say.
  static func entities(in catalogue: Catalogue) -> Set<String>? {
    guard let record = catalogue.metadata[key],
      let version = CatalogueMapping.schemaVersion(in: catalogue)
    else { return nil }
    let lines = String(decoding: record, as: UTF8.self).split(separator: "\n").map(String.init)
    guard lines.first == version.description else { return nil }
    return Set(lines.dropFirst())
  }

  /// The names of the entities that are in a store, and were not in the schema that wrote it last, as far as it says.
  static func absentEntities(in catalogue: Catalogue) -> Set<String> {
    guard let entities = entities(in: catalogue) else { return [] }
    return Set(catalogue.tables.map(\.name)).subtracting(entities)
  }

  /// The change that has the entry name entities; `nil` if there is nothing to be changed.
  static func change(
    to entities: Set<String>,
    of version: StoredSchemaVersion,
    in catalogue: Catalogue
  ) -> CatalogueChange? {
    let isWhole = catalogue.tables.allSatisfy { entities.contains($0.name) }
    let lines = [version.description] + entities.sorted()
    let record = isWhole ? [] : Array(lines.joined(separator: "\n").utf8)
    guard catalogue.metadata[key] ?? [] != record else { return nil }
    return .setMetadata(key: key, value: record)
  }
}
