import Foundation

/// The marks of an axis.
enum Ticks {
  /// Round numbers from zero to a maximum: one, two or five times a power of ten apart.
  ///
  /// - Parameters:
  ///   - maximum: The greatest value to show; positive.
  ///   - count: The greatest number of intervals.
  /// - Returns: The marks; the last is at or above the maximum.
  static func linear(upTo maximum: Double, atMost count: Int) -> [Double] {
    let least = maximum / Double(count)
    let power = pow(10, log10(least).rounded(.down))
    // A hair of tolerance: 0.3 / 0.1 is a little less than 3.
    let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= least * (1 - 1e-9) } ?? 10 * power
    let intervals = Int((maximum / step - 1e-9).rounded(.up))
    return (0...intervals).map { Double($0) * step }
  }

  /// Powers of ten between two values, and if those are few, twice and five times them too.
  ///
  /// - Parameter range: The values to show; positive.
  /// - Returns: The marks, all within the range.
  static func logarithmic(_ range: ClosedRange<Double>) -> [Double] {
    let first = Int(log10(range.lowerBound).rounded(.down))
    let last = Int(log10(range.upperBound).rounded(.up))
    let factors: [Double] = last - first > 3 ? [1] : [1, 2, 5]
    let marks = (first...last).flatMap { exponent in
      factors.map { $0 * pow(10, Double(exponent)) }
    }
    // A hair of tolerance again, for ends that are marks themselves.
    let shown = range.lowerBound * (1 - 1e-9)...range.upperBound * (1 + 1e-9)
    return marks.filter(shown.contains)
  }
}
