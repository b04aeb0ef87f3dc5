/// A number to add to a column, in the form that rows have.
package enum NumberAddition: Sendable {
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
