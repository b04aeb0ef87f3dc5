package import RowFormat

/// The value of a derived column.
package enum DerivedColumnValue {
  case null
  case integer(Int64)
  /// A number, or a date.
  case double(Double)
  case text(String)

  /// The canonical form of a text column.
  package static func canonical(_ column: Int, of row: RawSpan, _ layout: RowLayout)
    -> DerivedColumnValue
  {
    if layout.isNull(column, in: row) { return .null }
    return .text(Schema.Derivation.canonicalText(of: layout.text(column, in: row)))
  }

  /// Whether a row has the value.
  package func isValue(of column: Int, in row: RawSpan, _ layout: RowLayout) -> Bool {
    let isNull = layout.isNull(column, in: row)
    switch self {
    case .null: return isNull
    case .integer(let integer): return !isNull && layout.integer(column, in: row) == integer
    case .double(let double):
      return !isNull && layout.double(column, in: row).bitPattern == double.bitPattern
    case .text(let text):
      // Byte by byte: an index would not find a text that is only canonically equal.
      return !isNull && layout.text(column, in: row).utf8.elementsEqual(text.utf8)
    }
  }
}

extension RowWriter {
  /// Appends a row with other values in some columns.
  package mutating func compose(
    _ values: [(column: Int, value: DerivedColumnValue)],
    over row: RawSpan,
    _ layout: RowLayout
  ) {
    begin(layout)
    for column in 0..<layout.count {
      guard let (_, value) = values.first(where: { $0.column == column }) else {
        copy(column, from: row, column: column, layout: layout)
        continue
      }
      switch value {
      case .null: continue
      case .integer(let integer): set(column, integer: integer)
      case .double(let double): set(column, double: double)
      case .text(let text): append(column, text: text)
      }
    }
    _ = finish()
  }
}
