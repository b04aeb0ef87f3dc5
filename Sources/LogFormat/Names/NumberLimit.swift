import RowFormat

/// How far a store counts what it counts one by one: bytes of log, commits, manifests, checkpoints.
///
/// At a thousand million a second that takes 73 years for ``writable``, so no store comes there; a number in a file does.
package enum NumberLimit {
  /// The greatest that is read: what a reader adds to it is far from trapping.
  package static let readable: UInt64 = 1 << 62
  /// The greatest with which a store is opened to be written: the difference leaves a writer whatever it comes to count.
  package static let writable: UInt64 = 1 << 61
}

extension ByteCursor {
  /// Reads a varint, or returns `nil` if it is greater than anything a store counts.
  mutating func counter(in bytes: RawSpan) -> UInt64? {
    guard let number = varint(in: bytes), number <= NumberLimit.readable else { return nil }
    return number
  }
}
