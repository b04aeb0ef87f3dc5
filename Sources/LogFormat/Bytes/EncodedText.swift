import RowFormat

/// Text and byte strings as the catalogue and the manifest write them: a varint length, the bytes.
extension ByteBuffer {
  mutating func appendText(_ text: String) {
    appendVarint(UInt64(text.utf8.count))
    append(utf8: text)
  }

  mutating func appendBytes(_ bytes: [UInt8]) {
    appendVarint(UInt64(bytes.count))
    for byte in bytes { append(byte) }
  }
}

extension ByteCursor {
  package mutating func text(in bytes: RawSpan) -> String? {
    guard let length = varint(in: bytes), let range = take(clamping: length) else { return nil }
    return unsafe bytes.extracting(range).withUnsafeBytes {
      unsafe String(validating: $0, as: UTF8.self)
    }
  }

  package mutating func bytes(in bytes: RawSpan) -> [UInt8]? {
    guard let length = varint(in: bytes), let range = take(clamping: length) else { return nil }
    return unsafe bytes.extracting(range).withUnsafeBytes { unsafe [UInt8]($0) }
  }

  /// Takes that many bytes; `nil` if there are fewer.
  package mutating func take(clamping count: UInt64) -> Range<Int>? {
    count <= UInt64(remaining) ? take(Int(count)) : nil
  }

  /// Reads a varint that must fit an integer of another width.
  mutating func varint<T: FixedWidthInteger>(_: T.Type, in bytes: RawSpan) -> T? {
    varint(in: bytes).flatMap { T(exactly: $0) }
  }
}
