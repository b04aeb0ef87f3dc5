import LogEngine
import ModelRuntime

/// The entries of a catalogue that say which columns hold derived attributes, and what they were computed from.
///
/// There is an entry for each derived column, `derived.<table>.<column>`, and one for the schema that they were written under,
/// `derived.schema`. An entry is worth nothing once another schema has written the store: a library from before derived
/// attributes leaves the entries alone, but does write down its schema. Code that writes rows without models (an import, a
/// salvage) empties or drops the entries. What has no valid entry is computed when the store is opened.
struct DerivedRecords {
  private static let prefix = "derived."
  private static let schemaKey = "derived.schema"

  /// The changes that bring the entries in line with the schema.
  private(set) var changes: [CatalogueChange] = []
  /// The columns whose values are not those of the schema's attributes: tables, and attributes by name.
  private var missing: [(table: UInt16, name: String)] = []

  /// Compares the entries of a store with a schema.
  ///
  /// - Parameters:
  ///   - schema: The schema, whose tables the store has by now.
  ///   - catalogue: The store's catalogue.
  ///   - areValid: Whether the entries were valid before the store was brought to the schema.
  init(_ schema: Schema, _ catalogue: Catalogue, areValid: Bool) {
    var expected: Set<String> = []
    for descriptor in schema.descriptors {
      guard descriptor.isDeriving, let table = catalogue.table(named: descriptor.entityName) else {
        continue
      }
      for attribute in descriptor.derivedAttributes {
        guard let column = table.column(named: attribute.property.name) else { continue }
        let key = "\(Self.prefix)\(table.number).\(column.number)"
        expected.insert(key)
        let record = Array(
          Self.record(of: attribute, of: descriptor, in: table, schema, catalogue).utf8
        )
        let isKept = catalogue.metadata[key] == record
        if !isKept { changes.append(.setMetadata(key: key, value: record)) }
        if isKept, areValid { continue }
        missing.append((table.number, "\(descriptor.entityName).\(attribute.property.name)"))
      }
    }
    let unexpected = catalogue.metadata.keys.filter {
      $0.hasPrefix(Self.prefix) && $0 != Self.schemaKey && !expected.contains($0)
    }
    // An empty value removes an entry.
    for key in unexpected.sorted() { changes.append(.setMetadata(key: key, value: [])) }
    let schemaRecord = expected.isEmpty ? [] : Self.writer(of: catalogue)
    if catalogue.metadata[Self.schemaKey] ?? [] != schemaRecord {
      changes.append(.setMetadata(key: Self.schemaKey, value: schemaRecord))
    }
  }

  /// Whether the entries of a catalogue were written under the schema that wrote the store last.
  static func areValid(in catalogue: Catalogue) -> Bool {
    catalogue.metadata[schemaKey] == writer(of: catalogue)
  }

  /// The version of the schema that wrote a store last, as the store keeps it.
  private static func writer(of catalogue: Catalogue) -> [UInt8] {
    catalogue.metadata[CatalogueMapping.versionKey] ?? []
  }

  /// Whether the store has all derived attributes of the schema, and no others.
  var isCurrent: Bool { changes.isEmpty && missing.isEmpty }

  /// The first derived attribute that rows lack; `nil` if there is none, or no row.
  func outdated(in engine: StorageEngine) -> String? {
    missing.first { engine.rowCount(of: $0.table) > 0 }?.name
  }

  /// The text of an entry, which names columns by their numbers in the catalogue: a column that is replaced gets another.
  ///
  ///     length 3          how many references column 3 has
  ///     count 2.4         how many rows of table 2 name the row in their column 4
  ///     sum Int8 2.4.5    the sum of their column 5
  ///     own count 2.4     the count, or sum, that a subclass declares
  ///     canonical 1       the canonical form of column 1
  ///     modificationDate  when the row was written
  private static func record(
    of attribute: DerivedAttribute,
    of descriptor: ModelDescriptor,
    in table: TableDefinition,
    _ schema: Schema,
    _ catalogue: Catalogue
  ) -> String {
    func number(_ property: ModelProperty, in table: TableDefinition) -> String {
      table.column(named: property.name).map { "\($0.number)" } ?? "?"
    }
    func members(_ list: ModelProperty, _ summand: ModelProperty?) -> String {
      guard let inverse = list.inverse, let destination = list.destination else { return "" }
      let base = ModelDescriptor.of(destination)
      let tables = schema.descriptors.filter { $0.isKind(of: base) }
        .compactMap { catalogue.table(named: $0.entityName) }
        .sorted { $0.number < $1.number }
      return tables.map { table in
        let columns = [inverse, summand].compactMap { $0 }.map { number($0, in: table) }
        return " \(table.number)." + columns.joined(separator: ".")
      }.joined()
    }
    let own = descriptor.maySharePosition(of: attribute.property) ? "own " : ""
    switch attribute.source {
    case .count(let list) where !list.isDerivable: return "length \(number(list, in: table))"
    case .count(let list): return own + "count" + members(list, nil)
    case .sum(let list, let summand, _):
      return own + "sum \(attribute.property.valueType)" + members(list, summand)
    case .canonical(let text): return "canonical \(number(text, in: table))"
    case .modificationDate: return "modificationDate"
    }
  }
}
