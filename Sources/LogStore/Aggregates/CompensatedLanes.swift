import LogEngine
import ModelRuntime

/// Four sums side by side that carry along what each addition rounds away: four times as many additions in the time that one
/// waits for another.
private struct CompensatedLanes {
  private var sums = SIMD4<Double>()
  private var lost = SIMD4<Double>()

  /// Adds a value to each sum; what is lost is found as by Knuth, without looking which is the greater.
  @inline(__always)
  mutating func add(_ values: SIMD4<Double>) {
    let next = sums + values
    let added = next - sums
    lost += (sums - (next - added)) + (values - added)
    sums = next
  }

  /// Adds all four to another sum.
  func add(to sum: inout CompensatedSum) {
    for lane in 0..<4 { sum.add(CompensatedSum(sum: sums[lane], lost: lost[lane])) }
  }
}

extension CompensatedSum {
  /// Adds the values of some rows.
  ///
  /// The order of additions follows from the selection alone.
  mutating func add(_ values: Span<Double>, _ rows: RowSelection) {
    precondition(rows.count <= values.count, "\(rows.count) rows of \(values.count) values")
    var sum = self
    sum.addSideBySide(values, rows)
    if sum.value.isFinite {
      self = sum
    } else {
      // Four sums may overflow where one does not.
      rows.forEach { add(values[$0]) }
    }
  }

  private mutating func addSideBySide(_ values: Span<Double>, _ rows: RowSelection) {
    var lanes = CompensatedLanes()
    unsafe values.withUnsafeBytes { bytes in
      for (index, word) in rows.words.enumerated() where word == .max {
        for place in Swift.stride(from: index &* 512, to: index &* 512 &+ 512, by: 32) {
          unsafe lanes.add(bytes.loadUnaligned(fromByteOffset: place, as: SIMD4<Double>.self))
        }
      }
    }
    lanes.add(to: &self)
    for (index, word) in rows.words.enumerated() where word != .max {
      var rest = word
      while rest != 0 {
        add(values[index &<< 6 &+ rest.trailingZeroBitCount])
        rest &= rest &- 1
      }
    }
  }
}
