import RowFormat

/// The parts of a commit's payload; integers are little-endian.
///
///     part          size  field
///     microseconds     7  since 1970-01-01T00:00:00Z, a signed number
///     authorLength     1  of the author's name, in bytes
///     records          n  one after the other, each a multiple of eight
///     author           m  UTF-8, zero padded to a multiple of eight
///
/// Each frame of a commit in several frames has these parts; only the last names the author.
@usableFromInline package struct CommitPayload {
  package let microseconds: Int64
  package let recordRange: Range<Int>
  let authorRange: Range<Int>

  @inlinable package static var byteCount: Int { 8 }
  @inlinable package static var authorLimit: Int { 255 }

  /// Finds the parts of a payload; `nil` if it is too short.
  package init?(decoding payload: RawSpan) {
    guard payload.byteCount >= CommitPayload.byteCount else { return nil }
    let word = payload.load(UInt64.self, at: 0)
    microseconds = Int64(bitPattern: word << 8) >> 8
    let length = Int(word >> 56)
    let end = payload.byteCount - ((length + 7) & ~7)
    guard end >= CommitPayload.byteCount else { return nil }
    recordRange = CommitPayload.byteCount..<end
    authorRange = end..<(end + length)
  }

  /// Returns the first eight bytes of a payload.
  package static func encode(microseconds: Int64, authorLength: Int) -> UInt64 {
    UInt64(bitPattern: microseconds) & (1 << 56 - 1) | UInt64(authorLength) << 56
  }

  /// Returns the author's name, if there is one.
  package func author(in payload: RawSpan) -> String? {
    guard !authorRange.isEmpty else { return nil }
    return unsafe payload.extracting(authorRange).withUnsafeBytes {
      unsafe String(decoding: $0, as: UTF8.self)
    }
  }
}
