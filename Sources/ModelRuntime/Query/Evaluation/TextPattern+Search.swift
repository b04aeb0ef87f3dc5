import Foundation
import RowFormat

extension TextPattern {
  /// Whether the pattern occurs in the text at some bytes of a row.
  ///
  /// Swift searches for whole characters. In plain text every code point is one, except that a carriage return
  /// and a line feed are one together: text with a carriage return is left to `String`.
  func isContained(in range: Range<Int>, of row: RawSpan) -> Bool {
    guard !utf8.isEmpty, isPlain, row.isSearchable(range) else {
      return string(range, of: row).containsCharacters(of: text)
    }
    return unsafe row.withUnsafeBytes { bytes in
      unsafe utf8.withUnsafeBytes { own in
        unsafe UnsafeRawBufferPointer(rebasing: bytes[range]).firstOffset(of: own) != nil
      }
    }
  }

  /// Whether the text at some bytes of a row begins with the pattern's characters.
  func isPrefix(of range: Range<Int>, of row: RawSpan) -> Bool {
    guard isPlain, row.isSearchable(range) else {
      return string(range, of: row).starts(with: text)
    }
    return range.count >= utf8.count && compare(range, of: row) == 0
  }
}

extension String {
  /// Whether the text contains another, by characters.
  ///
  /// Calls `contains` of two collections, as predicates do.
  func containsCharacters(of other: String) -> Bool {
    func contains<C: Collection>(_ text: C) -> Bool where C.Element == Character {
      text.contains(other)
    }
    return contains(self)
  }
}

extension RawSpan {
  /// Whether the characters of the text at some bytes are its code points.
  fileprivate func isSearchable(_ range: Range<Int>) -> Bool {
    let text = extracting(range)
    return text.isPlainText && !text.contains(0x0D)
  }

  private func contains(_ byte: UInt8) -> Bool {
    unsafe withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return false }
      return unsafe memchr(start, Int32(byte), bytes.count) != nil
    }
  }
}

extension UnsafeRawBufferPointer {
  /// The offset of the first occurrence of a non-empty run of bytes.
  fileprivate func firstOffset(of other: UnsafeRawBufferPointer) -> Int? {
    guard let start = baseAddress, let wanted = other.baseAddress else { return nil }
    let first = unsafe Int32(other[0])
    var offset = 0
    // `memmem` is not in Glibc's module map; a search by the first byte is as fast for short texts.
    while count - offset >= other.count {
      guard let found = unsafe memchr(start + offset, first, count - offset - other.count + 1)
      else {
        return nil
      }
      offset = unsafe start.distance(to: UnsafeRawPointer(found))
      if unsafe memcmp(found, wanted, other.count) == 0 { return offset }
      offset += 1
    }
    return nil
  }
}
