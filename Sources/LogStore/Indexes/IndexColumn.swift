import Foundation
import ModelRuntime
import RowFormat

/// A column as indexes keep it: words that are ordered as its values are.
///
///     kind                       words
///     bool, double, float, date  1; of an optional bool, null is 0
///     integer, unsigned          1; of an optional one 2, the first being 0 for null and 1 for a number
///     uuid                       2; of an optional one 3, as before
///     text                       2, the first bytes and a hash of all: equal texts, and no others, have equal words
///
/// The hash is keyed by the store: no text can be made to have another's, and the words are the same in each process.
struct IndexColumn: Hashable, Sendable {
  let number: Int
  let kind: QueryKind
  let isOptional: Bool
  /// Hashes texts.
  let texts: TextHash

  var wordCount: Int {
    switch kind {
    case .bool, .double, .float, .date: 1
    case .integer, .unsigned: isOptional ? 2 : 1
    case .uuid: isOptional ? 3 : 2
    case .text: 2
    case .url, .bytes, .identifier: 0
    }
  }

  /// Whether values that are not equal are in the order of their words.
  var isDecided: Bool { kind != .text }

  /// The number of words before the word of the value itself: 1 if a word tells null, otherwise 0.
  private var marker: Int {
    switch kind {
    case .integer, .unsigned, .uuid: isOptional ? 1 : 0
    case .bool, .double, .float, .date, .text, .url, .bytes, .identifier: 0
    }
  }

  /// Writes the words of a row's value.
  @inline(__always)
  func write(_ row: RawSpan, _ layout: RowLayout, into key: inout IndexKey, at word: Int) {
    if isOptional, layout.isNull(number, in: row) { return }
    let first = SortPrefix.prefix(of: number, kind, isOptional: isOptional, in: row, layout)
    write(first, into: &key, at: word)
    switch kind {
    case .uuid: key[word + marker + 1] = layout.uuid(number, in: row).1.byteSwapped
    case .text:
      let range = layout.range(number, in: row)
      key[word + 1] = unsafe row.withUnsafeBytes {
        unsafe hash(ofText: UnsafeRawBufferPointer(rebasing: $0[range]))
      }
    case .bool, .integer, .unsigned, .double, .float, .date, .url, .bytes, .identifier: break
    }
  }

  @inline(__always)
  private func write(_ first: UInt64, into key: inout IndexKey, at word: Int) {
    if marker == 1 { key[word] = 1 }
    key[word + marker] = isOptional && kind == .bool ? first + 1 : first
  }

  /// The words of a constant, at the beginning of a key; `nil` for one that no column of its kind has.
  func words(of value: QueryValue) -> IndexKey? {
    var key = IndexKey()
    let first: UInt64
    switch (kind, value) {
    case (.bool, .bool(let value)): first = value ? 1 : 0
    case (.integer, .integer(let value)): first = UInt64(bitPattern: value ^ .min)
    case (.unsigned, .integer(let value)): first = UInt64(bitPattern: value)
    case (.double, .double(let value)), (.float, .double(let value)), (.date, .double(let value)):
      // Nothing is equal to NaN, or less, or greater.
      if value.isNaN { return nil }
      first = SortPrefix.prefix(of: value)
    case (.uuid, .uuid(let value)):
      first = value.low.byteSwapped
      key[marker + 1] = value.high.byteSwapped
    case (.text, .text(var text)):
      first = SortPrefix.prefix(ofText: text)
      key[1] = text.withUTF8 { unsafe hash(ofText: UnsafeRawBufferPointer($0)) }
    default: return nil
    }
    write(first, into: &key, at: 0)
    return key
  }

  /// The words of all values; null and NaN, which no comparison holds for, are outside.
  var values: ClosedRange<IndexKey> {
    var lower = IndexKey()
    var upper = IndexKey().prefix(0, then: .max)
    if isOptional {
      switch kind {
      case .bool, .double, .float, .date: lower[0] = 1
      case .integer, .unsigned, .uuid: lower[0] = 1
      case .text: lower[1] = 1
      case .url, .bytes, .identifier: break
      }
    }
    switch kind {
    case .double, .float, .date: upper[0] = SortPrefix.infinity
    case .bool, .integer, .unsigned, .uuid, .text, .url, .bytes, .identifier: break
    }
    return lower...upper.prefix(wordCount, then: 0)
  }

  /// The words of null; `nil` if the column has none.
  var wordsOfNull: IndexKey? { isOptional ? IndexKey() : nil }

  /// A hash of a text in normal form; never zero, which is null's.
  private func hash(ofText utf8: UnsafeRawBufferPointer) -> UInt64 {
    if unsafe utf8.allSatisfy({ $0 < 0xCC }) { return unsafe texts.hash(utf8) | 1 }
    // Texts that are equal have the same characters in normal form, whatever their bytes.
    var text = unsafe String(decoding: utf8, as: UTF8.self).precomposedStringWithCanonicalMapping
    return text.withUTF8 { unsafe texts.hash(UnsafeRawBufferPointer($0)) } | 1
  }
}
