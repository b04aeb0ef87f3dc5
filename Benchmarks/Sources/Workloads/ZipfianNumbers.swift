import Foundation

/// Numbers of which few are drawn often: the n-th most frequent one in proportion to 1 / n^0.99, as in YCSB.
///
/// By the formula of Gray and others ("Quickly generating billion-record synthetic databases", 1994), which needs one sum over
/// all numbers beforehand and a power for each draw.
public struct ZipfianNumbers: Sendable {
  private static let exponent = 0.99
  private let count: Int
  private let zeta: Double
  private let eta: Double

  /// Prepares to draw numbers of 0 ..< count.
  ///
  /// - Complexity: O(count).
  public init(count: Int) {
    precondition(count > 2, "zipfian numbers below \(count)")
    self.count = count
    var zeta = 0.0
    for number in 1...count { zeta += 1 / pow(Double(number), Self.exponent) }
    self.zeta = zeta
    let zetaOfTwo = 1 + pow(0.5, Self.exponent)
    eta = (1 - pow(2 / Double(count), 1 - Self.exponent)) / (1 - zetaOfTwo / zeta)
  }

  /// Draws a number; 0 is the most frequent one.
  public func next(_ random: inout SplitMix64) -> Int {
    let unit = random.nextUnit()
    let scaled = unit * zeta
    if scaled < 1 { return 0 }
    if scaled < 1 + pow(0.5, Self.exponent) { return 1 }
    let number = Double(count) * pow(eta * unit - eta + 1, 1 / (1 - Self.exponent))
    return min(Int(number), count - 1)
  }

  /// Draws a number; the frequent ones are scattered over all.
  public func nextScattered(_ random: inout SplitMix64) -> Int {
    var mixer = SplitMix64(seed: UInt64(next(&random)))
    return mixer.next(below: count)
  }
}
