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
    case add(Addition, nilStays: Bool)
  }

  /// A number to add, in the form of its column.
  enum Addition {
    /// Of a type whose values have these bounds.
    case integer(Int64, ClosedRange<Int64>)
    case unsigned(UInt64)
    case double(Double)
    case float(Float)

    /// - Returns: `nil` for an amount that is no 64-bit number.
    init?<Value: FixedWidthInteger>(_ amount: Value) {
      if let least = Int64(exactly: Value.min), let greatest = Int64(exactly: Value.max),
        let amount = Int64(exactly: amount)
      {
        self = .integer(amount, least...greatest)
      } else if Value.self == UInt64.self || Value.self == UInt.self {
        self = .unsigned(UInt64(truncatingIfNeeded: amount))
      } else {
        return nil
      }
    }

    /// - Returns: `nil` for numbers of other types than `Double` and `Float`.
    init?<Value: BinaryFloatingPoint>(_ amount: Value) {
      if let amount = amount as? Double {
        self = .double(amount)
      } else if let amount = amount as? Float {
        self = .float(amount)
      } else {
        return nil
      }
    }

    /// Returns the bits of the sum; `nil` if its type cannot hold it, or could not hold the current value.
    @inline(__always)
    func sum(with bits: UInt64) -> UInt64? {
      switch self {
      case .integer(let amount, let bounds):
        let value = Int64(bitPattern: bits)
        let (sum, overflow) = value.addingReportingOverflow(amount)
        guard !overflow, bounds.contains(value), bounds.contains(sum) else { return nil }
        return UInt64(bitPattern: sum)
      case .unsigned(let amount):
        let (sum, overflow) = bits.addingReportingOverflow(amount)
        return overflow ? nil : sum
      case .double(let amount): return (Double(bitPattern: bits) + amount).bitPattern
      case .float(let amount):
        return Double(Float(Double(bitPattern: bits)) + amount).bitPattern
      }
    }
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

  init(_ column: Int, of layout: RowLayout, adding amount: Addition, nilStays: Bool) {
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
