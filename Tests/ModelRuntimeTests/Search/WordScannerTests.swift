import Foundation
import Testing

@testable import ModelRuntime

@Suite struct `The words of a text` {
  private func words(_ text: String) -> [String] {
    var words: [String] = []
    let utf8 = Array(text.utf8)
    WordScanner().scan(utf8.span.bytes) { word, _ in
      words.append(unsafe word.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) })
    }
    return words
  }

  @Test(arguments: [
    ("", []),
    ("  \n ", []),
    ("Hello, world!", ["hello", "world"]),
    ("don't stop_now", ["don", "t", "stop", "now"]),
    ("C3PO met R2-D2", ["c3po", "met", "r2", "d2"]),
    ("Ærøskøbing Ångström", ["ærøskøbing", "angstrom"]),
    ("Straße STRASSE", ["strasse", "strasse"]),
    ("cafe\u{301} caf\u{e9}", ["cafe", "cafe"]),
    ("ΟΔΟΣ οδός", ["οδοσ", "οδοσ"]),
    ("Москва, Київ", ["москва", "киів"]),
    ("東京タワー", ["東", "京", "タ", "ワ", "ー"]),
    ("abc漢字def", ["abc", "漢", "字", "def"]),
    ("한국어 조선", ["한국어", "조선"]),
    ("so\u{ad}ft hy\u{200d}phen", ["soft", "hyphen"]),
    ("🎉party🎉", ["party"]),
    ("\u{fb01}ne \u{212a}elvin", ["fine", "kelvin"]),
  ])
  func `are its letters and digits, without case and marks`(text: String, expected: [String]) {
    #expect(words(text) == expected)
  }

  @Test func `are at their places`() {
    let text = "Größe: 漢字, end"
    let utf8 = Array(text.utf8)
    var places: [String] = []
    WordScanner().scan(utf8.span.bytes) { _, place in
      places.append(String(decoding: utf8[place.range], as: UTF8.self))
    }
    #expect(places == ["Größe", "漢", "字", "end"])
  }

  @Test(arguments: [
    (String(repeating: "x", count: 64), false), (String(repeating: "x", count: 65), true),
    (String(repeating: "é", count: 64), false), (String(repeating: "я", count: 33), true),
    ("\u{1fb3}", true), ("a\u{345}b", true), ("\u{1112}\u{1161}\u{11AB}", true), ("한", false),
    ("plain words", false),
  ])
  func `tell whether they are all there is`(text: String, isOpaque: Bool) {
    let scanner = WordScanner()
    let utf8 = Array(text.utf8)
    scanner.scan(utf8.span.bytes) { _, _ in }
    #expect(scanner.isOpaque == isOpaque)
    scanner.scan([UInt8]("next".utf8).span.bytes) { _, _ in }
    #expect(!scanner.isOpaque)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `are found in any bytes`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2000 {
      let bytes = (0..<Int(random.next() % 60)).map { _ in
        random.next() % 3 == 0
          ? UInt8(truncatingIfNeeded: random.next())
          : random.pick(Array("aZ 9é漢\u{301}".utf8))
      }
      var end = 0
      WordScanner().scan(bytes.span.bytes) { word, place in
        #expect(word.byteCount > 0 && word.byteCount <= WordScanner.longestWord, "seed \(seed)")
        #expect(
          place.range.lowerBound >= end && place.range.upperBound <= bytes.count,
          "seed \(seed)"
        )
        end = place.range.upperBound
      }
    }
  }

  @Test func `fold alike what Foundation finds alike`() {
    // All scripts with case or diacritics; of the others, one in sixteen.
    for value in Array(0x80...0x2FFF) + Array(0xA640...0xABFF) + Array(0xF900...0x1FFFF)
      + stride(from: 0x3000, to: 0x2FFFF, by: 16) + stride(from: 0xE0000, to: 0xE0200, by: 16)
    {
      guard let scalar = Unicode.Scalar(UInt32(value)) else { continue }
      let text = String(scalar)
      let options: String.CompareOptions = [.caseInsensitive, .diacriticInsensitive]
      let others = [
        text.folding(options: options, locale: nil), text.lowercased(), text.uppercased(),
        text.decomposedStringWithCanonicalMapping,
        text.folding(options: .caseInsensitive, locale: nil),
      ]
      for other in Set(others) where other != text {
        guard "x\(text)y".localizedStandardContains("x\(other)y") else { continue }
        guard let pattern = WordPattern(containing: other) else { continue }
        let scanner = WordScanner()
        let utf8 = Array("x\(text)y".utf8)
        var found: [[UInt8]] = []
        scanner.scan(utf8.span.bytes) { word, _ in
          found.append(unsafe word.withUnsafeBytes { unsafe Array($0) })
        }
        let isFound = pattern.pieces.allSatisfy { piece in
          found.contains { String(decoding: $0, as: UTF8.self).utf8.contains(piece.bytes) }
        }
        #expect(
          scanner.isOpaque || isFound,
          "U+\(String(value, radix: 16)) and \(other.debugDescription)"
        )
      }
    }
  }
}

extension Collection<UInt8> {
  fileprivate func contains(_ other: [UInt8]) -> Bool {
    let own = Array(self)
    return other.isEmpty
      || own.indices.contains { own[$0...].starts(with: other) }
  }
}

@Suite struct `A pattern of words` {
  private typealias Piece = WordPattern.Piece

  private func piece(_ text: String, _ isBegun: Bool, _ isEnded: Bool) -> WordPattern.Piece {
    WordPattern.Piece(bytes: Array(text.utf8), isBegun: isBegun, isEnded: isEnded)
  }

  @Test func `knows which words are whole`() throws {
    #expect(WordPattern(containing: "bud")?.pieces == [piece("bud", false, false)])
    #expect(WordPattern(containing: " bud")?.pieces == [piece("bud", true, false)])
    #expect(WordPattern(containing: "bud.")?.pieces == [piece("bud", false, true)])
    #expect(
      WordPattern(containing: "of the Mor")?.pieces
        == [piece("of", false, true), piece("the", true, true), piece("mor", true, false)]
    )
    #expect(
      WordPattern(containing: "ab漢cd")?.pieces
        == [piece("ab", false, true), piece("漢", true, true), piece("cd", true, false)]
    )
  }

  @Test(arguments: [
    "", " ", "?!", "ß", "gro\u{1e9e}", "\u{fb01}", "🎉", "\u{301}", "\u{1fb3}",
    String(repeating: "a", count: 65),
  ])
  func `says when words tell nothing`(text: String) {
    #expect(WordPattern(containing: text) == nil)
  }
}
