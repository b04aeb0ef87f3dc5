import RowFormat

/// The condition on a text's words for it to contain another text.
///
/// A text contains "of the mor" only if it has a word that ends with "of", "the", and a word that begins with "mor".
package struct WordPattern: Sendable, Equatable {
  package struct Piece: Sendable, Hashable {
    /// A word or a part of one, folded, in UTF-8.
    package let bytes: [UInt8]
    /// Whether the word begins with it.
    package let isBegun: Bool
    /// Whether the word ends with it.
    package let isEnded: Bool

    package init(bytes: [UInt8], isBegun: Bool, isEnded: Bool) {
      self.bytes = bytes
      self.isBegun = isBegun
      self.isEnded = isEnded
    }
  }

  /// The words and parts of words; each is in some word of a text that contains the pattern.
  package let pieces: [Piece]

  /// Makes the pattern of the texts that contain another, in any kind of comparison.
  ///
  /// - Returns: `nil` if a text's words do not tell whether it may contain the other.
  package init?(containing text: String) {
    let scanner = WordScanner()
    var pieces: [Piece] = []
    var text = text
    text.withUTF8 { utf8 in
      unsafe scanner.scan(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(utf8))) { word, place in
        let bytes = unsafe word.withUnsafeBytes { unsafe Array($0) }
        let piece = Piece(bytes: bytes, isBegun: place.isBegun, isEnded: place.isEnded)
        if !pieces.contains(piece) { pieces.append(piece) }
      }
    }
    // Foundation finds a letter that folds to two in a text with one of the two.
    if scanner.isOpaque || scanner.hasSeveral || pieces.isEmpty { return nil }
    self.pieces = pieces
  }
}
