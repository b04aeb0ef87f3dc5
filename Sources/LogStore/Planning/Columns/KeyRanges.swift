/// The keys of a table, one range after the other: short ones first, for a fetch that wants few rows.
struct KeyRanges {
  private let end: UInt64
  private var first: UInt64?
  private var width: UInt64 = 64
  private let greatestWidth: UInt64

  /// So many keys that the blocks which two ranges share do not count, and few enough that the rows which
  /// match take little memory before they are read.
  private static let standardWidth: UInt64 = 1 << 16

  /// - Parameters:
  ///   - start: The first key that is wanted; `nil` if none is.
  ///   - end: The key after the last known one; the last range extends beyond it.
  ///   - width: The greatest number of keys of a range.
  init(from start: UInt64? = 0, end: UInt64, upTo width: UInt64 = Self.standardWidth) {
    first = start
    self.end = end
    greatestWidth = width
  }

  mutating func next() -> Range<UInt64>? {
    guard let start = first else { return nil }
    let stop = start &+ width
    guard stop < end else {
      first = nil
      return start ..< .max
    }
    first = stop
    width = min(width * 4, greatestWidth)
    return start..<stop
  }
}
