import Foundation

extension Schema.Derivation {
  /// A text as `canonical` stores it: lower case, without diacritics.
  ///
  /// ```swift
  /// let name = Schema.Derivation.canonicalText(of: "Zürich")
  /// let trips = #Predicate<Trip> { $0.searchName == name }
  /// ```
  ///
  /// Letters are folded one by one, independently of any language, so that the result is the same on every machine. Anything
  /// but a letter with a mark stays: "ø" is no "o".
  ///
  /// - Parameter text: A text.
  /// - Returns: The text in lower case and without accents, composed; a canonical text is returned unchanged.
  public static func canonicalText(of text: String) -> String {
    if let ascii = text.lowercasedASCII { return ascii }
    var folded = String.UnicodeScalarView()
    text.forEachDecomposed { scalar in
      if scalar.isASCII {
        folded.append(65...90 ~= scalar.value ? Unicode.Scalar(UInt8(scalar.value | 0x20)) : scalar)
        return
      }
      // Via upper case: "ß" becomes "ss", and both sigmas become one.
      let letters = scalar.properties.lowercaseMapping.uppercased().lowercased()
      for letter in letters.decomposedStringWithCanonicalMapping.unicodeScalars
      where !letter.isDiacritic {
        folded.append(letter)
      }
    }
    return folded.composed()
  }
}

// Foundation takes quadratic time in a text's length to decompose it, and to compose or sort the result. So both are done
// in pieces here, and marks are sorted before.

/// Number of scalars decomposed or composed at once.
private let pieceLength = 256

extension String {
  /// Visits the scalars of the decomposed text except diacritics; marks keep the order of the text.
  fileprivate func forEachDecomposed(_ body: (Unicode.Scalar) -> Void) {
    var piece = String.UnicodeScalarView()
    var count = 0
    func visit() {
      for scalar in String(piece).decomposedStringWithCanonicalMapping.unicodeScalars
      where !scalar.isDiacritic {
        body(scalar)
      }
      piece.removeAll(keepingCapacity: true)
      count = 0
    }
    for scalar in unicodeScalars where !scalar.isDiacritic {
      piece.append(scalar)
      count += 1
      if count == pieceLength { visit() }
    }
    visit()
  }

  /// The text in lower case, if all of it is ASCII.
  fileprivate var lowercasedASCII: String? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count)
    for byte in utf8 {
      if byte >= 0x80 { return nil }
      bytes.append(65...90 ~= byte ? byte | 0x20 : byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension String.UnicodeScalarView {
  /// The composed text.
  fileprivate func composed() -> String {
    var text = ""
    var piece = String.UnicodeScalarView()
    var count = 0
    var marks: [Unicode.Scalar] = []
    func endMarks() {
      // Foundation sorts a few marks. Marks of one class stay in their order.
      if marks.count > pieceLength {
        marks = marks.enumerated()
          .sorted {
            ($0.element.combiningClass, $0.offset) < ($1.element.combiningClass, $1.offset)
          }
          .map(\.element)
      }
      piece.append(contentsOf: marks)
      marks.removeAll(keepingCapacity: true)
    }
    for scalar in self {
      if scalar.combiningClass != 0 {
        marks.append(scalar)
      } else {
        endMarks()
        if count >= pieceLength, scalar.beginsComposition {
          text += String(piece).precomposedStringWithCanonicalMapping
          piece.removeAll(keepingCapacity: true)
          count = 0
        }
        piece.append(scalar)
      }
      count += 1
    }
    endMarks()
    return text + String(piece).precomposedStringWithCanonicalMapping
  }
}

extension Unicode.Scalar {
  fileprivate var combiningClass: UInt8 { properties.canonicalCombiningClass.rawValue }

  /// Whether a scalar without a combining class never composes with the preceding one.
  fileprivate var beginsComposition: Bool {
    switch value {
    // The vowels and final consonants of Hangul, and vowels of Kirat Rai, which are letters.
    case 0x1160...0x11FF, 0xD7B0...0xD7FF, 0x16D40...0x16D7F: return false
    default: break
    }
    return switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: false
    default: true
    }
  }

  /// Whether the scalar is a mark on the letter before it: vowels of scripts that write them as marks are not.
  fileprivate var isDiacritic: Bool {
    switch value {
    case 0x0300...0x036F, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F: true
    default: false
    }
  }
}
