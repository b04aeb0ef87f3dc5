import RowFormat

/// A change of a column of fixed width that is known in advance except for the current value.
///
/// The row is copied unchanged and the values are overwritten: nothing of it is decoded.
struct FixedChange {
  let column: Int
  let offset: Int
  let operation: Operation

  enum Operation {
    case null
    case byte(UInt8)
    case word(UInt64)
    case words(UInt64, UInt64)
    case add(NumberAddition, nilStays: Bool)
  }
}

extension FixedChange {
  /// Makes the change that gives a column the value that it has in a row of some values.
  ///
  /// - Returns: `nil` for a column of variable width.
  init?(
    _ column: Int,
    of layout: RowLayout,
    to row: RawSpan,
    column position: Int,
    of values: RowLayout
  ) {
    let type = layout.types[column]
    if type.isVariable { return nil }
    self.column = column
    offset = layout.offset(of: column)
    let from = values.offset(of: position)
    if values.isNull(position, in: row) {
      operation = .null
    } else {
      switch type.fixedWidth {
      case 1: operation = .byte(row.load(UInt8.self, at: from))
      case 8: operation = .word(row.load(UInt64.self, at: from))
      default:
        operation = .words(row.load(UInt64.self, at: from), row.load(UInt64.self, at: from + 8))
      }
    }
  }

  init(_ column: Int, of layout: RowLayout, adding amount: NumberAddition, nilStays: Bool) {
    self.column = column
    offset = layout.offset(of: column)
    operation = .add(amount, nilStays: nilStays)
  }

  /// Changes a row, the only one in its writer.
  ///
  /// - Parameters:
  ///   - writer: The writer.
  ///   - layout: The row's layout.
  /// - Returns: `false` if the change has no result.
  @inline(__always)
  fileprivate func apply(to writer: inout RowWriter, _ layout: RowLayout) -> Bool {
    let isNull = layout.isNull(column, in: writer.bytes)
    // A value that is no word may be at the end of the row.
    let bits = offset + 8 <= writer.count ? writer.bytes.load(UInt64.self, at: offset) : 0
    switch operation {
    case .null:
      writer.makeNull(column, of: layout, ofRowAt: 0)
      return true
    case .byte(let value): writer.overwrite(value, at: offset, ofRowAt: 0)
    case .word(let value): writer.overwrite(value, at: offset, ofRowAt: 0)
    case .words(let low, let high):
      writer.overwrite(low, at: offset, ofRowAt: 0)
      writer.overwrite(high, at: offset + 8, ofRowAt: 0)
    case .add(let amount, let nilStays):
      if isNull && nilStays { return true }
      // Null reads as zero unless nil stays nil.
      guard let sum = amount.sum(with: isNull ? 0 : bits) else { return false }
      writer.overwrite(sum, at: offset, ofRowAt: 0)
    }
    if isNull { writer.setNull(false, column, ofRowAt: 0) }
    return true
  }
}

extension [FixedChange] {
  /// Changes a row where it is, the only one in its writer.
  ///
  /// - Returns: `false` if a change has no result: the row is then meaningless.
  func apply(to writer: inout RowWriter, _ layout: RowLayout) -> Bool {
    for change in self where !change.apply(to: &writer, layout) { return false }
    return true
  }
}
