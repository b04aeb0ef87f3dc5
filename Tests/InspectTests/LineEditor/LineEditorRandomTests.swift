import LogEngineTestSupport
import Testing

@testable import Terminal

@Suite struct `Random bytes at a line editor` {
  private static let pieces: [[UInt8]] =
    [
      "a", "é", "日", "👩‍👧", "e\u{301}", "\u{200B}", " ", "_", "\u{1B}[A", "\u{1B}[B", "\u{1B}[C",
      "\u{1B}[D", "\u{1B}[H", "\u{1B}[F", "\u{1B}[3~", "\u{1B}[1;5D", "\u{1B}b", "\u{1B}f",
      "\u{1B}d", "\u{12}", "\t", "\u{7F}", "\u{1}", "\u{5}", "\u{B}", "\u{15}", "\u{17}", "\u{19}",
      "\u{14}", "\u{7}", "\u{1B}", "name", "li",
    ].map { Array($0.utf8) }

  /// Whether each character takes room: a mark without a letter would join the prompt on a screen.
  private static func isSimple(_ text: String) -> Bool {
    !text.contains { $0.displayWidth == 0 }
  }

  @Test(arguments: 0..<60 as Range<UInt64>)
  func `leave a line that is shown as it is, with the cursor between two characters`(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    let width = Int.random(in: 2...50, using: &random)
    var line = TypedLine(
      width: width,
      history: ["Trip limit 3", "count Trip where name == \"日本\"", "x"]
    ) { head in
      let word = head.split(separator: " ", omittingEmptySubsequences: false).last ?? ""
      return Completion(
        from: head.count - word.count,
        ["name", "names", "limit", "日本"].filter { $0.hasPrefix(word) }.map { .init($0) }
      )
    }
    for step in 0..<150 where line.event == nil {
      if Int.random(in: 0..<8, using: &random) == 0 {
        let byte = UInt8.random(in: 0...255, using: &random)
        // These end the line.
        if [0x03, 0x04, 0x0A, 0x0D, 0x1A, 0x0C].contains(byte) { continue }
        line.send([byte])
      } else {
        line.send(Self.pieces.randomElement(using: &random) ?? [])
      }
      let buffer = line.editor.buffer
      #expect(0...buffer.characters.count ~= buffer.cursor)
      #expect(
        Array(buffer.text) == buffer.characters && buffer.text.hasPrefix(buffer.head),
        "seed \(seed), step \(step)"
      )
      #expect(!buffer.text.unicodeScalars.contains { $0.isControl }, "seed \(seed), step \(step)")
      if line.editor.search == nil, Self.isSimple(buffer.text) {
        #expect(
          line.isShown(),
          "seed \(seed), step \(step), width \(width): \(buffer.text) as \(line.screen.rows.suffix(4))"
        )
      }
    }
  }
}
