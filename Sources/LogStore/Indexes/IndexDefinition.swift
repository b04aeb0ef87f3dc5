import ModelRuntime
import RowFormat

/// The definition of an index: its rows, and the key of each.
enum IndexDefinition: Sendable {
  /// The values of columns of one table, the first of which decides first.
  case values(table: UInt16, [IndexColumn])
  /// The rows of one table that refer to others through a to-one column; their keys are target and rank.
  case references(ReferenceColumn)
  /// The rows that have a key of a uniqueness constraint, in all tables it covers; the index keys are hashes of it.
  case unique(tables: [UInt16], constraint: Int, columns: [Int])
  /// The words of the texts in a column of one table; see ``IndexedWords``. A row's key tells whether its text is another.
  case words(table: UInt16, column: Int, TextHash)

  var tables: [UInt16] {
    switch self {
    case .values(let table, _): [table]
    case .references(let column): [column.table]
    case .unique(let tables, _, _): tables
    case .words(let table, _, _): [table]
    }
  }

  /// The columns whose change can change a row's key.
  var columns: ColumnSet {
    var set = ColumnSet()
    switch self {
    case .values(_, let columns): for column in columns { set.insert(column.number) }
    case .references(let column):
      set.insert(column.column)
      if let rank = column.rankColumn { set.insert(rank) }
    case .unique(_, _, let columns): for column in columns { set.insert(column) }
    case .words(_, let column, _): set.insert(column)
    }
    return set
  }

  var wordCount: Int {
    switch self {
    case .values(_, let columns): columns.reduce(0) { $0 + $1.wordCount }
    case .references: 2
    case .unique, .words: 1
    }
  }

  /// Returns the key of a row.
  ///
  /// - Parameters:
  ///   - row: The row.
  ///   - layout: Its layout, its class's current one.
  ///   - scratch: Any bytes; they are overwritten.
  /// - Returns: `nil` for a row that the index leaves out.
  func key(of row: RawSpan, _ layout: RowLayout, _ scratch: inout [UInt8]) -> IndexKey? {
    switch self {
    case .values(_, let columns):
      var key = IndexKey()
      var word = 0
      for column in columns {
        column.write(row, layout, into: &key, at: word)
        word += column.wordCount
      }
      return key
    case .references(let column):
      if layout.isNull(column.column, in: row) { return nil }
      var rank: Int64 = 0
      if let place = column.rankColumn, !layout.isNull(place, in: row) {
        rank = layout.integer(place, in: row)
      }
      return IndexDefinition.key(
        ofReferenceTo: layout.reference(column.column, in: row),
        rank: rank
      )
    case .unique(_, _, let columns):
      scratch.removeAll(keepingCapacity: true)
      guard ColumnKey.append(columns, of: row, layout, to: &scratch) else { return nil }
      return IndexKey(UInt64(ColumnKey.hash(scratch[...])))
    case .words(_, let column, let texts):
      if layout.isNull(column, in: row) { return nil }
      let range = layout.range(column, in: row)
      return IndexKey(
        unsafe row.withUnsafeBytes {
          unsafe texts.hash(UnsafeRawBufferPointer(rebasing: $0[range]))
        }
      )
    }
  }

  static func key(ofReferenceTo target: RowReference, rank: Int64) -> IndexKey {
    IndexKey(target.rawValue, UInt64(bitPattern: rank ^ .min))
  }

  static func rank(of key: IndexKey) -> Int64 { Int64(bitPattern: key[1]) ^ .min }
}

extension IndexDefinition {
  /// The index of some properties in a table; `nil` if the first one's values have no order in rows.
  ///
  /// Columns that find no room in a key are left out, and with them those that follow.
  init?(_ names: [String], in table: EntityTable) {
    var columns: [IndexColumn] = []
    var wordCount = 0
    let texts = TextHash(table.store)
    for name in names {
      guard let property = table.descriptor.property(named: name), !property.isRelationship,
        let reading = ColumnReading(property), SortPrefix.isOrdered(reading.kind)
      else { break }
      let column = IndexColumn(
        number: reading.column,
        kind: reading.kind,
        isOptional: reading.isOptional,
        texts: texts
      )
      wordCount += column.wordCount
      if wordCount > IndexKey.wordLimit { break }
      columns.append(column)
    }
    if columns.isEmpty { return nil }
    self = .values(table: table.number, columns)
  }
}
