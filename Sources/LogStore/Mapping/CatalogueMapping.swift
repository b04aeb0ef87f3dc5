import Foundation
import LogEngine
import ModelRuntime
import RowFormat

/// Brings the tables of a store in line with a schema.
///
/// Everything here is an entry in the catalogue: adding, renaming, moving or dropping a property writes a
/// few dozen bytes, however many rows there are.
enum CatalogueMapping {
  private static let identifierKey = "store.identifier"
  private static let versionKey = "schema.version"

  static func identifier(in catalogue: Catalogue) -> String? {
    catalogue.metadata[identifierKey].map { String(decoding: $0, as: UTF8.self) }
  }

  /// What the store remembers of the schema it was written with last; `nil` if it is new.
  static func schemaVersion(in catalogue: Catalogue) -> StoredSchemaVersion? {
    catalogue.metadata[versionKey].flatMap {
      StoredSchemaVersion(String(decoding: $0, as: UTF8.self))
    }
  }

  /// Adds what a schema has and the store has not, and writes down that the store now has this schema.
  ///
  /// - Throws: ``LogStoreError/propertyTypeChanged(entity:property:stored:declared:)`` for a column whose
  ///   values are of another type than the property's.
  static func bring(_ engine: StorageEngine, to schema: Schema) throws {
    if identifier(in: engine.catalogue) == nil {
      _ = try engine.apply([
        .setMetadata(key: identifierKey, value: Array(UUID().uuidString.utf8))
      ])
    }
    for type in schema.modelTypes { try bring(engine, to: ModelDescriptor.of(type)) }
    let version = StoredSchemaVersion(schema)
    if schemaVersion(in: engine.catalogue) != version {
      _ = try engine.apply([
        .setMetadata(key: versionKey, value: Array(version.description.utf8))
      ])
    }
  }

  /// Whether rows of a table are written as a class's rows are: what a store that is only read must find.
  static func matches(_ table: TableDefinition, _ descriptor: ModelDescriptor) -> Bool {
    guard let layout = table.layout(table.currentLayout), layout.layout == descriptor.layout else {
      return false
    }
    return layout.columns.enumerated().allSatisfy { position, number in
      table.column(number)?.name == descriptor.columnName(position)
    }
  }

  private static func bring(_ engine: StorageEngine, to descriptor: ModelDescriptor) throws {
    let name = descriptor.entityName
    if engine.catalogue.table(named: name) == nil { _ = try engine.apply([.addTable(name: name)]) }
    guard let table = engine.catalogue.table(named: name) else { return }
    var changes: [CatalogueChange] = []
    for column in 0..<descriptor.layout.count {
      changes += try change(column, of: descriptor, in: table)
    }
    if !changes.isEmpty { _ = try engine.apply(changes) }
    guard let complete = engine.catalogue.table(named: name) else { return }
    let order = (0..<descriptor.layout.count).compactMap {
      complete.column(named: descriptor.columnName($0))?.number
    }
    if complete.layout(complete.currentLayout)?.columns != order {
      _ = try engine.apply([.setLayout(table: complete.number, columns: order)])
    }
  }

  private static func change(
    _ column: Int,
    of descriptor: ModelDescriptor,
    in table: TableDefinition
  ) throws -> [CatalogueChange] {
    let name = descriptor.columnName(column)
    let type = descriptor.layout.types[column]
    if let found = table.column(named: name) {
      if found.type.canMove(to: type) { return replace(found, by: type, in: table) }
      guard found.type == type else {
        throw LogStoreError.propertyTypeChanged(
          entity: descriptor.entityName,
          property: name,
          stored: "\(found.type)",
          declared: "\(type)"
        )
      }
      return []
    }
    let property = column < descriptor.properties.count ? descriptor.properties[column] : nil
    if let former = property?.originalName, let found = table.column(named: former),
      found.type == type
    {
      return [.renameColumn(table: table.number, column: found.number, to: name)]
    }
    if let former = property?.originalName, let found = table.column(named: former),
      found.type.canMove(to: type)
    {
      return [.renameColumn(table: table.number, column: found.number, to: name)]
        + replace(found, by: type, named: name, in: table)
    }
    return [
      .addColumn(
        table: table.number,
        name: name,
        type: type,
        isNullable: property?.isOptional ?? true
      )
    ]
  }

  /// Gives a property whose values move into files of their own, or back, another column.
  ///
  /// Older rows keep theirs, under a retired column of the same name.
  private static func replace(
    _ column: ColumnDefinition,
    by type: ColumnType,
    named name: String? = nil,
    in table: TableDefinition
  ) -> [CatalogueChange] {
    [
      .retireColumn(table: table.number, column: column.number),
      .addColumn(
        table: table.number,
        name: name ?? column.name,
        type: type,
        isNullable: column.isNullable
      ),
    ]
  }
}
