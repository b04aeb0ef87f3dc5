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
  /// Removes a table and all its rows; its number is not reused.
  case removeTable(_ table: UInt16)
  /// Adds a column; existing rows have no value in it.
  case addColumn(table: UInt16, name: String, type: ColumnType, isNullable: Bool)
  /// Gives a column another name; its number and values stay.
  case renameColumn(table: UInt16, column: UInt16, to: String)
  /// Retires a column, which frees its name; rows keep their values in it.
  case retireColumn(table: UInt16, column: UInt16)
  /// Sets the columns of rows written from now on, in row order.
  ///
  /// An order that the table has had before gets its old number back.
  case setLayout(table: UInt16, columns: [UInt16])
  /// Stores a value under a key of the layer above; an empty value removes the key.
  case setMetadata(key: String, value: [UInt8])
}
