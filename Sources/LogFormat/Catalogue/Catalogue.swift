public import RowFormat

/// The schema of a store: its tables, their columns, and every column order that rows were written in.
///
/// A value: later changes of the store do not change it. Numbers are never reused, so that a column keeps its values
/// under a new name, and old rows stay readable.
public struct Catalogue: Hashable, Sendable {
  /// The tables, by ascending number.
  public internal(set) var tables: [TableDefinition] = []
  /// Metadata that the layer above keeps beside the tables, by name.
  public internal(set) var metadata: [String: [UInt8]] = [:]
  /// The number of the next new table.
  public internal(set) var nextTableNumber: UInt16 = 1

  /// Creates a catalogue without tables.
  public init() {}

  /// Returns the table with a number.
  public func table(_ number: UInt16) -> TableDefinition? {
    position(of: number).map { tables[$0] }
  }

  /// Returns the table with a name.
  public func table(named name: String) -> TableDefinition? {
    tables.first { $0.name == name }
  }

  package func position(of number: UInt16) -> Int? {
    let position = tables.partitionPoint { $0.number < number }
    return position < tables.count && tables[position].number == number ? position : nil
  }
}

/// A table: rows that share columns.
public struct TableDefinition: Hashable, Sendable {
  /// The number in a ``/RowFormat/RowReference``, from 1 to 32,767.
  public let number: UInt16
  /// The name of the table; no other table of the store has it.
  public internal(set) var name: String
  /// The columns, by ascending number, retired ones included.
  public internal(set) var columns: [ColumnDefinition] = []
  /// Every column order that rows were ever written in; layout *n* is at index *n* − 1.
  public internal(set) var layouts: [LayoutDefinition] = []
  /// The layout of new rows; ``LayoutNumber/none`` until one is set.
  public internal(set) var currentLayout: LayoutNumber = .none

  /// The number of the next new column.
  public var nextColumnNumber: UInt16 { UInt16(columns.count + 1) }

  /// Returns the column with a number.
  public func column(_ number: UInt16) -> ColumnDefinition? {
    columns.indices.contains(Int(number) - 1) ? columns[Int(number) - 1] : nil
  }

  /// Returns the column in use with a name; retired columns do not count.
  public func column(named name: String) -> ColumnDefinition? {
    columns.first { $0.name == name && !$0.isRetired }
  }

  /// Returns the layout with a number.
  public func layout(_ number: LayoutNumber) -> LayoutDefinition? {
    let index = Int(number.rawValue) - 1
    return layouts.indices.contains(index) ? layouts[index] : nil
  }
}

/// A column of a table.
public struct ColumnDefinition: Hashable, Sendable {
  /// The number of the column, counted from 1 in the order in which columns were added.
  public let number: UInt16
  /// The name of the column; no other column of the table in use has it.
  public internal(set) var name: String
  /// The type of the column's values; it never changes.
  public let type: ColumnType
  /// Whether rows may have no value in the column.
  public let isNullable: Bool
  /// Whether the column is no longer written; its values in old rows can still be read.
  public internal(set) var isRetired = false
}

/// A column order, and the place of each column in a row.
public struct LayoutDefinition: Hashable, Sendable {
  /// The number of the layout in its table.
  public let number: LayoutNumber
  /// The numbers of the columns, in row order.
  public let columns: [UInt16]
  /// The places of their values in a row.
  public let layout: RowLayout
}
