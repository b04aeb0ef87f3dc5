import Foundation
import RowFormat

/// A constant text, compared with the text of rows byte by byte wherever that gives the same result.
///
/// Swift compares text by canonical equivalence. Up to U+02FF no character changes under
/// normalization, composes with a neighbour or decomposes to another, so for texts of such characters alone,
/// which in UTF-8 have no byte from 0xCC on, equal bytes and equal texts are the same thing, and so are
/// their orders. Everything else is decoded and compared as `String`s.
struct TextPattern: Sendable {
  let text: String
  let utf8: [UInt8]
  let isPlain: Bool

  init(_ text: String) {
    self.text = text
    utf8 = Array(text.utf8)
    isPlain = unsafe utf8.withUnsafeBytes { unsafe $0.bytes.isPlainText }
  }

  /// Whether the text at some bytes of a row is equal to the pattern.
  func equals(_ range: Range<Int>, of row: RawSpan) -> Bool {
    if range.count == utf8.count, compare(range, of: row) == 0 { return true }
    // Different first ASCII characters stay different, whatever follows them.
    if let first = utf8.first, !range.isEmpty {
      let other = row.load(UInt8.self, at: range.lowerBound)
      if first != other && first < 0x80 && other < 0x80 { return false }
    }
    if isPlain && row.extracting(range).isPlainText { return false }
    return string(range, of: row) == text
  }

  /// Compares the text at some bytes of a row with the pattern; the sign is the order.
  func order(of range: Range<Int>, in row: RawSpan) -> Int {
    guard isPlain, row.extracting(range).isPlainText else {
      return string(range, of: row).canonicalOrder(text)
    }
    let order = compare(range, of: row)
    return order != 0 ? order : range.count - utf8.count
  }

  /// Compares as many bytes as both have.
  func compare(_ range: Range<Int>, of row: RawSpan) -> Int {
    let count = min(range.count, utf8.count)
    if count == 0 { return 0 }
    return unsafe row.withUnsafeBytes { bytes in
      unsafe utf8.withUnsafeBytes { own in
        guard let lhs = bytes.baseAddress, let rhs = own.baseAddress else { return 0 }
        return unsafe Int(memcmp(lhs + range.lowerBound, rhs, count))
      }
    }
  }

  func string(_ range: Range<Int>, of row: RawSpan) -> String {
    unsafe row.withUnsafeBytes { unsafe String(decoding: $0[range], as: UTF8.self) }
  }
}

extension RawSpan {
  /// Whether the text has no character from U+0300 on.
  var isPlainText: Bool {
    var offset = 0
    while offset &+ 8 <= byteCount {
      let word = load(UInt64.self, at: offset)
      // Most words are all ASCII, which one test shows.
      if word & 0x8080_8080_8080_8080 != 0 && !Self.isPlain(word) { return false }
      offset &+= 8
    }
    if offset &+ 4 <= byteCount, load(UInt32.self, at: offset) & 0x8080_8080 == 0 { offset &+= 4 }
    while offset < byteCount {
      if load(UInt8.self, at: offset) >= 0xCC { return false }
      offset &+= 1
    }
    return true
  }

  private static func isPlain(_ word: UInt64) -> Bool {
    for byte in 0..<8 where UInt8(truncatingIfNeeded: word &>> (UInt64(byte) &* 8)) >= 0xCC {
      return false
    }
    return true
  }
}
