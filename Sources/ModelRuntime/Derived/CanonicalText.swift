import Foundation

extension Schema.Derivation {
  /// A text as `canonical` stores it: without regard to case and diacritics.
  ///
  /// ```swift
  /// let name = Schema.Derivation.canonicalText(of: "Zürich")
  /// let trips = #Predicate<Trip> { $0.searchName == name }
  /// ```
  ///
  /// Letters are folded one by one, in no language's own way, so that the result is the same on every machine. What is not a
  /// letter with a mark stays: "ø" is no "o".
  ///
  /// - Parameter text: A text.
  /// - Returns: The text in lower case and without accents, composed; of its own canonical text, the same.
  public static func canonicalText(of text: String) -> String {
    if let ascii = text.lowercasedASCII { return ascii }
    var folded = String.UnicodeScalarView()
    for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars
    where !scalar.isDiacritic {
      // By way of the upper case: "ß" is "ss", and both sigmas are one.
      let letters = scalar.properties.lowercaseMapping.uppercased().lowercased()
      folded += letters.decomposedStringWithCanonicalMapping.unicodeScalars
        .filter { !$0.isDiacritic }
    }
    return String(folded).precomposedStringWithCanonicalMapping
  }
}

extension String {
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

extension Unicode.Scalar {
  /// Whether the scalar is a mark on the letter before it: vowels of scripts that write them as marks are not.
  fileprivate var isDiacritic: Bool {
    switch value {
    case 0x0300...0x036F, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F: true
    default: false
    }
  }
}
