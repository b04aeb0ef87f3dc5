import RowFormat

/// A change of a column of fixed width that is known in advance except for the current value.
///
/// The row is copied unchanged and the values are overwritten: nothing of it is decoded.
struct FixedChange {
  let column: Int
  let offset: Int
  let operation: Operation

  enum Operation {
    case null(byteCount: Int)
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
      operation = .null(byteCount: type.fixedWidth)
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

  /// Changes a row that was appended to a writer as it is.
  ///
  /// - Parameters:
  ///   - start: The offset of the row in the writer's bytes.
  ///   - writer: The writer.
  ///   - isNull: Whether the column was null.
  ///   - bits: The column's bits, if its values are words.
  /// - Returns: `false` if the change has no result.
  @inline(__always)
  func apply(to start: Int, in writer: inout RowWriter, isNull: Bool, _ bits: UInt64) -> Bool {
    switch operation {
    case .null(let byteCount):
      writer.setNull(true, column, ofRowAt: start)
      for place in 0..<byteCount {
        writer.overwrite(0 as UInt8, at: offset + place, ofRowAt: start)
      }
      return true
    case .byte(let value): writer.overwrite(value, at: offset, ofRowAt: start)
    case .word(let value): writer.overwrite(value, at: offset, ofRowAt: start)
    case .words(let low, let high):
      writer.overwrite(low, at: offset, ofRowAt: start)
      writer.overwrite(high, at: offset + 8, ofRowAt: start)
    case .add(let amount, let nilStays):
      if isNull && nilStays { return true }
      // Null reads as zero unless nil stays nil.
      guard let sum = amount.sum(with: isNull ? 0 : bits) else { return false }
      writer.overwrite(sum, at: offset, ofRowAt: start)
    }
    if isNull { writer.setNull(false, column, ofRowAt: start) }
    return true
  }
}

extension [FixedChange] {
  /// Changes a row where it is, the only one in its writer.
  ///
  /// - Returns: `false` if a change has no result: the row is then meaningless.
  func apply(to writer: inout RowWriter, _ layout: RowLayout) -> Bool {
    for change in self {
      let (isNull, bits) = layout.value(change, of: writer.bytes)
      guard change.apply(to: 0, in: &writer, isNull: isNull, bits) else { return false }
    }
    return true
  }
}

extension RowLayout {
  /// Returns what a change reads: whether its column is null, and its bits if its values are words.
  @inline(__always)
  func value(_ change: FixedChange, of row: RawSpan) -> (isNull: Bool, bits: UInt64) {
    let bits = change.offset + 8 <= row.byteCount ? row.load(UInt64.self, at: change.offset) : 0
    return (isNull(change.column, in: row), bits)
  }
}
