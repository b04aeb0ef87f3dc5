import Foundation
package import LogEngine
import ModelRuntime
import RowFormat

/// Maps the models of a schema to the entries of a store's catalogue.
package enum CatalogueMapping {
  package static let identifierKey = "store.identifier"
  package static let versionKey = "schema.version"

  /// The entry that says that a column whose values were not optional now has optional ones.
  package static func optionalKey(table: UInt16, column: UInt16) -> String {
    "optional.\(table).\(column)"
  }

  /// The entry that says that a column has initial values only, because those of its property are not stored.
  package static func ephemeralKey(table: UInt16, column: UInt16) -> String {
    "ephemeral.\(table).\(column)"
  }

  /// The identifier of the store in the identifiers of its models; `nil` if it is new.
  package static func identifier(in catalogue: Catalogue) -> String? {
    catalogue.metadata[identifierKey].map { String(decoding: $0, as: UTF8.self) }
  }

  /// The version of the schema that the store was last written with; `nil` if the store is new.
  static func schemaVersion(in catalogue: Catalogue) -> StoredSchemaVersion? {
    catalogue.metadata[versionKey].flatMap {
      StoredSchemaVersion(String(decoding: $0, as: UTF8.self))
    }
  }

  /// Adds what a schema has and the store has not, and records that the store now has this schema; in one
  /// commit.
  ///
  /// - Throws: ``LogStoreError/propertyTypeChanged(entity:property:stored:declared:)`` for a column whose
  ///   values are of another type than the property's; ``SwiftDataError/migrationUnavailable`` if names were exchanged and
  ///   it cannot be decided whether they are.
  static func bring(
    _ engine: StorageEngine,
    to schema: Schema,
    as version: StoredSchemaVersion,
    _ age: SchemaAge
  ) throws {
    let catalogue = engine.catalogue
    var (draft, checks) = try draft(of: catalogue, to: schema, age)
    if !isWritten(by: schema, catalogue) { try checks.compareNumbers(in: engine) }
    try record(version, of: schema, in: &draft)
    if !draft.changes.isEmpty { _ = try engine.apply(draft.changes) }
  }

  /// Whether the schema that a store was written with last has the shape of another.
  private static func isWritten(by schema: Schema, _ catalogue: Catalogue) -> Bool {
    schemaVersion(in: catalogue)?.checksum == schema.checksum
  }

  /// How much of a schema a store has.
  enum Presence {
    /// Not all of it.
    case partial
    /// All of it, but it says that it was written with another shape of the same number: a part of the models, say.
    case unrecorded
    /// All of it, and says so.
    case complete
  }

  /// Finds out whether a store has all that a schema has, and says so.
  ///
  /// Of schemas without a number, several may be a store's at a time: what they have the same tables for.
  ///
  /// - Throws: As ``bring(_:to:as:)``.
  static func presence(
    of schema: Schema,
    as version: StoredSchemaVersion,
    _ age: SchemaAge,
    in catalogue: Catalogue
  ) throws -> Presence {
    let (draft, checks) = try draft(of: catalogue, to: schema, age)
    let hasTables = draft.changes.allSatisfy {
      InverseRecords.isAddition($0, to: catalogue) || ValueRecords.isAddition($0, to: catalogue)
        || NameRecord.isAddition($0, to: catalogue)
    }
    guard hasTables, isWritten(by: schema, catalogue) || checks.numbers.isEmpty else {
      return .partial
    }
    let stored = schemaVersion(in: catalogue)
    if stored == version || !schema.isVersioned && stored?.version == Schema.unversioned {
      return .complete
    }
    return stored?.version == version.version ? .unrecorded : .partial
  }

  private static func draft(
    of catalogue: Catalogue,
    to schema: Schema,
    _ age: SchemaAge
  ) throws -> (CatalogueDraft, ValueChecks) {
    var draft = CatalogueDraft(catalogue)
    if identifier(in: draft.catalogue) == nil {
      try draft.make(.setMetadata(key: identifierKey, value: Array(UUID().uuidString.utf8)))
    }
    var mapping = SchemaMapping(draft, .inferred(age))
    try mapping.bring(to: schema)
    return (mapping.draft, mapping.checks)
  }

  /// Brings the tables in the order of a schema's properties, which a store of the same shape may have in another.
  static func prepare(_ engine: StorageEngine, for schema: Schema) throws {
    var mapping = SchemaMapping(CatalogueDraft(engine.catalogue), .inferred(.same))
    try mapping.bring(to: schema)
    if !mapping.draft.changes.isEmpty { _ = try engine.apply(mapping.draft.changes) }
  }

  /// Writes down which schema the store has.
  ///
  /// - Parameters:
  ///   - version: What it is to remember of it.
  ///   - schema: The schema, whose tables it has.
  ///   - migrated: The names of the entities, also of others, that stages have just taken to it.
  ///   - draft: Its catalogue.
  /// - Throws: ``StorageError`` for a catalogue that cannot be changed.
  static func record(
    _ version: StoredSchemaVersion,
    of schema: Schema,
    migrated: Set<String> = [],
    in draft: inout CatalogueDraft
  ) throws {
    let names = Set(schema.entities.map(\.name))
    // Another shape of an older library stays on record as it is.
    if version.checksum == schema.checksum {
      let changes = [
        LastListing.change(to: names, of: version, migrated: migrated, in: draft.catalogue),
        EntityRecord.change(to: names, of: version, in: draft.catalogue),
      ]
      for change in changes.compactMap(\.self) { try draft.make(change) }
    }
    try draft.make(NameRecord.validity(for: version))
    guard schemaVersion(in: draft.catalogue) != version else { return }
    try draft.make(.setMetadata(key: versionKey, value: Array(version.description.utf8)))
  }

  /// The first property that rows of a store are written with and a schema does not know, under its name or another.
  static func firstColumn(
    unknownTo schema: Schema,
    in catalogue: Catalogue
  ) -> (entity: String, column: String)? {
    for descriptor in schema.descriptors {
      guard let table = catalogue.table(named: descriptor.entityName),
        let layout = table.layout(table.currentLayout)
      else { continue }
      var names = Set((0..<descriptor.layout.count).map(descriptor.columnName))
      for property in descriptor.properties {
        guard let original = property.originalName else { continue }
        names.insert(original)
        names.insert(RankColumn.name(for: original))
      }
      for number in layout.columns {
        if let column = table.column(number), !names.contains(column.name) {
          return (descriptor.entityName, column.name)
        }
      }
    }
    return nil
  }

  /// The table of a class, if its rows are written as the class's rows are: what a store that is only read must find.
  static func table(
    of descriptor: ModelDescriptor,
    of families: EntityFamilies,
    in catalogue: Catalogue
  ) -> TableDefinition? {
    guard let table = catalogue.table(named: descriptor.entityName),
      matches(table, descriptor, of: families, in: catalogue)
    else { return nil }
    return table
  }

  private static func matches(
    _ table: TableDefinition,
    _ descriptor: ModelDescriptor,
    of families: EntityFamilies,
    in catalogue: Catalogue
  ) -> Bool {
    guard ValueRecords.areReadable(by: descriptor, of: families, in: table, catalogue),
      let layout = table.layout(table.currentLayout), layout.layout == descriptor.layout
    else { return false }
    return layout.columns.enumerated().allSatisfy { position, number in
      table.column(number)?.name == descriptor.columnName(position)
    }
  }
}
