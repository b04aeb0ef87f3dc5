import Foundation

/// How the numbers of one type are added up.
package enum SumArithmetic: Hashable, Sendable {
  /// Integers, which are kept in 64 bits, between two bounds.
  case integer(ClosedRange<Int128>)
  case double
  case float

  init?(_ type: any Any.Type) {
    switch type {
    case let integer as any (FixedWidthInteger & _ColumnValue).Type:
      self = .integer(Self.bounds(of: integer))
    case is Double.Type: self = .double
    case is Float.Type: self = .float
    default: return nil
    }
  }

  private static func bounds<I: FixedWidthInteger>(_: I.Type) -> ClosedRange<Int128> {
    Int128(I.min)...Int128(I.max)
  }

  private static func bounds(
    of type: any (FixedWidthInteger & _ColumnValue).Type
  ) -> ClosedRange<Int128> { bounds(type) }

  /// The arithmetic of counts: integers of the type `Int`.
  package static var count: SumArithmetic { .integer(Int128(Int.min)...Int128(Int.max)) }

  /// Whether a number can be subtracted again exactly: the sum is then independent of the order of changes.
  package var isExact: Bool { if case .integer = self { true } else { false } }

  /// The number in the 64 bits of a column.
  package func integer(_ stored: Int64) -> Int128 {
    if case .integer(let bounds) = self, bounds.upperBound > Int128(Int64.max) {
      return Int128(UInt64(bitPattern: stored))
    }
    return Int128(stored)
  }

  /// The 64 bits of a column for a number; `nil` if the type has no such number.
  package func stored(_ integer: Int128) -> Int64? {
    guard case .integer(let bounds) = self, bounds.contains(integer) else { return nil }
    return Int64(truncatingIfNeeded: integer)
  }

  /// The nearest number of the type.
  package func rounded(_ sum: Double) -> Double {
    if case .float = self { Double(Float(sum)) } else { sum }
  }
}
