import LogEngine
import ModelRuntime

/// The entries of a catalogue that say what kind of inverse each relationship had when its column was written last.
///
/// Each relationship's column has an entry, `inverse.<table>.<column>`: `none`, `one` or `many`; and if it has an inverse,
/// another, `inverse.<table>.<column>.of`, with the inverse's table and column, as `<table>.<column>`. A store of an older
/// library lacks entries, and gets them when one process alone opens it next. A relationship without an inverse may refer to
/// rows that are gone, and the other end says nothing of it: so if an inverse is gained, or is another property, the entries
/// change only once the rows were looked at.
///
/// Meanwhile a column may have a third entry, `inverse.<table>.<column>.stale`: programs whose models lacked it have written the
/// other ends. Its value is `entity` if the models lacked the table, `property` if they lacked the column alone, or the column is
/// new. It goes with the next change of the entries. An older library ignores it, and takes neither end for the newer one.
struct InverseRecords {
  /// The changes that bring the entries in line with the schema.
  private(set) var changes: [CatalogueChange] = []
  /// The relationships that had no inverse, or another, and have one now: tables, and columns by position.
  private(set) var gained: [(table: UInt16, column: Int)] = []
  /// The columns whose values count for less than those at their other ends.
  private(set) var stale: [Column: Staleness] = [:]

  /// A column, by its position in the rows of a table.
  struct Column: Hashable {
    let table: UInt16
    let position: Int
  }

  /// What the models lacked that wrote the other ends; raw values are on disk.
  enum Staleness: String {
    case entity, property
  }

  /// Compares the entries of a store with a schema, whose tables the store has by now.
  init(_ schema: Schema, _ catalogue: Catalogue) {
    for descriptor in schema.descriptors {
      guard let table = catalogue.table(named: descriptor.entityName) else { continue }
      for property in descriptor.relationships {
        guard let column = table.column(named: property.name) else { continue }
        if let staleness = Self.staleness(of: column.number, in: table.number, catalogue) {
          stale[Column(table: table.number, position: property.ordinal)] = staleness
          changes.append(Self.recordStaleness(nil, of: column.number, in: table.number))
        }
        guard let stored = Self.kind(of: column.number, in: table.number, catalogue) else {
          continue
        }
        let inverse = Self.inverse(of: property, in: catalogue)
        let former = Self.inverse(of: column.number, in: table.number, catalogue)
        let isOther = inverse != nil && former != nil && inverse != former
        guard stored != property.inverseKind || isOther else { continue }
        changes.append(Self.record(property.inverseKind, of: column.number, in: table.number))
        if let inverse {
          changes.append(Self.record(inverse, of: column.number, in: table.number))
        }
        // A list that others tell of has nothing of its own.
        if property.isDerivable { continue }
        if stored == .none || property.inverse?.isDerivable == false {
          gained.append((table.number, property.ordinal))
        }
      }
    }
  }

  /// Whether the entries are those of the schema, as far as there are any.
  var isCurrent: Bool { changes.isEmpty }

  /// Whether there are rows in which a relationship has gained an inverse.
  func concernRows(of engine: StorageEngine) -> Bool {
    gained.contains { engine.rowCount(of: $0.table) > 0 }
  }

  /// The kind of inverse that a column's relationship had; `nil` if the store does not say.
  static func kind(of column: UInt16, in table: UInt16, _ catalogue: Catalogue) -> InverseKind? {
    catalogue.metadata[key(table, column)].flatMap {
      InverseKind(rawValue: String(decoding: $0, as: UTF8.self))
    }
  }

  static func record(_ kind: InverseKind, of column: UInt16, in table: UInt16) -> CatalogueChange {
    .setMetadata(key: key(table, column), value: Array(kind.rawValue.utf8))
  }

  /// Whether a column's values count for less than those at its other ends, and why; `nil` if they do not.
  static func staleness(
    of column: UInt16,
    in table: UInt16,
    _ catalogue: Catalogue
  ) -> Staleness? {
    catalogue.metadata["\(key(table, column)).stale"].flatMap {
      Staleness(rawValue: String(decoding: $0, as: UTF8.self))
    }
  }

  static func recordStaleness(
    _ staleness: Staleness?,
    of column: UInt16,
    in table: UInt16
  ) -> CatalogueChange {
    // An empty value removes an entry.
    let value = staleness.map { Array($0.rawValue.utf8) } ?? []
    return .setMetadata(key: "\(key(table, column)).stale", value: value)
  }

  /// A column, by its number in a table.
  struct Place: Equatable {
    let table: UInt16
    let column: UInt16

    init(table: UInt16, column: UInt16) {
      self.table = table
      self.column = column
    }

    /// Reads `<table>.<column>`; `nil` for any other text.
    fileprivate init?(_ text: String) {
      let numbers = text.split(separator: ".", omittingEmptySubsequences: false)
      guard numbers.count == 2, let table = UInt16(numbers[0]), let column = UInt16(numbers[1])
      else { return nil }
      self.init(table: table, column: column)
    }
  }

  /// The inverse that a column's relationship had; `nil` if it had none, or the store does not say.
  static func inverse(of column: UInt16, in table: UInt16, _ catalogue: Catalogue) -> Place? {
    catalogue.metadata["\(key(table, column)).of"].flatMap {
      Place(String(decoding: $0, as: UTF8.self))
    }
  }

  /// The column of a relationship's inverse, in the table of the class at the other end.
  static func inverse(of property: ModelProperty, in catalogue: Catalogue) -> Place? {
    guard let inverse = property.inverse, let destination = property.destination,
      let table = catalogue.table(named: ModelDescriptor.of(destination).entityName),
      let column = table.column(named: inverse.name)
    else { return nil }
    return Place(table: table.number, column: column.number)
  }

  static func record(_ inverse: Place, of column: UInt16, in table: UInt16) -> CatalogueChange {
    .setMetadata(
      key: "\(key(table, column)).of",
      value: Array("\(inverse.table).\(inverse.column)".utf8)
    )
  }

  /// Whether a change only adds an entry: no store is in the wrong schema for want of one.
  static func isAddition(_ change: CatalogueChange, to catalogue: Catalogue) -> Bool {
    guard case .setMetadata(let key, _) = change else { return false }
    return key.hasPrefix(prefix) && catalogue.metadata[key] == nil
  }

  private static let prefix = "inverse."

  private static func key(_ table: UInt16, _ column: UInt16) -> String {
    "\(prefix)\(table).\(column)"
  }
}
