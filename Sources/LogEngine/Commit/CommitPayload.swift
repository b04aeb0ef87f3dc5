import RowFormat

/// What stands before the records of a commit's payload; integers are little-endian.
///
///     offset  size  field
///          0     7  microseconds  since 1970-01-01T00:00:00Z, a signed number
///          7     1  authorLength  of the author's name, in bytes
///          8     n  author        UTF-8, zero padded to a multiple of eight
///
/// Each frame of a commit in several has this; only the first names the author. The records follow up
/// to the payload's end.
struct CommitPayload {
  var microseconds: Int64
  var authorRange: Range<Int>
  var recordsStart: Int

  static let byteCount = 8
  static let authorLimit = 255

  /// Reads what stands before the records, or returns `nil` if there is too little.
  init?(decoding payload: RawSpan) {
    guard payload.byteCount >= CommitPayload.byteCount else { return nil }
    let word = payload.load(UInt64.self, at: 0)
    microseconds = Int64(bitPattern: word << 8) >> 8
    let length = Int(word >> 56)
    authorRange = 8..<(8 + length)
    recordsStart = (8 + length + 7) & ~7
    guard recordsStart <= payload.byteCount else { return nil }
  }

  static func encode(author: String?, into buffer: inout ByteBuffer) {
    let length = author?.utf8.count ?? 0
    buffer.append(UInt64(length) << 56)
    if let author { buffer.append(utf8: author) }
    buffer.appendZeros(-length & 7)
  }

  /// Writes the time into what was encoded at an offset.
  static func store(microseconds: Int64, at offset: Int, in buffer: inout ByteBuffer) {
    let length = buffer.load(UInt8.self, at: offset + 7)
    let time = UInt64(bitPattern: microseconds) & (1 << 56 - 1)
    buffer.store(time | UInt64(length) << 56, at: offset)
  }

  /// The author's name, if there is one.
  func author(in payload: RawSpan) -> String? {
    guard !authorRange.isEmpty else { return nil }
    return unsafe payload.extracting(authorRange).withUnsafeBytes {
      unsafe String(decoding: $0, as: UTF8.self)
    }
  }
}
