import LogEngine
import RowFormat

/// A value of a column as conditions, sorts and groups see it.
enum Datum: Hashable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// A whole number that is no `integer`: equal values are equal data, whatever the types of their columns.
  case unsigned(UInt64)
  case double(Double)
  /// Seconds since 2001.
  case date(Double)
  case uuid(UInt64, UInt64)
  case reference(RowReference)
  case text(String)
  /// A value without an order: only whether there is one can be asked.
  case opaque

  /// Reads a column of a row, whose integers may be without a sign.
  init(_ column: Int, of row: RawSpan, _ layout: RowLayout, isUnsigned: Bool) {
    if layout.isNull(column, in: row) {
      self = .null
      return
    }
    switch layout.types[column] {
    case .integer:
      let value = layout.integer(column, in: row)
      self = isUnsigned && value < 0 ? .unsigned(UInt64(bitPattern: value)) : .integer(value)
    case .double: self = .double(layout.double(column, in: row))
    case .bool: self = .bool(layout.bool(column, in: row))
    case .date: self = .date(layout.double(column, in: row))
    case .uuid:
      let words = layout.uuid(column, in: row)
      self = .uuid(words.0, words.1)
    case .reference:
      let reference = layout.reference(column, in: row)
      self = reference == .none ? .null : .reference(reference)
    case .text: self = .text(layout.text(column, in: row))
    case .references, .bytes, .blob, .structured: self = .opaque
    }
  }

  /// The value as a number, if it is one.
  var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .unsigned(let value): Double(value)
    case .double(let value), .date(let value): value
    default: nil
    }
  }

  /// Whether this comes before another of the same column; null comes first, what is not a number last.
  func precedes(_ other: Datum) -> Bool {
    switch (self, other) {
    case (.null, .null): false
    case (.null, _): true
    case (_, .null): false
    default: order(other).map { $0 < 0 } ?? false
    }
  }

  /// Below, above or equal to zero as this comes before another, after it, or is equal; `nil` for values that cannot
  /// be compared.
  func order(_ other: Datum) -> Int? {
    switch (self, other) {
    case (.integer(let lhs), .integer(let rhs)): Datum.order(lhs, rhs)
    case (.unsigned(let lhs), .unsigned(let rhs)): Datum.order(lhs, rhs)
    case (.integer, .unsigned): -1
    case (.unsigned, .integer): 1
    case (.integer, .double), (.double, .integer), (.unsigned, .double), (.double, .unsigned),
      (.double, .double), (.date, .date):
      number.flatMap { lhs in other.number.map { Datum.order(lhs, $0) } }
    case (.bool(let lhs), .bool(let rhs)): Datum.order(lhs ? 1 : 0, rhs ? 1 : 0)
    case (.text(let lhs), .text(let rhs)): Datum.order(lhs, rhs)
    case (.reference(let lhs), .reference(let rhs)): Datum.order(lhs.rawValue, rhs.rawValue)
    case (.uuid(let low, let high), .uuid(let otherLow, let otherHigh)):
      // In the order of the bytes.
      low == otherLow
        ? Datum.order(high.byteSwapped, otherHigh.byteSwapped)
        : Datum.order(low.byteSwapped, otherLow.byteSwapped)
    default: nil
    }
  }

  private static func order<Value: Comparable>(_ lhs: Value, _ rhs: Value) -> Int {
    if lhs < rhs { return -1 }
    if lhs == rhs { return 0 }
    if rhs < lhs { return 1 }
    // One of them is not a number, which comes after all numbers.
    let (isLeft, isRight) = (lhs == lhs, rhs == rhs)
    return isLeft == isRight ? 0 : isLeft ? -1 : 1
  }

  /// The value as it is shown, of a column with numbers of a type.
  func cell(_ numbers: NumberType?, tableName name: (UInt16) -> String) -> CellValue {
    switch self {
    case .null, .opaque: .null
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(value)
    case .unsigned(let value): .unsigned(value)
    case .double(let value): .double(numbers?.shown(value) ?? value)
    case .date(let seconds): .date(Timestamp(seconds: seconds))
    case .uuid(let low, let high): .uuid(CellValue.text(ofUUID: (low, high)))
    case .reference(let row): .reference("\(name(row.table))/\(row.key)")
    case .text(let text): .text(text)
    }
  }
}
