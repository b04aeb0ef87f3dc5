import RowFormat

/// Finds the words of texts, ignoring case and diacritics.
///
/// A word is a run of letters and digits; in scripts without blanks between words, each character is one. Words have
/// up to ``longestWord`` bytes; a longer one, or a character that may equal something it does not fold to, makes the text
/// *opaque*: its words do not cover its whole content. Used by one thread at a time.
package final class WordScanner {
  /// Maximum number of UTF-8 bytes in a word.
  package static let longestWord = 64

  /// Whether the last text has content that its words do not cover.
  package private(set) var isOpaque = false

  /// Whether the last text has a character that folds to several.
  package private(set) var hasSeveral = false

  /// Number of words in the last text that were skipped as too long; during a scan, so far.
  package private(set) var longWordCount = 0

  private var folding = WordFolding()

  package init() {}

  /// The position of a word in its text.
  package struct Place {
    /// The bytes of the text's UTF-8.
    package let range: Range<Int>
    /// Whether a character outside of words precedes it.
    package let isBegun: Bool
    /// Whether a character outside of the word follows it.
    package let isEnded: Bool
  }

  /// Calls a closure with the words of a text, in their order.
  ///
  /// - Parameters:
  ///   - text: UTF-8; invalid bytes count as separators.
  ///   - body: Called with each word, folded, in UTF-8, and its place.
  /// - Complexity: O(bytes), at some 200 megabytes a second.
  package func scan(_ text: RawSpan, _ body: (_ word: RawSpan, Place) throws -> Void) rethrows {
    isOpaque = false
    hasSeveral = false
    longWordCount = 0
    // In temporary memory: each access to an object's property is checked.
    try unsafe withUnsafeTemporaryAllocation(byteCount: Self.longestWord, alignment: 8) { buffer in
      try unsafe text.withUnsafeBytes { bytes in
        try unsafe Self.letters.withUnsafeBufferPointer { letters in
          var word = unsafe FoldedWord(buffer)
          try unsafe scan(bytes, letters, &word, body)
        }
      }
    }
  }

  @inline(__always)
  private func scan(
    _ bytes: UnsafeRawBufferPointer,
    _ letters: UnsafeBufferPointer<UInt8>,
    _ word: inout FoldedWord,
    _ body: (_ word: RawSpan, Place) throws -> Void
  ) rethrows {
    var isBegun = false
    var offset = 0
    while offset < bytes.count {
      let place = offset
      let letter = unsafe letters[Int(bytes[offset])]
      if letter != 0 {
        word.append(letter, at: place)
        offset &+= 1
        continue
      }
      let (fold, length) = unsafe fold(bytes, at: offset)
      offset &+= length
      if fold.isOpaque { isOpaque = true }
      switch fold.kind {
      case .ignored: break
      case .opaque, .separator:
        try end(&word, at: place, isBegun, isEnded: true, body)
        isBegun = true
      case .letter:
        if fold.isSeveral { hasSeveral = true }
        for index in 0..<fold.count { word.append(fold.byte(index), at: place) }
      case .ideograph:
        try end(&word, at: place, isBegun, isEnded: true, body)
        for index in 0..<fold.count { word.append(fold.byte(index), at: place) }
        try end(&word, at: offset, true, isEnded: true, body)
        isBegun = true
      }
    }
    try end(&word, at: bytes.count, isBegun, isEnded: false, body)
  }

  /// Returns the folding of the character at an offset, and its length in bytes.
  private func fold(
    _ bytes: UnsafeRawBufferPointer,
    at offset: Int
  ) -> (fold: WordFold, length: Int) {
    let byte = unsafe bytes[offset]
    if byte < 0x80 { return (WordFolding.ascii[Int(byte)], 1) }
    let (scalar, length) = unsafe RawSpan(_unsafeBytes: bytes).scalar(at: offset)
    return (folding.fold(scalar), length)
  }

  /// Ends the current word, if there is one.
  @inline(__always)
  private func end(
    _ word: inout FoldedWord,
    at offset: Int,
    _ isBegun: Bool,
    isEnded: Bool,
    _ body: (_ word: RawSpan, Place) throws -> Void
  ) rethrows {
    if word.isEmpty { return }
    if word.isTooLong {
      isOpaque = true
      longWordCount += 1
    } else {
      let place = Place(range: word.start..<offset, isBegun: isBegun, isEnded: isEnded)
      try unsafe body(RawSpan(_unsafeBytes: word.bytes), place)
    }
    word.removeAll()
  }

  /// The lower case of the letters and digits of ASCII; zero for all other bytes.
  private static let letters: [UInt8] = (0...0xFF as ClosedRange<UInt8>).map { byte in
    guard byte < 0x80 else { return 0 }
    let fold = WordFolding.ascii[Int(byte)]
    return fold.kind == .letter ? fold.byte(0) : 0
  }
}

/// The current word, folded.
@safe private struct FoldedWord {
  private let buffer: UnsafeMutableRawBufferPointer
  private var count = 0
  /// The offset of the word in the text.
  private(set) var start = 0
  /// Whether the word has more bytes than there is room for.
  private(set) var isTooLong = false

  init(_ buffer: UnsafeMutableRawBufferPointer) { unsafe self.buffer = buffer }

  var isEmpty: Bool { count == 0 }
  var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count]) }

  @inline(__always)
  mutating func append(_ byte: UInt8, at place: Int) {
    if count == 0 { start = place }
    guard unsafe count < buffer.count else {
      isTooLong = true
      return
    }
    unsafe buffer[count] = byte
    count &+= 1
  }

  mutating func removeAll() {
    count = 0
    isTooLong = false
  }
}

extension RawSpan {
  /// The scalar at an offset, and its length in bytes; U+FFFD for invalid UTF-8.
  fileprivate func scalar(at offset: Int) -> (scalar: UInt32, length: Int) {
    let lead = UInt32(load(UInt8.self, at: offset))
    let length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
    guard lead >= 0xC0, lead < 0xF8, offset + length <= byteCount else { return (0xFFFD, 1) }
    var scalar = lead & (length == 2 ? 0x1F : length == 3 ? 0x0F : 0x07)
    for place in 1..<length {
      let byte = UInt32(load(UInt8.self, at: offset + place))
      guard byte & 0xC0 == 0x80 else { return (0xFFFD, 1) }
      scalar = scalar << 6 | byte & 0x3F
    }
    return (scalar < 0x110000 ? scalar : 0xFFFD, length)
  }
}
