import Foundation
import ModelRuntime
import Testing

@testable import PostgresStore

@Model private final class Remark {
  #Index<Remark>([\.text], [\.aside])
  var text: String
  var aside: String?

  init(_ text: String, aside: String? = nil) {
    self.text = text
    self.aside = aside
  }
}

@Suite struct `Texts on a PostgreSQL server` {
  /// Texts that Swift and Foundation take for equal in their own ways, and some that only look alike.
  private static let samples = [
    "", "a", "straße", "STRASSE", "Strasse", "café", "cafe\u{301}", "CAFE", "cafe", "\u{212A}elvin",
    "Kelvin", "kelvin", "ﬁne", "fine", "FINE", "100%", "100_", "1000", "a\\b", "a\nb", "A\nB",
    "naïve",
    "NAIVE", "ΌΣΟΣ", "όσος", "İstanbul", "ISTANBUL", "istanbul", "ıstanbul", "e\u{301}e", "ee",
    "x\u{200D}y", "xy", "\u{FF26}ull", "Full", "Dvořák", "dvorak", "tab\there", "TAB\tHERE", "  ",
    "æther",
    "aether", "日本語", "한글", "\u{1112}\u{1161}\u{11AB}글", "end.", "👩‍👩‍👧", "👩",
  ]
  private let namespace: TestNamespace
  private let session: ServerSession

  init() throws {
    namespace = try TestNamespace()
    session = try ServerSession(namespace.configuration.url)
  }

  private func open(_ settings: [String] = []) throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Schema([Remark.self]),
        configurations: [namespace.configuration(with: settings)]
      )
    )
  }

  private func indexes() throws -> [String] {
    let list = try session.text(
      "SELECT string_agg(indexname, ' ' ORDER BY 1) FROM (SELECT indexname::text FROM pg_indexes "
        + "WHERE schemaname = '\(namespace.name)' AND tablename = 'Remark') AS t(indexname)"
    )
    return (list ?? "").split(separator: " ").map(String.init)
  }

  /// What each question finds with the samples, and what Swift finds.
  private func check(_ context: ModelContext) throws {
    let remarks = try context.fetch(FetchDescriptor<Remark>())
    func compare(
      _ what: String,
      _ predicate: Predicate<Remark>,
      _ holds: (Remark) -> Bool
    ) throws {
      let found = Set(try context.fetch(FetchDescriptor(predicate: predicate)))
      for remark in remarks where found.contains(remark) != holds(remark) {
        Issue.record("\(remark.text.debugDescription), \(remark.aside.debugDescription): \(what)")
      }
    }
    for other in Self.samples + ["str", "STR", "tanb", "K", "%", "_", "b", "ÉE", "ﬁ", "\u{301}"] {
      let name = other.debugDescription
      try compare("contains \(name)", #Predicate { $0.text.contains(other) }) {
        Array($0.text).contains(Array(other))
      }
      try compare("starts with \(name)", #Predicate { $0.text.starts(with: other) }) {
        $0.text.starts(with: other)
      }
      try compare(
        "contains as people look \(name)",
        #Predicate { $0.text.localizedStandardContains(other) }
      ) {
        $0.text.localizedStandardContains(other)
      }
      try compare(
        "is but for case \(name)",
        #Predicate { $0.text.caseInsensitiveCompare(other) == .orderedSame }
      ) { $0.text.caseInsensitiveCompare(other) == .orderedSame }
      try compare(
        "aside contains \(name)",
        #Predicate { $0.aside?.localizedStandardContains(other) ?? false }
      ) { $0.aside?.localizedStandardContains(other) ?? false }
      try compare(
        "aside is true to contain \(name)",
        #Predicate { $0.aside?.contains(other) == true }
      ) {
        $0.aside.map { Array($0).contains(Array(other)) } ?? false
      }
      try compare(
        "aside or nothing starts with \(name)",
        #Predicate { ($0.aside ?? "").starts(with: other) }
      ) {
        ($0.aside ?? "").starts(with: other)
      }
      // swift-format-ignore: NeverForceUnwrap
      try compare(
        "aside is there and contains \(name)",
        #Predicate { $0.aside != nil && $0.aside!.localizedStandardContains(other) }
      ) { $0.aside?.localizedStandardContains(other) ?? false }
      try compare(
        "aside is but for case \(name)",
        #Predicate { $0.aside?.caseInsensitiveCompare(other) == .orderedSame }
      ) { $0.aside?.caseInsensitiveCompare(other) == .orderedSame }
      try compare(
        "aside is not, but for case, \(name)",
        #Predicate { $0.aside?.caseInsensitiveCompare(other) != .orderedSame }
      ) { $0.aside?.caseInsensitiveCompare(other) != .orderedSame }
    }
  }

  @Test(arguments: [[], ["enable_seqscan=off"]])
  func `are found as Foundation finds them`(settings: [String]) throws {
    let context = try open(settings)
    for (number, text) in Self.samples.enumerated() {
      context.insert(Remark(text, aside: number % 3 == 0 ? nil : text + "!"))
    }
    try context.save()
    // What no program of the store has written: a null where there has to be a text.
    try session.run("UPDATE \"\(namespace.name)\".\"Remark\" SET text = NULL WHERE text = 'a'")
    #expect(try indexes().contains("Remark_text_trigrams"))
    try check(ModelContext(context.container))
  }

  @Test func `are found by trigrams, and by nothing else than candidates`() throws {
    let context = try open(["enable_seqscan=off"])
    for number in 0..<200 { context.insert(Remark("remark \(number) of two hundred")) }
    for text in ["Rémark of an other kind", "a remark on Trains", "über"] {
      context.insert(Remark(text))
    }
    try context.save()
    func rows(_ predicate: Predicate<Remark>) throws -> [Int?] {
      let plan = try context.explain(FetchDescriptor(predicate: predicate))
      #expect("\(plan)".contains("found by the server"), "\(plan)")
      return [plan.accesses.first?.rowCount, plan.resultCount]
    }
    #expect(try rows(#Predicate { $0.text.localizedStandardContains("TRAIN") }) == [3, 1])
    #expect(try rows(#Predicate { $0.text.contains("mark 17") }) == [11, 11])
    let plan = try session.text(
      "SELECT string_agg(x, ' ') FROM (SELECT 1) AS t, LATERAL (SELECT indexdef AS x FROM pg_indexes "
        + "WHERE schemaname = '\(namespace.name)' AND indexname LIKE 'Remark_text%') AS i"
    )
    #expect(plan?.contains("USING gin") == true)
    try session.run("SET enable_seqscan = off")
    let table = "\"\(namespace.name)\".\"Remark\""
    let lines = try session.texts(
      "EXPLAIN SELECT 1 FROM \(table) AS t WHERE (t.\"text\" ~ '[^ -~]' OR "
        + "lower(normalize(t.\"text\", NFC) COLLATE \"C\") LIKE '%train%')"
    ).joined()
    #expect(lines.contains("BitmapOr"), "\(lines)")
    #expect(lines.contains("Remark_text_trigrams"), "\(lines)")
    #expect(lines.contains("Remark_text_others"), "\(lines)")
  }

  @Test func `are found by trigrams if they are optional, however nil is dealt with`() throws {
    let context = try open(["enable_seqscan=off"])
    for number in 0..<200 {
      context.insert(Remark("", aside: number % 4 == 0 ? nil : "remark \(number) of two hundred"))
    }
    context.insert(Remark("", aside: "A Train of thought"))
    try context.save()
    let (part, whole, start) = ("TRAIN", "a train OF thought", "A Tra")
    let predicates: [Predicate<Remark>] = [
      #Predicate { $0.aside?.contains("Train") ?? false },
      #Predicate { $0.aside?.localizedStandardContains(part) == true },
      #Predicate { true == $0.aside?.localizedStandardContains(part) },
      #Predicate { ($0.aside ?? "").starts(with: start) },
      #Predicate { $0.aside != nil && $0.aside!.contains("Train") },
      #Predicate { $0.aside?.caseInsensitiveCompare(whole) == .orderedSame },
    ]
    for predicate in predicates {
      let plan = try context.explain(FetchDescriptor(predicate: predicate))
      #expect(plan.accesses.first?.rowCount == 1, "\(plan)")
      #expect(plan.resultCount == 1, "\(plan)")
    }
  }

  @Test func `are found without the extension, which a role may be unable to make`() throws {
    // Nobody is asked for what is there: the schema of this database only.
    let database = "d" + namespace.name.dropFirst()
    let role = "r" + namespace.name.dropFirst()
    try session.run("CREATE ROLE \(role) LOGIN")
    try session.run("CREATE DATABASE \(database) TEMPLATE template0 ENCODING 'UTF8'")
    defer {
      try? session.run("DROP DATABASE \(database) WITH (FORCE)")
      try? session.run("DROP ROLE \(role)")
    }
    let url = namespace.configuration.url.replacing("dbname=postgres", with: "dbname=\(database)")
    let owner = try ServerSession(url)
    try owner.run("CREATE SCHEMA \"\(namespace.name)\" AUTHORIZATION \(role)")
    let configuration = PostgresStoreConfiguration(
      url: url.replacing("user=postgres", with: "user=\(role)"),
      namespace: namespace.name
    )
    let context = ModelContext(
      try ModelContainer(for: Schema([Remark.self]), configurations: [configuration])
    )
    for text in Self.samples { context.insert(Remark(text)) }
    try context.save()
    #expect(try owner.integer("SELECT count(*) FROM pg_extension WHERE extname = 'pg_trgm'") == 0)
    try check(context)
  }
}
