import Foundation
import SwiftData
import Testing

@testable import LogStore
@testable import ModelRuntime

@Model class Dispatch {
  #Index<Dispatch>([\.body], [\.note])
  var number: Int
  var body: String
  var note: String?

  init(_ number: Int, _ body: String, note: String?) {
    self.number = number
    self.body = body
    self.note = note
  }
}

@Model final class Telegram: Dispatch {
  var sender: String

  init(_ number: Int, _ body: String, note: String?, sender: String) {
    self.sender = sender
    super.init(number, body, note: note)
  }
}

@Model class PlainDispatch {
  var number: Int
  var body: String
  var note: String?

  init(_ number: Int, _ body: String, note: String?) {
    self.number = number
    self.body = body
    self.note = note
  }
}

@Model final class PlainTelegram: PlainDispatch {
  var sender: String

  init(_ number: Int, _ body: String, note: String?, sender: String) {
    self.sender = sender
    super.init(number, body, note: note)
  }
}

@Suite struct `A ranking with an index of words` {
  private let folder: TemporaryFolder
  private let url: URL

  init() throws {
    folder = try TemporaryFolder()
    url = folder.url.appending(path: "dispatches.store")
  }

  private func open() throws -> ModelContainer {
    var configuration = LogStoreConfiguration(url: url, durability: .relaxed)
    configuration.compaction = .init(.onDemand, historyByteCount: 0)
    return try ModelContainer(
      for: Dispatch.self,
      Telegram.self,
      PlainDispatch.self,
      PlainTelegram.self,
      configurations: configuration
    )
  }

  /// What a search found: numbers and scores, the best first.
  private struct Ranking: CustomStringConvertible {
    let numbers: [Int]
    let scores: [Double]

    func isSame(as other: Ranking) -> Bool {
      numbers == other.numbers
        && zip(scores, other.scores).allSatisfy { abs($0 - $1) < 1e-9 }
    }

    var description: String {
      zip(numbers, scores).map { "\($0) \(($1 * 1000).rounded() / 1000)" }.joined(separator: ", ")
    }
  }

  private func indexed(
    _ query: TextQuery,
    in context: ModelContext,
    notes: Bool = false
  ) throws -> Ranking {
    let found =
      try notes
      ? context.search(FetchDescriptor<Dispatch>(), for: query, in: \.note)
      : context.search(FetchDescriptor<Dispatch>(), for: query, in: \.body)
    return Ranking(numbers: found.map(\.model.number), scores: found.map(\.score))
  }

  private func plain(
    _ query: TextQuery,
    in context: ModelContext,
    notes: Bool = false
  ) throws -> Ranking {
    let found =
      try notes
      ? context.search(FetchDescriptor<PlainDispatch>(), for: query, in: \.note)
      : context.search(FetchDescriptor<PlainDispatch>(), for: query, in: \.body)
    return Ranking(numbers: found.map(\.model.number), scores: found.map(\.score))
  }

  private func expectSame(
    _ query: TextQuery,
    in container: ModelContainer,
    _ comment: Comment
  ) throws {
    let context = ModelContext(container)
    for notes in [false, true] {
      let found = try indexed(query, in: context, notes: notes)
      let expected = try plain(query, in: context, notes: notes)
      #expect(
        found.isSame(as: expected),
        "\(comment), \(query)\(notes ? " in notes" : ""): \(found) instead of \(expected)"
      )
    }
  }

  @Test(arguments: [1, 20, 36, 90])
  func `is as without one once words came and went with updates`(count: Int) async throws {
    func text(_ number: Int) -> String {
      switch number {
      case 0: "common common common zeta"
      case 1: "common zeta zeta zeta"
      case ..<20: "zeta filler"
      default: "other filler"
      }
    }
    var container = try open()
    var context = ModelContext(container)
    for number in 0..<200 {
      let text = number < 190 ? "plain filler" : "common filler"
      context.insert(Dispatch(number, text, note: nil))
      context.insert(PlainDispatch(number, text, note: nil))
    }
    try context.save()
    try expectSame("common", in: container, "at first")
    for model in try context.fetch(FetchDescriptor<Dispatch>()) where model.number < count {
      model.body = text(model.number)
    }
    for model in try context.fetch(FetchDescriptor<PlainDispatch>()) where model.number < count {
      model.body = text(model.number)
    }
    try context.save()
    #expect(try plain("common zeta", in: context).numbers.count == min(count, 2))
    for query in ["common zeta", "common", "zeta", "plain", "filler", "z*"] as [TextQuery] {
      try expectSame(query, in: container, "updated")
    }
    try #require(container.stores(of: LogStore.self).first).compact()
    try expectSame("common zeta", in: container, "compacted")
    try await container.close()
    container = try open()
    try expectSame("common zeta", in: container, "opened again")
    context = ModelContext(container)
    try context.delete(model: Dispatch.self, where: #Predicate { $0.number == 1 })
    try context.delete(model: PlainDispatch.self, where: #Predicate { $0.number == 1 })
    try context.save()
    try expectSame("common zeta", in: container, "deleted")
  }

  @Test func `counts no text that is empty, missing or gone, with an index or without`() throws {
    let container = try open()
    let context = ModelContext(container)
    for number in 0..<100 {
      let note = number % 3 == 0 ? "" : number % 3 == 1 ? nil : "alpha beta"
      context.insert(Dispatch(number, "body", note: note))
      context.insert(PlainDispatch(number, "body", note: note))
    }
    try context.save()
    try expectSame("alpha", in: container, "at first")
    for model in try context.fetch(FetchDescriptor<Dispatch>()) {
      model.note = model.number % 3 == 2 ? "" : model.number % 3 == 0 ? nil : "alpha gamma"
    }
    for model in try context.fetch(FetchDescriptor<PlainDispatch>()) {
      model.note = model.number % 3 == 2 ? "" : model.number % 3 == 0 ? nil : "alpha gamma"
    }
    try context.save()
    try expectSame("alpha", in: container, "updated")
    let ranking = try indexed("alpha", in: context, notes: true)
    #expect(ranking.numbers.count == 33)
    // All 33 texts have the word, and are as long as the average.
    let score = try #require(ranking.scores.first)
    #expect(abs(score - log(1 + 0.5 / 33.5)) < 1e-9)
  }

  @Test func `counts the words of texts of any length alike, read or in a run`() throws {
    let container = try open()
    let context = ModelContext(container)
    func add(_ number: Int, _ text: String) {
      context.insert(Dispatch(number, text, note: nil))
      context.insert(PlainDispatch(number, text, note: nil))
    }
    for number in 0..<40 { add(number, "alpha \(number)") }
    try context.save()
    try expectSame("alpha", in: container, "at first")
    // Read with the search, as there are few.
    add(40, String(repeating: "alpha beta ", count: 70_000))
    try context.save()
    try expectSame("alpha b*", in: container, "one long text")
    for number in 41..<100 { add(number, "alpha beta") }
    try context.save()
    try expectSame("alpha b*", in: container, "a long text among many")
  }

  private static let words = [
    "alpha", "beta", "gamma", "alphabet", "bet", "zeta", "né", "漢字", "rare", "x",
  ]

  private static func text(_ random: inout some RandomNumberGenerator) -> String {
    // Some words are much rarer than others.
    (0..<Int.random(in: 0..<7, using: &random)).map { _ in
      words[min(Int.random(in: 0..<10, using: &random), Int.random(in: 0..<10, using: &random))]
    }
    .joined(separator: " ")
  }

  private static func query(_ random: inout some RandomNumberGenerator) -> TextQuery {
    let parts = (0...Int.random(in: 0..<2, using: &random)).map { _ in
      let word = words.randomElement(using: &random) ?? ""
      switch Int.random(in: 0..<6, using: &random) {
      case 0: return "\(word.prefix(2))*"
      case 1: return "\"\(word) \(words.randomElement(using: &random) ?? "")\""
      case 2: return "\(word) -\(words.randomElement(using: &random) ?? "")"
      default: return word
      }
    }
    return TextQuery(parts.joined(separator: " "))
  }

  @Test(arguments: [(1, 150), (2, 150), (3, 1100)] as [(UInt64, Int)])
  func `is as without one, whatever was saved since`(seed: UInt64, count: Int) async throws {
    var random = SeededRandom(seed: seed)
    var container = try open()
    var context = ModelContext(container)
    var newest = 0
    func add() {
      let (text, note) = (
        Self.text(&random), Bool.random(using: &random) ? Self.text(&random) : nil
      )
      if newest % 5 == 0 {
        context.insert(Telegram(newest, text, note: note, sender: "a"))
        context.insert(PlainTelegram(newest, text, note: note, sender: "a"))
      } else {
        context.insert(Dispatch(newest, text, note: note))
        context.insert(PlainDispatch(newest, text, note: note))
      }
      newest += 1
    }
    for _ in 0..<count { add() }
    try context.save()
    try expectSame("alpha", in: container, "seed \(seed)")
    for round in 0..<40 {
      let order = [SortDescriptor(\Dispatch.number)]
      let models = try context.fetch(FetchDescriptor<Dispatch>(sortBy: order))
      let plain = try context.fetch(
        FetchDescriptor<PlainDispatch>(sortBy: [SortDescriptor(\.number)])
      )
      var deleted: Set<Int> = []
      for _ in 0..<Int.random(in: 0..<(round % 4 == 0 ? 60 : 12), using: &random) {
        let place = Int.random(in: 0..<models.count, using: &random)
        if deleted.contains(place) { continue }
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
          deleted.insert(place)
          context.delete(models[place])
          context.delete(plain[place])
        case 1: add()
        case 2:
          models[place].note = nil
          plain[place].note = nil
        case 3:
          let note = Self.text(&random)
          models[place].note = note
          plain[place].note = note
        default:
          let text = Self.text(&random)
          models[place].body = text
          plain[place].body = text
        }
      }
      try context.save()
      if round % 9 == 8 { try #require(container.stores(of: LogStore.self).first).compact() }
      if round % 11 == 10 {
        if Bool.random(using: &random) { try await container.close() }
        container = try open()
        context = ModelContext(container)
      }
      if round % 3 == 2 { continue }
      for _ in 0..<3 {
        try expectSame(Self.query(&random), in: container, "seed \(seed), round \(round)")
      }
    }
  }
}
