import Foundation
import Synchronization

/// The role of a character in the search for words: a part of one, a word by itself, or a separator.
///
/// Case and diacritics are ignored: a letter is kept as the letters it folds to. Folding considers one scalar at a time,
/// and never its neighbours. So if a text contains another, whether letter by letter, ignoring case, or
/// ignoring diacritics, its folded scalars contain the other's, too. An index of words relies on that: it
/// may name a text too many, and never one too few.
struct WordFold: Sendable, Equatable {
  /// The kind in the lowest byte, the number of bytes of UTF-8 and two flags in the next, and up to six bytes above.
  private let packed: UInt64

  enum Kind: UInt8 {
    /// Ignored: marks, and characters without width.
    case ignored
    /// A separator of words: blanks, punctuation, symbols.
    case separator
    /// A part of a word: a letter or a digit.
    case letter
    /// A word by itself: a character of a script without blanks between words.
    case ideograph
    /// A separator of words that may equal something it does not fold to.
    case opaque
  }

  var kind: Kind { Kind(rawValue: UInt8(truncatingIfNeeded: packed)) ?? .opaque }

  /// Number of UTF-8 bytes that the character folds to, at most six.
  var count: Int { Int(truncatingIfNeeded: packed >> 8) & 0x0F }

  /// Whether the character folds to several, as "ß" does.
  var isSeveral: Bool { packed >> 12 & 1 == 1 }

  /// Whether the character may equal something it does not fold to.
  ///
  /// A text with such a character is always read.
  var isOpaque: Bool { packed >> 13 & 1 == 1 }

  /// One of the bytes the character folds to.
  func byte(_ place: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: packed >> UInt64(16 + 8 * place))
  }

  private init(
    _ kind: Kind,
    _ bytes: some Collection<UInt8> = EmptyCollection(),
    areSeveral: Bool = false,
    isOpaque: Bool = false
  ) {
    var packed = UInt64(kind.rawValue) | UInt64(bytes.count) << 8
    if areSeveral { packed |= 1 << 12 }
    if isOpaque || kind == .opaque { packed |= 1 << 13 }
    for (place, byte) in bytes.enumerated() { packed |= UInt64(byte) << UInt64(16 + 8 * place) }
    self.packed = packed
  }

  /// Folds a scalar.
  init(_ scalar: Unicode.Scalar) {
    if scalar.isIgnored {
      self.init(.ignored, isOpaque: scalar.isIotaBelow)
      return
    }
    // A Hangul syllable is a letter as it is; its constituent letters may be its parts.
    switch scalar.value {
    case 0xAC00...0xD7A3:
      self.init(.letter, Array(String(scalar).utf8))
      return
    case 0x1100...0x11FF, 0xA960...0xA97F, 0xD7B0...0xD7FF:
      self.init(.opaque)
      return
    default: break
    }
    var folded: [Unicode.Scalar] = []
    var isOpaque = false
    for part in String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars {
      if part.isIotaBelow { isOpaque = true }
      if part.isIgnored { continue }
      let lowercase = part.properties.lowercaseMapping
      for letter in lowercase.uppercased().lowercased().decomposedStringWithCanonicalMapping
        .unicodeScalars where !letter.isIgnored
      {
        folded.append(letter)
      }
    }
    if folded.isEmpty {
      self.init(.ignored)
      return
    }
    let letterCount = folded.count { $0.isPartOfWords }
    if letterCount == 0 {
      self.init(.separator)
      return
    }
    let bytes = folded.flatMap { Array(String($0).utf8) }
    if letterCount < folded.count || bytes.count > 6 {
      self.init(.opaque)
    } else if folded.count == 1, folded[0].isIdeograph {
      self.init(.ideograph, bytes)
    } else if folded.contains(where: \.isIdeograph) {
      self.init(.opaque)
    } else {
      self.init(.letter, bytes, areSeveral: folded.count > 1, isOpaque: isOpaque)
    }
  }
}

extension Unicode.Scalar {
  /// Whether the scalar is the iota below a Greek vowel: a mark, but a letter to case-insensitive comparisons.
  fileprivate var isIotaBelow: Bool { value == 0x345 }

  /// Whether searches may ignore the scalar.
  fileprivate var isIgnored: Bool {
    if value < 0x80 { return value == 0 }
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark, .format: return true
    default:
      return properties.isDefaultIgnorableCodePoint || properties.isGraphemeExtend
        || properties.isEmojiModifier
    }
  }

  fileprivate var isPartOfWords: Bool {
    switch properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber:
      true
    default: false
    }
  }

  /// Whether the scalar is of a script without blanks between words.
  fileprivate var isIdeograph: Bool {
    switch value {
    // Thai, Lao, Tibetan; Myanmar; Khmer; Han, Hiragana, Katakana, Bopomofo, Yi; compatibility forms; the later planes.
    case 0xE00...0xFFF, 0x1000...0x109F, 0x1780...0x17FF, 0x2E80...0xA4CF, 0xF900...0xFAFF,
      0xFF66...0xFF9F, 0x1B000...0x1B16F, 0x20000...0x3FFFF:
      true
    default: false
    }
  }
}

/// Folds scalars, and caches the results.
struct WordFolding: ~Copyable {
  private var pages: [UInt32: [WordFold]] = [:]
  private var page: [WordFold] = []
  private var pageNumber: UInt32 = .max

  static let ascii: [WordFold] = (0..<0x80 as Range<UInt8>).map { WordFold(Unicode.Scalar($0)) }

  /// Returns the folding of a scalar.
  ///
  /// - Complexity: O(1), except for the first scalar of each 64 in a process: some 100 microseconds.
  mutating func fold(_ scalar: UInt32) -> WordFold {
    let number = scalar >> 6
    if number != pageNumber { turn(to: number) }
    return page[Int(scalar & 63)]
  }

  private mutating func turn(to number: UInt32) {
    pageNumber = number
    if let known = pages[number] {
      page = known
      return
    }
    page = Self.sharedPage(number)
    pages[number] = page
  }

  /// The pages that this process has folded: at most nine megabytes.
  ///
  /// A scanner for one text or one snippet takes them from here and folds nothing again.
  private static let sharedPages = Mutex<[UInt32: [WordFold]]>([:])

  private static func sharedPage(_ number: UInt32) -> [WordFold] {
    if let known = sharedPages.withLock({ $0[number] }) { return known }
    let page = (0..<64).map { WordFold(Unicode.Scalar(number << 6 | $0) ?? "\u{FFFD}") }
    sharedPages.withLock { $0[number] = page }
    return page
  }
}
