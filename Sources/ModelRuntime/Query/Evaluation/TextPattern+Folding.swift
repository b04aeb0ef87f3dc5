import Foundation
import RowFormat

/// Case-insensitive tests for printable ASCII, without Foundation.
///
/// In ASCII, folding sets one bit of a letter, in all but a few languages.
extension TextPattern {
  /// Whether the pattern is printable ASCII, and not empty.
  var isPrintable: Bool { !utf8.isEmpty && utf8.allSatisfy(\.isPrintable) }

  /// Whether the user's language folds ASCII as English does.
  ///
  /// In Turkish and Azeri `I` folds to a dotless `ı`; Lithuanian keeps the dots of accented letters.
  static var localeFoldsASCII: Bool {
    !["tr", "az", "lt"].contains(Locale.current.language.languageCode?.identifier)
  }

  /// Whether the text at some bytes of a row equals the pattern, ignoring case; `nil` if the text is
  /// not printable ASCII.
  func equalsFolded(_ range: Range<Int>, of row: RawSpan) -> Bool? {
    unsafe row.withUnsafeBytes { bytes in
      let text = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
      guard unsafe text.allSatisfy(\.isPrintable) else { return nil }
      return unsafe text.count == utf8.count && matchesFolded(text, at: 0)
    }
  }

  private func matchesFolded(_ text: UnsafeRawBufferPointer, at start: Int) -> Bool {
    for offset in utf8.indices where unsafe text[start + offset].folded != utf8[offset].folded {
      return false
    }
    return true
  }
}

extension UInt8 {
  fileprivate var isPrintable: Bool { 0x20...0x7E ~= self }
}
