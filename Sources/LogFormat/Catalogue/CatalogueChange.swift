public import RowFormat

/// One step from a catalogue to the next.
///
/// Numbers are predictable: a new table gets ``Catalogue/nextTableNumber``, a new column
/// ``TableDefinition/nextColumnNumber``, so that one list can add a table, its columns and its layout.
public enum CatalogueChange: Hashable, Sendable {
  /// Adds an empty table.
  case addTable(name: String)
  /// Gives a table another name; its number and rows stay.
  case renameTable(_ table: UInt16, to: String)
  /// Removes a table and all its rows; its number is not given again.
  case removeTable(_ table: UInt16)
  /// Adds a column; rows that exist have no value in it.
  case addColumn(table: UInt16, name: String, type: ColumnType, isNullable: Bool)
  /// Gives a column another name; its number and values stay.
  case renameColumn(table: UInt16, column: UInt16, to: String)
  /// Lets a column's name go; rows that hold values of it keep them.
  case retireColumn(table: UInt16, column: UInt16)
  /// Names the columns of rows written from now on, in row order.
  ///
  /// An order the table has had before gets its old number back.
  case setLayout(table: UInt16, columns: [UInt16])
  /// Keeps a value under a key of the layer above; an empty value removes it.
  case setMetadata(key: String, value: [UInt8])
}
