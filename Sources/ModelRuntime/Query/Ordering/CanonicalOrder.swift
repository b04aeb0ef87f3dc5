import Foundation

extension String {
  /// Compares two texts by canonical equivalence; the sign is the order.
  ///
  /// It is the order of the scalars of their composed forms (NFC), which `<` promises, too. But Swift's `<` is no order
  /// if one text is composed and the other is not: it holds neither way between some, and the wrong way between
  /// others. Pages of a fetch, and sorted lists, need an order.
  ///
  /// - Complexity: O(bytes); for texts with combining marks, and rare scripts, some microseconds.
  package func canonicalOrder(_ other: String) -> Int {
    if self == other { return 0 }
    if isComposed, other.isComposed {
      return utf8.lexicographicallyPrecedes(other.utf8) ? -1 : 1
    }
    let (lhs, rhs) = (
      precomposedStringWithCanonicalMapping, other.precomposedStringWithCanonicalMapping
    )
    return lhs.utf8.lexicographicallyPrecedes(rhs.utf8) ? -1 : 1
  }

  /// Whether no scalar composes with a neighbour, or has another form; `false` also if that is not known at once.
  private var isComposed: Bool {
    if utf8.allSatisfy({ $0 < 0xCC }) { return true }
    return unicodeScalars.allSatisfy { scalar in
      switch scalar.value {
      case 0..<0x300, 0x388...0x482, 0x48A...0x52F: true
      // Hebrew and Arabic letters, kana, Han, Hangul syllables.
      case 0x5D0...0x5EA, 0x620...0x64A, 0x3041...0x3096, 0x30A1...0x30FA, 0x4E00...0x9FFF: true
      case 0xAC00...0xD7A3: true
      // Punctuation and emoji.
      case 0x2010...0x2027, 0x3001...0x3020, 0xFF01...0xFF9D, 0x1F300...0x1FAFF: true
      default: false
      }
    }
  }
}
