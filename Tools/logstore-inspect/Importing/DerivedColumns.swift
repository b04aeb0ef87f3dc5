import LogEngine
import RowFormat

/// The columns of a table that the app derives from others, as an import treats them.
///
/// The app's next opening computes counts, sums and search texts of all rows. A date of the last save nothing but its row
/// tells: one that a file has is taken over, and what has none gets the time of that opening if it must have one.
struct DerivedColumns {
  /// The columns, by number.
  private let numbers: Set<UInt16>
  /// A row in which those that cannot be null are zero or empty, and all other columns null.
  let template: [UInt8]

  init(of table: TableDefinition, _ layout: LayoutDefinition, in store: InspectedStore) {
    let numbers = store.derivedColumns(of: table)
    var writer = RowWriter()
    writer.begin(layout.layout)
    for (place, number) in layout.columns.enumerated() where numbers.contains(number) {
      guard let column = table.column(number), !column.isNullable else { continue }
      switch column.type {
      case .integer: writer.set(place, integer: 0)
      case .double, .date: writer.set(place, double: 0)
      case .text: writer.append(place, text: "")
      case .bool, .uuid, .reference, .references, .bytes, .structured, .blob: break
      }
    }
    let range = writer.finish()
    template = writer.bytes.extracting(range).withUnsafeBytes { Array($0) }
    self.numbers = numbers
  }

  /// Whether a row need not say what it has in a column.
  func contains(_ column: ColumnDefinition) -> Bool { numbers.contains(column.number) }

  /// Whether the app computes a column, whatever a row says.
  func isComputed(_ column: ColumnDefinition) -> Bool { contains(column) && column.type != .date }
}

extension InspectedStore {
  /// The columns of a table that the app derives from others, by number.
  ///
  /// The layer above notes each under `derived.<table>.<column>`. The notes are worth nothing once another schema has written
  /// the store than the one under `derived.schema`: the columns may be attributes like others by now. An import removes that
  /// entry; the app's next opening computes the columns, and writes it again.
  fileprivate func derivedColumns(of table: TableDefinition) -> Set<UInt16> {
    let entries = catalogue.metadata
    if let schema = entries["derived.schema"], schema != entries["schema.version"] { return [] }
    let derived = table.columns.filter {
      !$0.isRetired && entries["derived.\(table.number).\($0.number)"] != nil
    }
    return Set(derived.map(\.number))
  }
}
