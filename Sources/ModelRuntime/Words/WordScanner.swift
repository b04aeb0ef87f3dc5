import RowFormat

/// Finds the words of texts, without regard to case and diacritics.
///
/// A word is a run of letters and digits; in scripts that write no blanks between words, each character is one. Words have
/// up to ``longestWord`` bytes; what is longer, or may be equal to something that it does not fold to, makes the text
/// *opaque*: its words do not tell all that it contains. Used by one thread at a time.
package final class WordScanner {
  /// The most bytes of UTF-8 that a word has.
  package static let longestWord = 64

  /// Whether the last text has something that its words do not tell.
  package private(set) var isOpaque = false

  /// Whether the last text has a character that folds to several.
  package private(set) var hasSeveral = false

  private var folding = WordFolding()
  /// The word that is being read, folded.
  private var word: [UInt8] = []

  package init() { word.reserveCapacity(WordScanner.longestWord + 8) }

  /// Where a word is in its text.
  package struct Place {
    /// The bytes of the text's UTF-8.
    package let range: Range<Int>
    /// Whether something that is no part of a word is before it.
    package let isBegun: Bool
    /// Whether something that is no part of it is behind it.
    package let isEnded: Bool
  }

  /// Calls a closure with the words of a text, in their order.
  ///
  /// - Parameters:
  ///   - text: UTF-8; bytes that are none count as what is between words.
  ///   - body: Called with each word, folded, in UTF-8, and its place.
  /// - Complexity: O(bytes), at some 200 megabytes a second.
  package func scan(_ text: RawSpan, _ body: (_ word: RawSpan, Place) throws -> Void) rethrows {
    isOpaque = false
    hasSeveral = false
    word.removeAll(keepingCapacity: true)
    var start = 0
    var isBegun = false
    var isTooLong = false
    var offset = 0
    let count = text.byteCount
    while offset < count {
      let place = offset
      let byte = text.load(UInt8.self, at: offset)
      var fold: WordFold
      if byte < 0x80 {
        offset &+= 1
        let letter = WordFolding.asciiLetters[Int(byte)]
        if letter != 0 {
          if word.isEmpty { start = place }
          if word.count < WordScanner.longestWord { word.append(letter) } else { isTooLong = true }
          continue
        }
        fold = WordFolding.ascii[Int(byte)]
      } else {
        let (scalar, length) = text.scalar(at: offset)
        offset += length
        fold = folding.fold(scalar)
      }
      switch fold.kind {
      case .ignored: break
      case .opaque, .separator:
        if fold.kind == .opaque { isOpaque = true }
        try end(&isTooLong, start..<place, isBegun, isEnded: true, body)
        isBegun = true
      case .letter:
        if fold.isSeveral { hasSeveral = true }
        if word.isEmpty { start = place }
        if word.count + fold.count > WordScanner.longestWord {
          isTooLong = true
        } else {
          for index in 0..<fold.count { word.append(fold.byte(index)) }
        }
      case .ideograph:
        try end(&isTooLong, start..<place, isBegun, isEnded: true, body)
        for index in 0..<fold.count { word.append(fold.byte(index)) }
        try end(&isTooLong, place..<offset, true, isEnded: true, body)
        isBegun = true
      }
    }
    try end(&isTooLong, start..<count, isBegun, isEnded: false, body)
  }

  /// Ends the word that is being read, if there is one.
  private func end(
    _ isTooLong: inout Bool,
    _ range: Range<Int>,
    _ isBegun: Bool,
    isEnded: Bool,
    _ body: (_ word: RawSpan, Place) throws -> Void
  ) rethrows {
    if word.isEmpty { return }
    if isTooLong {
      isOpaque = true
      isTooLong = false
    } else {
      let place = Place(range: range, isBegun: isBegun, isEnded: isEnded)
      try unsafe word.withUnsafeBytes { try unsafe body($0.bytes, place) }
    }
    word.removeAll(keepingCapacity: true)
  }
}

extension WordFolding {
  /// The lower case of the letters and digits of ASCII; zero for the other characters.
  fileprivate static let asciiLetters: [UInt8] = (0..<0x80 as Range<UInt8>).map { byte in
    let fold = ascii[Int(byte)]
    return fold.kind == .letter ? fold.byte(0) : 0
  }
}

extension RawSpan {
  /// The scalar at an offset, and its length in bytes; U+FFFD for what is no UTF-8.
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
