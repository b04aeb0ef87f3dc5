import RowFormat

/// Doubles that people wrote down as decimals: 3.5, 12.25, whole seconds.
///
/// Only values that are restored bit by bit count; -0, infinities and NaN never are.
enum DecimalCoding {
  /// The powers of ten that are tried, and accepted by a reader.
  static let powers: [Double] = [1, 10, 100, 1000]

  /// Integers below this limit are exact as doubles.
  private static let limit = 9_007_199_254_740_992.0

  /// Finds the smallest power of ten that turns all values into integers.
  ///
  /// - Parameter values: The bit patterns of doubles; replaced by the integers on success.
  /// - Returns: The exponent; `nil` if there is none, and then the values are unchanged.
  static func scale(_ values: inout [Int64]) -> Int? {
    for (exponent, power) in powers.enumerated() {
      guard values.allSatisfy({ whole($0, power) != nil }) else { continue }
      for index in values.indices { values[index] = whole(values[index], power) ?? 0 }
      return exponent
    }
    return nil
  }

  @inline(__always)
  private static func whole(_ pattern: Int64, _ power: Double) -> Int64? {
    let value = Double(bitPattern: UInt64(bitPattern: pattern))
    let scaled = (value * power).rounded()
    guard scaled.magnitude < limit else { return nil }
    let whole = Int64(scaled)
    // Compared as bits, so that -0 does not become 0.
    return (Double(whole) / power).bitPattern == value.bitPattern ? whole : nil
  }
}
