package import LogEngine
import RowFormat

/// The value in a column of the rows from before it existed, as the store remembers it.
///
/// The app may change the default value of a property; the rows keep the value that they had first. The
/// catalogue keeps it as a row of one column, under the numbers of table and column.
package enum FillValue {
  static func key(_ table: UInt16, _ column: UInt16) -> String { "fill.\(table).\(column)" }

  /// Notes a value for the rows there are, taken from a row of default values, be it null.
  ///
  /// - Returns: The change, or `nil` if there are no default values.
  static func record(
    _ column: Int,
    of defaults: [UInt8],
    _ layout: RowLayout,
    for number: UInt16,
    in table: UInt16
  ) -> CatalogueChange? {
    guard !defaults.isEmpty else { return nil }
    let single = RowLayout([layout.types[column]])
    return unsafe defaults.withUnsafeBytes { bytes in
      var writer = RowWriter(capacity: 64)
      writer.begin(single)
      unsafe writer.copy(0, from: bytes.bytes, column: column, layout: layout)
      let range = writer.finish()
      let value = unsafe writer.bytes.extracting(range).withUnsafeBytes { unsafe Array($0) }
      return .setMetadata(key: key(table, number), value: value)
    }
  }

  /// Whether a column's value in a row of default values is null.
  static func isNull(_ column: Int, of defaults: [UInt8], _ layout: RowLayout) -> Bool {
    if defaults.isEmpty { return true }
    return unsafe defaults.withUnsafeBytes { unsafe layout.isNull(column, in: $0.bytes) }
  }

  /// The values noted for the columns of a table, by their numbers.
  package static func values(
    in table: TableDefinition,
    _ catalogue: Catalogue
  ) -> [UInt16: [UInt8]] {
    var values: [UInt16: [UInt8]] = [:]
    for column in table.columns {
      values[column.number] = value(of: column.number, in: table.number, catalogue)
    }
    return values
  }

  /// The value noted for a column, as a row of it alone.
  static func value(of column: UInt16, in table: UInt16, _ catalogue: Catalogue) -> [UInt8]? {
    catalogue.metadata[key(table, column)]
  }
}
