import Foundation
import RowFormat

/// A search that ignores case and diacritics.
///
/// The results are those of `localizedStandardContains`. Foundation takes some 100 nanoseconds for each character of a
/// text that is not ASCII, so it is called as seldom as possible:
///
/// 1. A text that has an ASCII pattern, except for case, between ASCII characters, contains it.
/// 2. Any other text is folded to its *skeleton*, the ASCII that its characters may be equal to. A text whose skeleton
///    does not contain that of the pattern does not contain the pattern.
/// 3. If it does, Foundation decides, unless both are ASCII.
struct FoldedSearch: Sendable {
  /// The pattern's skeleton: printable ASCII, in lower case.
  let pattern: [UInt8]
  private let patternIsASCII: Bool

  /// Makes a search for a pattern, unless bytes cannot decide about it: because of the user's language, or because it is
  /// empty, or has characters other than printable ASCII with diacritics.
  ///
  /// - Parameter text: The pattern.
  init?(_ text: String) {
    guard TextPattern.localeFoldsASCII,
      text.decomposedStringWithCanonicalMapping.unicodeScalars.allSatisfy({
        $0.isASCII || $0.properties.generalCategory == .nonspacingMark
      })
    else { return nil }
    let utf8 = Array(text.utf8)
    let skeleton = unsafe utf8.withUnsafeBytes { bytes in
      unsafe [UInt8](unsafeUninitializedCapacity: max(bytes.count, 1)) { skeleton, count in
        count = unsafe Skeleton.write(bytes, to: skeleton)
      }
    }
    guard !skeleton.isEmpty, skeleton.allSatisfy({ 0x20...0x7E ~= $0 }) else { return nil }
    pattern = skeleton.map(\.folded)
    patternIsASCII = utf8.allSatisfy { $0 < 0x80 }
  }

  enum Answer { case contains, doesNotContain, unknown }

  /// Searches a text for the pattern.
  ///
  /// - Parameter text: Valid UTF-8.
  /// - Returns: The answer, if bytes can decide.
  func answer(for text: RawSpan) -> Answer {
    unsafe text.withUnsafeBytes { bytes in
      var start = 0
      while patternIsASCII, let found = unsafe firstOffset(in: bytes, from: start) {
        let end = found + pattern.count
        if unsafe (found == 0 || bytes[found - 1] < 0x80)
          && (end == bytes.count || bytes[end] < 0x80)
        {
          return .contains
        }
        start = found + 1
      }
      if unsafe bytes.isASCII {
        let isFound = unsafe !patternIsASCII && firstOffset(in: bytes, from: 0) != nil
        return isFound ? .unknown : .doesNotContain
      }
      return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytes.count) {
        skeleton in
        let count = unsafe Skeleton.write(bytes, to: skeleton)
        let folded = unsafe UnsafeRawBufferPointer(start: skeleton.baseAddress, count: count)
        return unsafe firstOffset(in: folded, from: 0) == nil ? .doesNotContain : .unknown
      }
    }
  }

  /// Returns the offset of the first occurrence of the pattern from an offset on, ignoring case.
  ///
  /// Tests eight offsets at a time for the pattern's first and last bytes.
  private func firstOffset(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    let last = pattern.count - 1
    let end = bytes.count - last
    guard start < end, let base = bytes.baseAddress else { return nil }
    let firstBytes = UInt64(pattern[0] | 0x20) &* Self.ones
    let lastBytes = UInt64(pattern[last] | 0x20) &* Self.ones
    var offset = start
    while offset &+ 8 <= end {
      let firsts = unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      let lasts = unsafe base.loadUnaligned(fromByteOffset: offset &+ last, as: UInt64.self)
      // A letter has one bit more in lower case; other bytes get it, too, and are distinguished afterwards.
      let mismatches =
        (firsts | Self.letterBits) ^ firstBytes | (lasts | Self.letterBits) ^ lastBytes
      // Nonzero if some byte is zero, and seldom otherwise.
      if (mismatches &- Self.ones) & ~mismatches & Self.highBits != 0 {
        for place in offset..<(offset &+ 8) where unsafe matches(bytes, at: place) { return place }
      }
      offset &+= 8
    }
    while offset < end {
      if unsafe matches(bytes, at: offset) { return offset }
      offset &+= 1
    }
    return nil
  }

  private static var ones: UInt64 { 0x0101_0101_0101_0101 }
  private static var letterBits: UInt64 { 0x2020_2020_2020_2020 }
  private static var highBits: UInt64 { 0x8080_8080_8080_8080 }

  private func matches(_ bytes: UnsafeRawBufferPointer, at start: Int) -> Bool {
    for place in pattern.indices where unsafe bytes[start + place].folded != pattern[place] {
      return false
    }
    return true
  }
}

extension UInt8 {
  /// The byte, or the lower case of an upper-case ASCII letter.
  var folded: UInt8 { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self }
}

extension UnsafeRawBufferPointer {
  /// Whether no byte has its highest bit set.
  var isASCII: Bool {
    var offset = 0
    while offset + 8 <= count {
      let word = unsafe loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      if word & 0x8080_8080_8080_8080 != 0 { return false }
      offset += 8
    }
    while offset < count {
      if unsafe self[offset] >= 0x80 { return false }
      offset += 1
    }
    return true
  }
}

/// The ASCII that a text's characters may be equal to, without diacritics.
///
/// A character that is equal to no ASCII is a zero; ignorable characters are left out. So a text contains nothing that
/// its skeleton does not, and may contain less.
private enum Skeleton {
  /// Writes the skeleton of a text.
  ///
  /// - Parameters:
  ///   - text: Valid UTF-8.
  ///   - skeleton: The output, as large as the text: a skeleton is never longer.
  /// - Returns: Its length.
  static func write(
    _ text: UnsafeRawBufferPointer,
    to skeleton: UnsafeMutableBufferPointer<UInt8>
  ) -> Int {
    var count = 0
    var offset = 0
    while offset < text.count {
      // Case is kept: the search folds it.
      if offset &+ 8 <= text.count {
        let word = unsafe text.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        if word & 0x8080_8080_8080_8080 == 0 {
          unsafe UnsafeMutableRawBufferPointer(skeleton).storeBytes(
            of: word,
            toByteOffset: count,
            as: UInt64.self
          )
          count &+= 8
          offset &+= 8
          continue
        }
      }
      let byte = unsafe text[offset]
      if byte < 0x80 {
        unsafe skeleton[count] = byte
        count &+= 1
        offset &+= 1
        continue
      }
      let (scalar, length) = unsafe scalar(in: text, at: offset)
      offset += length
      var fold = folding(of: scalar)
      if fold == Fold.none {
        unsafe skeleton[count] = 0
        count += 1
      }
      while fold > Fold.none {
        unsafe skeleton[count] = UInt8(truncatingIfNeeded: fold)
        count += 1
        fold >>= 8
      }
    }
    return count
  }

  private static func scalar(
    in text: UnsafeRawBufferPointer,
    at offset: Int
  ) -> (scalar: UInt32, length: Int) {
    let lead = unsafe UInt32(text[offset])
    let length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
    // Invalid UTF-8 counts as a character that is equal to no ASCII.
    guard lead >= 0xC0, offset + length <= text.count else { return (0xFFFD, 1) }
    var scalar = lead & (length == 2 ? 0x1F : length == 3 ? 0x0F : 0x07)
    for place in 1..<length {
      let byte = unsafe UInt32(text[offset + place])
      guard byte & 0xC0 == 0x80 else { return (0xFFFD, 1) }
      scalar = scalar << 6 | byte & 0x3F
    }
    return (scalar, length)
  }

  /// Up to three bytes of ASCII, the first one lowest.
  private enum Fold {
    static let none: Int32 = 0
    static let isLeftOut: Int32 = -1
  }

  /// Returns the ASCII that a character folds to.
  private static func folding(of scalar: UInt32) -> Int32 {
    switch scalar {
    case 0x80...0x24F: latin[Int(scalar) - 0x80]
    case 0x1E00...0x1EFF: latinAdditional[Int(scalar) - 0x1E00]
    // A shortcut for Greek, Cyrillic and Han.
    case 0x370...0x37D, 0x37F...0x482, 0x48A...0x52F, 0x3400...0x9FFF, 0xAC00...0xD7A3: Fold.none
    default: computed(scalar)
    }
  }

  private static let latin: [Int32] = (0x80...0x24F).map(computed)
  private static let latinAdditional: [Int32] = (0x1E00...0x1EFF).map(computed)

  private static func computed(_ value: UInt32) -> Int32 {
    guard let scalar = Unicode.Scalar(value) else { return Fold.none }
    let properties = scalar.properties
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark, .format: return Fold.isLeftOut
    default:
      if properties.isDefaultIgnorableCodePoint || properties.isGraphemeExtend
        || properties.isEmojiModifier
      {
        return Fold.isLeftOut
      }
    }
    // Only below, and here, are characters that fold to ASCII letters by case, by diacritics, or as two in one.
    guard
      value < 0x250 || value == 0x37E || 0x1E00...0x1FFF ~= value || 0x2000...0x22FF ~= value
        || 0xFB00...0xFB06 ~= value
    else { return Fold.none }
    let lowercase = properties.lowercaseMapping
    for mapping in [lowercase, properties.uppercaseMapping, lowercase.uppercased()] {
      let letters = mapping.decomposedStringWithCanonicalMapping.utf8.filter { $0 < 0x80 }
      if letters.isEmpty { continue }
      // No more bytes than the character has itself.
      return letters.prefix(value < 0x800 ? 2 : 3).reversed().reduce(0) {
        $0 << 8 | Int32($1.folded)
      }
    }
    return Fold.none
  }
}
