import Foundation
import SwiftData
import Synchronization
import Testing

@testable import LogStore
@testable import ModelRuntime

@Model class Paper {
  var title: String

  init(_ title: String) { self.title = title }
}

@Model final class Thesis: Paper {
  var school: String

  init(_ title: String, school: String) {
    self.school = school
    super.init(title)
  }
}

@Suite struct `A ranked search` {
  private let folder: TemporaryFolder
  private let container: ModelContainer

  init() throws {
    folder = try TemporaryFolder()
    container = try ModelContainer(
      for: Missive.self,
      configurations: LogStoreConfiguration(
        url: folder.url.appending(path: "missives.store"),
        durability: .relaxed
      )
    )
  }

  private func save(_ texts: [(String, String?)]) throws {
    let context = ModelContext(container)
    for (number, text) in texts.enumerated() {
      context.insert(Missive(number, text.0, note: text.1))
    }
    try context.save()
  }

  private func numbers(
    _ query: TextQuery,
    _ descriptor: FetchDescriptor<Missive> = FetchDescriptor(),
    in context: ModelContext? = nil
  ) throws -> [Int] {
    try (context ?? ModelContext(container)).search(descriptor, for: query, in: \.body)
      .map(\.model.number)
  }

  @Test(
    arguments: [
      ("ᾧ", [0, 1]), ("ω", [0, 1]), ("τῷ", [0]), ("τω", [0]), ("τῇ", [2]), ("λόγῳ", [0]),
      ("λογω", [0]), ("λόγ", [2]), ("ΤΩ\u{345} λόγω\u{345}", [0]),
    ] as [(String, [Int])]
  )
  func `finds Greek words whatever is above and below their vowels`(
    text: String,
    expected: [Int]
  ) throws {
    try save([("ᾧ τῷ λόγῳ", nil), ("ὦ ᾠδή", nil), ("τῇ λόγ", nil)])
    #expect(try numbers(TextQuery(text)).sorted() == expected)
  }

  @Test func `finds all words, beginnings of words and phrases, and not what is unwanted`() throws {
    try save([
      ("The budget of next year", nil), ("next, a budgetary year", nil),
      ("Budget: draft for next year", nil), ("nothing", nil), ("ZOË's year", nil),
    ])
    #expect(Set(try numbers("budget year")) == [0, 2])
    #expect(Set(try numbers("budg* year")) == [0, 1, 2])
    #expect(try numbers("\"next year\" budget -draft") == [0])
    #expect(Set(try numbers("\"next year\"")) == [0, 2])
    #expect(try numbers("\"next ye\"") == [])
    #expect(Set(try numbers("\"next ye\"*")) == [0, 2])
    #expect(try numbers("zoe's") == [4])
    #expect(try numbers("zoe") == [4])
    #expect(try numbers("zo") == [])
    #expect(try numbers("-draft") == [])
    #expect(try numbers("") == [])
    #expect(try numbers("\"") == [])
    #expect(try numbers("budget budget BUDGET") == numbers("budget"))
  }

  @Test func `finds nothing for a word that is too long, and no phrase around one`() throws {
    let long = String(repeating: "x", count: 70)
    try save([
      ("invoice \(long)", nil), ("invoice of next year", nil), ("next \(long) year", nil),
      ("next, year", nil),
    ])
    #expect(try numbers(TextQuery("invoice \(long)")) == [])
    #expect(try numbers(TextQuery(long)) == [])
    #expect(Set(try numbers(TextQuery("invoice -\(long)"))) == [0, 1])
    #expect(Set(try numbers(TextQuery("\"next year\""))) == [1, 3])
    #expect(Set(try numbers(TextQuery("next year -\"next year\""))) == [2])
    let context = ModelContext(container)
    context.insert(Missive(4, "next \(long) year", note: nil))
    #expect(Set(try numbers(TextQuery("\"next year\""), in: context)) == [1, 3])
  }

  @Test func `puts first what has rarer words, more of them, and little else`() throws {
    try save([
      ("apple " + String(repeating: "filler ", count: 40), nil), ("apple", nil),
      ("apple apple pear", nil),
      ("apple pear", nil), ("pear quince", nil), ("filler", nil), ("filler", nil), ("filler", nil),
    ])
    #expect(try numbers("apple") == [2, 1, 3, 0])
    #expect(try numbers("apple pear") == [2, 3])
    #expect(try numbers("pear quince") == [4])
  }

  @Test func `takes predicate, offset and limit`() throws {
    try save((0..<100).map { ("word " + String(repeating: "x ", count: $0), nil) })
    #expect(try numbers("word") == Array(0..<100))
    var descriptor = FetchDescriptor<Missive>(predicate: #Predicate { $0.number >= 10 })
    descriptor.fetchLimit = 3
    #expect(try numbers("word", descriptor) == [10, 11, 12])
    descriptor.fetchOffset = 5
    #expect(try numbers("word", descriptor) == [15, 16, 17])
    #expect(
      try numbers("word x -y", FetchDescriptor(predicate: #Predicate { $0.number < 3 })) == [2, 1]
    )
  }

  @Test func `looks at several properties, each word in any of them`() throws {
    try save([("alpha", "beta"), ("alpha beta", nil), ("gamma", "alpha")])
    let context = ModelContext(container)
    let found = try context.search(FetchDescriptor<Missive>(), for: "beta", in: \.note)
    #expect(found.map(\.model.number) == [0])
    #expect(Set(try numbers("alpha")) == [0, 1])
  }

  @Test func `counts unsaved changes in, as a fetch does`() throws {
    try save([("alpha one", nil), ("alpha two", nil), ("alpha three", nil)])
    let context = ModelContext(container)
    let stored = try context.fetch(FetchDescriptor<Missive>(sortBy: [SortDescriptor(\.number)]))
    context.delete(stored[0])
    stored[1].body = "beta"
    context.insert(Missive(9, "alpha nine"))
    #expect(Set(try numbers("alpha", in: context)) == [2, 9])
    #expect(try numbers("beta", in: context) == [1])
    var descriptor = FetchDescriptor<Missive>()
    descriptor.includePendingChanges = false
    #expect(Set(try numbers("alpha", descriptor, in: context)) == [0, 1, 2])
  }

  @Test func `looks at inherited texts`() throws {
    let container = try ModelContainer(
      for: Paper.self,
      Thesis.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    context.insert(Paper("alpha"))
    context.insert(Thesis("alpha beta", school: "gamma"))
    try context.save()
    #expect(try context.search(FetchDescriptor<Paper>(), for: "alpha", in: \.title).count == 2)
    let found = try context.search(
      FetchDescriptor<Thesis>(),
      for: "alpha gamma",
      in: \.title,
      \.school
    )
    #expect(found.map(\.model.school) == ["gamma"])
  }

  @Test func `returns models as of the state that it searched`() throws {
    try save([("alpha", nil)])
    let end = Atomic<Bool>(false)
    let container = container
    let writer = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      let context = ModelContext(container)
      context.autosaveEnabled = false
      let stored = try? context.fetch(FetchDescriptor<Missive>()).first
      var number = 0
      while !end.load(ordering: .relaxed) {
        stored?.body = number % 2 == 0 ? "omega" : "alpha"
        try? context.save()
        number += 1
      }
      writer.signal()
    }
    for _ in 0..<300 {
      let found = try ModelContext(container).search(
        FetchDescriptor<Missive>(),
        for: "alpha",
        in: \.body
      )
      #expect(found.allSatisfy { $0.model.body == "alpha" })
    }
    end.store(true, ordering: .relaxed)
    writer.wait()
  }

  @Test func `shows little beside a word of any length`() throws {
    let junk = String(repeating: "q", count: 5000)
    try save([("\(junk) needle \(junk) x", nil)])
    let found = try ModelContext(container).search(
      FetchDescriptor<Missive>(),
      for: "needle",
      in: \.body
    )
    #expect(found.first?.snippet(of: \.body, length: 20)?.text == "…needle…")
  }

  @Test func `shows the part of a text that has most of the words`() throws {
    let filler = String(repeating: "and so on ", count: 30)
    try save([
      ("A budget first. " + filler + "Later the “Büdget” of next year, " + filler, nil),
      ("budget year", nil),
    ])
    let found = try ModelContext(container)
      .search(FetchDescriptor<Missive>(), for: "budget \"next year\"", in: \.body)
    let match = try #require(found.first)
    #expect(match.model.number == 0)
    let snippet = try #require(match.snippet(of: \.body, length: 60))
    #expect(snippet.text.hasPrefix("…"))
    #expect(snippet.text.hasSuffix("…"))
    #expect(snippet.text.count < 70)
    #expect(snippet.ranges.map { String(snippet.text[$0]) } == ["Büdget", "next", "year"])
    let all = try #require(match.snippet(of: \.body, length: 10_000))
    #expect(all.text == match.model.body)
    #expect(match.snippet(of: \.note) == nil)
  }

  /// The same answers by rows and by objects, in any state of the index.
  @Test(arguments: [1, 2, 3] as [UInt64])
  func `finds with an index what it finds with objects`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let words = ["alpha", "beta", "Gamma", "alphabet", "bet", "gam", "né", "漢字", "ne-t", "x"]
    func text() -> String {
      (0..<Int.random(in: 0..<8, using: &random)).map { _ in
        words.randomElement(using: &random) ?? ""
      }
      .joined(separator: Bool.random(using: &random) ? " " : ", ")
    }
    let writer = ModelContext(container)
    for number in 0..<100 { writer.insert(Missive(number, text(), note: nil)) }
    try writer.save()
    for _ in 0..<60 {
      var letters = try writer.fetch(FetchDescriptor<Missive>())
      for _ in 0..<Int.random(in: 0..<20, using: &random) {
        guard let letter = letters.randomElement(using: &random) else { continue }
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
          writer.delete(letter)
          letters.removeAll { $0 === letter }
        case 1: writer.insert(Missive(letters.count + 1000, text()))
        default: letter.body = text()
        }
      }
      if Bool.random(using: &random) { try writer.save() }
      var parts: [String] = []
      for _ in 0...Int.random(in: 0..<3, using: &random) {
        let word = words.randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<5, using: &random) {
        case 0: parts.append("-\(word)")
        case 1: parts.append("\(word.prefix(3))*")
        case 2: parts.append("\"\(word) \(words.randomElement(using: &random) ?? "")\"")
        default: parts.append(word)
        }
      }
      let query = TextQuery(parts.joined(separator: " "))
      let terms = query.terms
      let expected = try writer.fetch(FetchDescriptor<Missive>()).filter { letter in
        var texts = SearchedTexts(query, terms)
        let utf8 = Array(letter.body.utf8)
        texts.add(utf8.span.bytes, WordScanner())
        return !query.isEmpty && texts.match
      }
      let found = try writer.search(FetchDescriptor<Missive>(), for: query, in: \.body)
      #expect(
        Set(found.map(\.model.persistentModelID)) == Set(expected.map(\.persistentModelID)),
        "seed \(seed): \(query)"
      )
      #expect(found.map(\.score) == found.map(\.score).sorted(by: >), "seed \(seed): \(query)")
      #expect(found.allSatisfy { $0.score > 0 })
    }
  }
}
