import Foundation
import Testing

@testable import ModelRuntime

@Suite struct `A search without case and diacritics` {
  /// What the search says of a text; `nil` if it leaves the answer to Foundation.
  private func answer(_ pattern: String, in text: String) -> Bool? {
    let utf8 = Array(text.utf8)
    return switch FoldedSearch(pattern)?.answer(for: utf8.span.bytes) {
    case .contains?: true
    case .doesNotContain?: false
    case .unknown?, nil: nil
    }
  }

  /// Whether the search says what Foundation says, or nothing.
  private func agrees(_ pattern: String, in text: String) -> Bool {
    let answer = answer(pattern, in: text)
    return answer == nil || answer == text.localizedStandardContains(pattern)
  }

  private static let pieces: [String] = [
    "a", "e", "E", "s", "S", "ss", "SS", "k", "K", "f", "i", "I", "n", " ", "\n", "\r\n", "\t",
    "\0",
    ".", ";", "=", "<", "`", "0", "7", "\u{e9}", "e\u{301}", "\u{c9}", "\u{df}", "\u{1e9e}",
    "\u{17f}", "\u{212a}", "\u{212b}", "\u{fb01}", "\u{fb03}", "\u{130}", "\u{131}", "\u{149}",
    "\u{1f0}", "\u{1c6}", "\u{1e97}", "\u{37e}", "\u{2260}", "\u{226e}", "\u{1fef}", "\u{200d}",
    "\u{ad}", "\u{fe0f}", "\u{600}", "\u{e33}", "\u{94d}", "\u{1100}\u{1161}", "\u{ac00}",
    "\u{4e00}",
    "\u{1f600}", "\u{1f1e6}\u{1f1e7}", "\u{338}", "\u{308}", "\u{345}", "\u{3b1}", "\u{391}",
    "\u{436}",
    "\u{2126}", "\u{ff21}", "\u{2160}", "\u{1d400}", "\u{feff}", "\u{200b}", "\u{e0041}",
  ]

  @Test(arguments: [1, 2] as [UInt64])
  func `finds in any text what Foundation finds`(seed: UInt64) {
    var state = SeededGenerator(seed: seed)
    func text(_ length: Int) -> String {
      (0..<length).map { _ in Self.pieces[Int(state.next() % UInt64(Self.pieces.count))] }.joined()
    }
    var told = 0
    for round in 0..<20_000 {
      let text = text(Int(state.next() % 40))
      var pattern = self.pattern(of: text, &state)
      if round % 3 == 0 { pattern = pattern.uppercased() }
      if pattern.isEmpty { continue }
      #expect(
        agrees(pattern, in: text),
        "seed \(seed): \(pattern.debugDescription) in \(text.debugDescription)"
      )
      if answer(pattern, in: text) != nil { told += 1 }
    }
    #expect(told > 2000)
  }

  /// A part of a text, or nearly one.
  private func pattern(of text: String, _ state: inout SeededGenerator) -> String {
    let characters = Array(text)
    if characters.isEmpty { return "e" }
    let start = Int(state.next() % UInt64(characters.count))
    var part = characters[start..<min(characters.count, start + 1 + Int(state.next() % 4))]
    if state.next() % 4 == 0 { part.append("s") }
    let pattern = String(part)
    return state.next() % 2 == 0
      ? pattern.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil) : pattern
  }

  @Test func `finds every character under the letters that it folds to`() {
    for value in Array(0x80...0x2FFFF) + Array(0xE0000...0xE01FF) {
      guard let scalar = Unicode.Scalar(UInt32(value)) else { continue }
      let text = "a\(Character(scalar))b"
      guard agrees("ab", in: text) else {
        Issue.record("ab in a U+\(String(value, radix: 16)) b")
        continue
      }
      let folded = String(Character(scalar)).folding(
        options: [.caseInsensitive, .diacriticInsensitive],
        locale: nil
      )
      for letter in Set(folded.unicodeScalars.filter { 0x20...0x7E ~= $0.value }) {
        let pattern = String(Character(letter))
        if !agrees(pattern, in: "a\(Character(scalar))") {
          Issue.record("\(pattern) in U+\(String(value, radix: 16))")
        }
      }
    }
  }

  @Test(arguments: 0...70)
  func `finds a word at any place`(place: Int) {
    let text =
      String(repeating: "x", count: place) + "Needle" + String(repeating: "e", count: 70 - place)
    #expect(answer("needle", in: text) == true)
    #expect(answer("needles", in: text) == false)
    #expect(answer("needle", in: "\u{e9}" + text + "\u{e9}") == true || place == 0 || place == 70)
    #expect(answer("needles", in: "\u{e9}" + text + "\u{e9}") == false)
    #expect(answer("n\u{e9}edle", in: text) == nil)
    #expect(answer("n\u{e9}edles", in: text) == false)
  }
}
