import RowFormat

/// Limits of the numbers that a store counts up one by one: bytes of log, commits, manifests, checkpoints.
///
/// At a thousand million a second it takes 73 years to reach ``writable``, so no store gets there; a damaged number does.
package enum NumberLimit {
  /// The greatest number that is read: additions by a reader are far from overflowing.
  package static let readable: UInt64 = 1 << 62
  /// The greatest number with which a store is opened for writing: the difference leaves room for everything a writer can
  /// count.
  package static let writable: UInt64 = 1 << 61
}

extension ByteCursor {
  /// Reads a varint; `nil` if it is greater than any number that a store reaches.
  mutating func counter(in bytes: RawSpan) -> UInt64? {
    guard let number = varint(in: bytes), number <= NumberLimit.readable else { return nil }
    return number
  }
}
