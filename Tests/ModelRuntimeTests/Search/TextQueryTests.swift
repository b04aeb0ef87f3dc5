import Testing

@testable import ModelRuntime

@Suite struct `A query of words` {
  private func words(_ numbers: Range<Int>, _ prefix: String = "") -> String {
    numbers.map { "\(prefix)w\($0)" }.joined(separator: " ")
  }

  private func word(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test func `has no more than so many of them, whatever somebody pastes`() throws {
    let limit = TextQuery.wordLimit
    let wanted = TextQuery(words(0..<(limit + 1000)))
    #expect(wanted.wanted.map(\.words) == (0..<limit).map { [word("w\($0)")] })
    #expect(wanted.terms.map(\.word) == (0..<limit).map { word("w\($0)") })
    let unwanted = TextQuery("a " + words(0..<(limit + 1000), "-"))
    #expect(unwanted.wanted.count == 1)
    #expect(unwanted.unwanted.count == limit - 1)
    let phrase = TextQuery("a \"\(words(0..<(limit + 1000)))\"* b")
    #expect(phrase.wanted.map(\.words.count) == [1, limit - 1])
    #expect(phrase.terms.count == limit)
    #expect(!phrase.wanted[1].isPrefix)
    #expect(TextQuery("a \"\(words(0..<(limit - 1)))\"*").wanted.last?.isPrefix == true)
  }

  @Test func `counts a word once`() {
    let limit = TextQuery.wordLimit
    let repeated = Array(repeating: "a -b A", count: 2 * limit).joined(separator: " ")
    let query = TextQuery("\(repeated) c \"a c\" c*")
    #expect(query.wanted.map(\.words.count) == [1, 1, 2, 1])
    #expect(query.unwanted.map(\.words) == [[word("b")]])
    #expect(query.terms.map(\.word) == ["a", "c", "c"].map(word))
    #expect(query.terms.map(\.isPrefix) == [false, false, true])
    #expect(query == TextQuery(query.description))
  }

  @Test(
    arguments: [
      ("LONG", true), ("invoice LONG", true), ("LONG invoice", true), ("\"next LONG\"", true),
      ("\"LONG next\"", true), ("next-LONG", true), ("LONG*", true), ("invoice -LONG", false),
      ("invoice -\"next LONG\"", false),
    ] as [(String, Bool)]
  )
  func `finds nothing if it has one that no text can have`(text: String, isHopeless: Bool) {
    let long = String(repeating: "x", count: WordScanner.longestWord + 1)
    let query = TextQuery(text.replacing("LONG", with: long))
    #expect(query.isEmpty == isHopeless)
    #expect(query.terms.map(\.word) == (isHopeless ? [] : [word("invoice")]))
    #expect(query.unwanted.isEmpty)
    let fitting = TextQuery(text.replacing("LONG", with: long.dropLast()))
    #expect(!fitting.isEmpty && fitting.terms.count + fitting.unwanted.count > 0)
  }

  @Test func `does not look at a long word behind the last that counts`() {
    let long = String(repeating: "x", count: WordScanner.longestWord + 1)
    let query = TextQuery("\"\(words(0..<TextQuery.wordLimit)) \(long)\"")
    #expect(query.wanted.map(\.words.count) == [TextQuery.wordLimit])
  }
}
