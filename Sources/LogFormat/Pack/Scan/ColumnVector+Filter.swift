import RowFormat

/// The tests of a scan: each narrows a selection. A null row passes none but ``keepNulls(in:)``.
extension ColumnVector {
  /// Keeps rows whose integer is in a range.
  public func keep(integers range: ClosedRange<Int64>, in selection: inout RowSelection) {
    guard prepare(&selection) else { return }
    let values = integers
    // One comparison instead of two: values below the range wrap around to beyond it.
    let low = range.lowerBound
    let width = UInt64(bitPattern: range.upperBound &- low)
    selection.keep { UInt64(bitPattern: unsafe values[unchecked: $0] &- low) <= width }
  }

  /// Keeps rows whose integer is in a run of consecutive integers, which wraps around after the greatest.
  ///
  /// So unsigned integers need no test of their own.
  ///
  /// - Parameters:
  ///   - first: The first integer.
  ///   - distance: The distance of the last integer from the first.
  ///   - selection: The selection to narrow.
  public func keep(
    integersFrom first: Int64,
    distance: UInt64,
    in selection: inout RowSelection
  ) {
    guard prepare(&selection) else { return }
    let values = integers
    selection.keep { UInt64(bitPattern: unsafe values[unchecked: $0] &- first) <= distance }
  }

  /// Keeps rows whose integer passes a test, which is called for selected rows only.
  public func keep(integersWhere test: (Int64) -> Bool, in selection: inout RowSelection) {
    guard prepare(&selection) else { return }
    let values = integers
    selection.keepSelected { test(values[$0]) }
  }

  /// Keeps rows with the UUID of these little-endian words.
  public func keep(identifier low: UInt64, _ high: UInt64, in selection: inout RowSelection) {
    guard prepare(&selection) else { return }
    let words = identifiers
    selection.keep {
      (unsafe words[unchecked: $0 &* 2] == low) && (unsafe words[unchecked: $0 &* 2 &+ 1] == high)
    }
  }

  /// Keeps rows whose double or date is in a range; NaN is in none.
  public func keep(doubles range: ClosedRange<Double>, in selection: inout RowSelection) {
    guard prepare(&selection) else { return }
    let values = doubles
    let low = range.lowerBound
    let high = range.upperBound
    selection.keep { row in
      let value = unsafe values[unchecked: row]
      return (value >= low) && (value <= high)
    }
  }

  /// Keeps rows with the given bool.
  public func keep(bools value: Bool, in selection: inout RowSelection) {
    guard prepare(&selection) else { return }
    let bits = bits
    for index in selection.words.indices {
      selection.words[index] &= value ? bits[index] : ~bits[index]
    }
  }

  /// Keeps rows whose value, of variable width, passes a test.
  ///
  /// Values of a dictionary are tested once in a scan, not once for each row.
  public func keep(where test: inout ValueTest, in selection: inout RowSelection) {
    guard prepare(&selection) else { return }
    if form == .codes, let dictionary {
      let codes = codes
      switch test.verdict(on: dictionary) {
      case .none: selection.removeAll()
      case .one(let code): selection.keep { unsafe codes[unchecked: $0] == code }
      case .many(let passes):
        let passes = passes.span
        selection.keep { passes[Int(unsafe codes[unchecked: $0])] }
      }
      return
    }
    selection.keepSelected { test.passes(bytes(at: $0)) }
  }

  /// Keeps rows that are null.
  public func keepNulls(in selection: inout RowSelection) {
    if form == .absent { return }
    if nullCount == 0 { return selection.removeAll() }
    let nulls = nullWords
    for index in selection.words.indices { selection.words[index] &= nulls[index] }
  }

  /// Keeps rows that are not null.
  public func keepValues(in selection: inout RowSelection) {
    _ = prepare(&selection)
  }

  /// Drops the null rows.
  ///
  /// - Returns: Whether there are values to test.
  private func prepare(_ selection: inout RowSelection) -> Bool {
    precondition(selection.count == count, "a selection of \(selection.count) rows of \(count)")
    if form == .absent {
      selection.removeAll()
      return false
    }
    selection.dropNulls(of: self)
    return true
  }
}

/// A test of values of variable width, which caches its results for a dictionary.
public struct ValueTest {
  private let test: (RawSpan) -> Bool
  private var dictionary: PackDictionary?
  private var known = Verdict.none

  package enum Verdict {
    case none
    case one(UInt16)
    case many([Bool])
  }

  /// Creates a test.
  ///
  /// - Parameter test: Whether a value passes; called any number of times, in any order.
  public init(_ test: @escaping (RawSpan) -> Bool) { self.test = test }

  /// Creates a test for one value.
  public static func isEqual(to value: [UInt8]) -> ValueTest {
    ValueTest { bytes in unsafe value.span.bytes.isEqual(to: bytes) }
  }

  func passes(_ value: RawSpan) -> Bool { test(value) }

  /// Determines the values of a dictionary that pass.
  package mutating func verdict(on dictionary: PackDictionary) -> Verdict {
    if self.dictionary === dictionary { return known }
    self.dictionary = dictionary
    let passes = (0..<dictionary.count).map { test(dictionary.value($0)) }
    let first = passes.firstIndex(of: true)
    if let first {
      let isOnly = passes.lastIndex(of: true) == first
      known = isOnly ? .one(UInt16(first)) : .many(passes)
    } else {
      known = .none
    }
    return known
  }
}
