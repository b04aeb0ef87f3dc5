import Foundation
import LogEngine
import RowFormat
import SwiftData
import Testing

@testable import LogStore
@testable import ModelRuntime

@Suite struct `An index of words, beside random changes` {
  private static let pieces: [String] = [
    "a", "e", "ab", "the ", "word", "Word", "WORDS ", "s", "ss", "ß", "ẞ", "é", "e\u{301}", "É",
    "ö", " ",
    " ", ".", "-", "\n", "\0", "漢", "字", "ア", "한", "\u{1112}\u{1161}\u{11AB}", "ж", "Ж", "σ", "ς",
    "Σ", "ᾳ",
    "\u{345}", "\u{fb01}", "fi", "\u{130}", "\u{131}", "i", "I", "\u{212a}", "k", "🎉", "\u{200d}",
    "\u{ad}",
    "7", "42", "ŉ", "ǆ", "\u{37e}", "½", "①", String(repeating: "long", count: 17),
  ]

  private static func text(_ length: Int, _ random: inout some RandomNumberGenerator) -> String {
    (0..<length).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
  }

  /// A part of a text, perhaps in another case, or with something else at its end.
  private static func pattern(of text: String, _ random: inout some RandomNumberGenerator) -> String
  {
    let characters = Array(text)
    guard let start = characters.indices.randomElement(using: &random) else { return "e" }
    let end = min(characters.count, start + Int.random(in: 1...6, using: &random))
    let part = String(characters[start..<end])
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return part.uppercased()
    case 1: return part.lowercased()
    case 2: return part.folding(options: [.diacriticInsensitive], locale: nil)
    case 3: return part + "s"
    case 4: return String(characters[..<end])
    default: return part
    }
  }

  @Test(arguments: [false, true], [1, 2] as [UInt64])
  func `names every row that matches, whatever was saved since`(
    compacts: Bool,
    seed: UInt64
  ) throws {
    var random = SeededRandom(seed: seed)
    let folder = try TemporaryFolder()
    var configuration = LogStoreConfiguration(
      url: folder.url.appending(path: "letters.store"),
      durability: .relaxed
    )
    configuration.compaction = .init(.onDemand, historyByteCount: 0)
    let container = try ModelContainer(for: Missive.self, configurations: configuration)
    let store = try #require(container.stores(of: LogStore.self).first)
    let writer = ModelContext(container)
    var letters: [Missive] = []
    func add() {
      let text = Self.text(Int.random(in: 0..<12, using: &random), &random)
      let letter = Missive(letters.count, text, note: Bool.random(using: &random) ? text : nil)
      writer.insert(letter)
      letters.append(letter)
    }
    for _ in 0..<400 { add() }
    try writer.save()
    var askedCount = 0
    var narrowedCount = 0
    for round in 0..<120 {
      for _ in 0..<Int.random(in: 0..<30, using: &random) {
        guard let letter = letters.randomElement(using: &random) else { continue }
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
          writer.delete(letter)
          letters.removeAll { $0 === letter }
        case 1: letter.note = nil
        case 2: letter.number += 1
        case 3: add()
        default: letter.body = Self.text(Int.random(in: 0..<12, using: &random), &random)
        }
      }
      if Bool.random(using: &random) {
        try writer.save()
      } else if round % 7 == 0 {
        writer.rollback()
      }
      if round % 7 == 0 { letters = try writer.fetch(FetchDescriptor<Missive>()) }
      if compacts, round % 50 == 49 { try store.compact() }
      let known = try ModelContext(container).fetch(FetchDescriptor<Missive>())
      guard let chosen = known.randomElement(using: &random) else { continue }
      let pattern = Self.pattern(of: chosen.body, &random)
      // The plan by itself: what a fetch makes of it depends on how much it narrows.
      let view = store.tables.engine.makeReadView()
      let index = try #require(store.tables.indexes.words.first)
      if let words = try index.wordsNow(as: view, in: store.tables),
        let wanted = WordPattern(containing: pattern)
      {
        let candidates = Set(try #require(try words.candidates(wanted, atMost: .max / 4)))
        askedCount += 1
        if candidates.count < known.count / 2 { narrowedCount += 1 }
        for letter in known {
          let key = try #require(store.tables.reference(of: letter.persistentModelID)).key
          let matches =
            letter.body.containsCharacters(of: pattern) || letter.body.starts(with: pattern)
            || letter.body.localizedStandardContains(pattern)
            || letter.body.caseInsensitiveCompare(pattern) == .orderedSame
          #expect(
            !matches || candidates.contains(key),
            "seed \(seed): \(pattern.debugDescription) in \(letter.body.debugDescription)"
          )
        }
      }
      let found = try ModelContext(container).fetch(
        FetchDescriptor<Missive>(
          predicate: #Predicate { $0.body.localizedStandardContains(pattern) }
        )
      )
      #expect(
        Set(found.map(\.persistentModelID))
          == Set(
            known.filter { $0.body.localizedStandardContains(pattern) }.map(\.persistentModelID)
          ),
        "seed \(seed): \(pattern.debugDescription)"
      )
      #expect(try store.tables.indexViolations() == [], "seed \(seed)")
    }
    #expect(askedCount > 40)
    #expect(narrowedCount > 10)
  }
}

@Suite struct `A run of words` {
  private func run(_ texts: [String], from key: UInt64 = 10) -> WordRun {
    var builder = WordRunBuilder(TextHash(low: 1, high: 2))
    for (place, text) in texts.enumerated() {
      builder.add(key + 3 * UInt64(place), Array(text.utf8).span.bytes)
    }
    return builder.finish()
  }

  private func rows(_ run: WordRun, _ text: String) throws -> [UInt64] {
    let pattern = try #require(WordPattern(containing: text))
    return try #require(try run.rows(matching: pattern, atMost: 1000)).map { run.rowKey(Int($0)) }
  }

  @Test func `knows its rows, their lengths, and how often words are in them`() throws {
    let run = run(["one two two", "", "two three", String(repeating: "x ", count: 70_000)])
    #expect((0..<run.rowCount).map(run.rowKey) == [10, 13, 16, 19])
    #expect((0..<run.rowCount).map(run.length(ofRow:)) == [3, 0, 2, 65_535])
    #expect(run.length == 65_540)
    #expect(run.wordCount == 4)
    #expect(run.row(ofKey: 16) == 2)
    #expect(run.row(ofKey: 17) == nil)
    let words = run.words(.init(bytes: Array("two".utf8), isBegun: true, isEnded: true))
    #expect(words.count == 1)
    var found: [[Int]] = []
    try run.forEachRow(ofWord: words[0]) { found.append([$0, $1]) }
    #expect(found == [[0, 2], [2, 1]])
  }

  @Test func `finds words by their beginnings, ends and middles`() throws {
    let run = run(["carpet", "car", "scar", "oscar wins", "pet"])
    #expect(try rows(run, "car") == [10, 13, 16, 19])
    #expect(try rows(run, " car") == [10, 13])
    #expect(try rows(run, "car ") == [13, 16, 19])
    #expect(try rows(run, " car ") == [13])
    #expect(try rows(run, "car w") == [19])
    #expect(try rows(run, "pet") == [10, 22])
    #expect(try rows(run, "zebra") == [])
  }

  @Test func `merges with others, whose rows replace its own`() throws {
    let older = run(["old text", "same", "gone soon"])
    let newer = run(["new text", ""], from: 16)
    var builder = WordRunBuilder(TextHash(low: 1, high: 2))
    try builder.add([older, newer]) { run, key in run == 1 || newer.row(ofKey: key) == nil }
    let merged = builder.finish()
    #expect((0..<merged.rowCount).map(merged.rowKey) == [10, 13, 16, 19])
    #expect(try rows(merged, "text") == [10, 16])
    #expect(try rows(merged, "gone") == [])
    #expect(try rows(merged, "old") == [10])
    #expect(merged.length == 5)
  }

  @Test func `is refused or read in bounds, whatever byte is another and wherever it is cut`()
    throws
  {
    let bytes = run(["one two", "two three", "\u{1fb3}", String(repeating: "one ", count: 300)])
      .bytes
    func read(_ bytes: [UInt8]) {
      guard let run = WordRun(bytes) else { return }
      for row in 0..<run.rowCount { _ = (run.rowKey(row), run.length(ofRow: row)) }
      for word in 0..<run.wordCount { try? run.forEachRow(ofWord: word) { _, _ in } }
      for text in ["one", "o", " tw", "e "] {
        _ = try? run.rows(matching: WordPattern(containing: text)!, atMost: 10)
      }
    }
    read(bytes)
    #expect(WordRun(bytes) != nil)
    for count in 0..<bytes.count {
      #expect(WordRun(Array(bytes[..<count])) == nil)
      for bit in [0, 3, 7] {
        var flipped = bytes
        flipped[count] ^= 1 << UInt8(bit)
        read(flipped)
      }
    }
  }
}
