import LogEngine
import Terminal

extension CatalogueChange {
  /// The change in words.
  ///
  /// - Parameters:
  ///   - name: Gives a table's name.
  ///   - column: Gives the name of a table's column.
  /// - Returns: A line without its end.
  func words(_ name: (UInt16) -> String, _ column: (UInt16, UInt16) -> String) -> String {
    switch self {
    case .addTable(let name): "add \(name.printable)"
    case .renameTable(let table, let new): "rename \(name(table)) to \(new.printable)"
    case .removeTable(let table): "remove \(name(table))"
    case .addColumn(let table, let new, let type, let isNullable):
      "add \(name(table)).\(new.printable): \(type)\(isNullable ? ", optional" : "")"
    case .renameColumn(let table, let number, let new):
      "rename \(name(table)).\(column(table, number)) to \(new.printable)"
    case .retireColumn(let table, let number): "retire \(name(table)).\(column(table, number))"
    case .setLayout(let table, let columns):
      "write \(name(table)) as \(columns.map { column(table, $0) }.joined(separator: ", "))"
    case .setMetadata(let key, let value):
      value.isEmpty ? "forget \(key.printable)" : "set \(key.printable) to \(value.shown)"
    }
  }
}

extension [UInt8] {
  /// A value of the catalogue's metadata: as text, if it is any.
  var shown: String {
    guard let text = String(validating: self, as: UTF8.self), text == text.printable else {
      return CellValue.bytes(span.bytes).text
    }
    return text
  }
}

/// Follows the names of tables and columns from change to change.
///
/// A change speaks of numbers; what they were called then, the changes before it say.
struct CatalogueNames {
  private var tables: [UInt16: String]
  private var columns: [UInt16: [String]]
  private var nextTable: UInt16

  /// Begins with the empty catalogue, or with what is known now where the first changes are gone.
  init(_ catalogue: Catalogue = Catalogue()) {
    tables = Dictionary(uniqueKeysWithValues: catalogue.tables.map { ($0.number, $0.name) })
    columns = Dictionary(
      uniqueKeysWithValues: catalogue.tables.map { ($0.number, $0.columns.map(\.name)) }
    )
    nextTable = catalogue.nextTableNumber
  }

  /// A change in words, which then has happened.
  mutating func words(for change: CatalogueChange) -> String {
    let (tables, columns) = (tables, columns)
    let words = change.words(
      { tables[$0].map(\.printable) ?? "table \($0)" },
      { table, column in
        let names = columns[table] ?? []
        let index = Int(column) - 1
        return names.indices.contains(index) ? names[index].printable : "column \(column)"
      }
    )
    apply(change)
    return words
  }

  private mutating func apply(_ change: CatalogueChange) {
    switch change {
    case .addTable(let name):
      tables[nextTable] = name
      nextTable &+= 1
    case .renameTable(let table, let name): tables[table] = name
    case .addColumn(let table, let name, _, _): columns[table, default: []].append(name)
    case .renameColumn(let table, let column, let name):
      guard columns[table]?.indices.contains(Int(column) - 1) == true else { return }
      columns[table]?[Int(column) - 1] = name
    case .removeTable, .retireColumn, .setLayout, .setMetadata: break
    }
  }
}
