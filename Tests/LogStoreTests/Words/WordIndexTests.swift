import Foundation
import LogEngine
import RowFormat
import SwiftData
import Synchronization
import Testing

@testable import LogStore
@testable import ModelRuntime

@Model final class Missive {
  #Index<Missive>([\.number, \.body], [\.note])
  var number: Int
  var body: String
  var note: String?

  init(_ number: Int, _ body: String, note: String? = nil) {
    self.number = number
    self.body = body
    self.note = note
  }
}

@Suite struct `An index of words` {
  private let folder: TemporaryFolder
  private let container: ModelContainer

  init() throws {
    folder = try TemporaryFolder()
    var configuration = LogStoreConfiguration(
      url: folder.url.appending(path: "letters.store"),
      durability: .relaxed
    )
    configuration.compaction = .init(.onDemand, historyByteCount: 0)
    container = try ModelContainer(for: Missive.self, configurations: configuration)
  }

  private var tables: TableStore {
    get throws { try #require(container.stores(of: LogStore.self).first).tables }
  }

  private func access(_ predicate: Predicate<Missive>) throws -> QueryPlan.TableAccess {
    let plan = try ModelContext(container).explain(FetchDescriptor(predicate: predicate))
    return try #require(plan.accesses.first)
  }

  private func fill(_ count: Int) throws {
    let context = ModelContext(container)
    for number in 0..<count {
      let note = number % 50 == 0 ? nil : "Note \(number % 100)"
      let body = "letter \(number) to Zoë\(number == count / 2 ? ", the Überraschung" : "")"
      context.insert(Missive(number, body, note: note))
    }
    try context.save()
  }

  @Test func `is made once scans have cost as much, and names the rows that have the words`() throws
  {
    try fill(3000)
    let predicate = #Predicate<Missive> { $0.body.localizedStandardContains("uberrasch") }
    for _ in 0..<WordIndex.scansBeforeIndex {
      let access = try access(predicate)
      #expect(access.path != .words(["body"]))
      #expect(access.matchCount == 1)
    }
    let access = try access(predicate)
    #expect(access.path == .words(["body"]))
    #expect(access.candidateCount == 1)
    #expect(access.readRowCount == 1)
    #expect(access.matchCount == 1)
  }

  @Test func `answers parts of words, several words, and what is in another column besides`() throws
  {
    try fill(3000)
    for _ in 0...WordIndex.scansBeforeIndex {
      _ = try access(#Predicate<Missive> { $0.body.contains("nothing") })
      _ = try access(#Predicate<Missive> { $0.note?.contains("nothing") ?? false })
    }
    func matches(_ predicate: Predicate<Missive>) throws -> [Int] {
      let access = try access(predicate)
      #expect(
        access.path == .words(["body"]) || access.path == .words(["note"])
          || access.path == .words(["body", "note"])
      )
      return try ModelContext(container).fetch(FetchDescriptor(predicate: predicate)).map(\.number)
    }
    #expect(try matches(#Predicate { $0.body.contains("er 17 t") }) == [17])
    #expect(try matches(#Predicate { $0.body.starts(with: "letter 170 ") }) == [170])
    #expect(try matches(#Predicate { $0.body.contains("Überraschung") }) == [1500])
    #expect(try matches(#Predicate { $0.body.contains("überraschung") }) == [])
    #expect(
      try matches(#Predicate { $0.body.contains(" 4") && ($0.note?.contains("Note 77") ?? false) })
        == [477, 4077].filter { $0 < 3000 }
    )
    #expect(
      try matches(#Predicate { $0.body.contains("r 17 ") || $0.body.contains("rasch") }) == [
        17, 1500,
      ]
    )
  }

  @Test func `answers questions about optional texts, however nil is dealt with`() throws {
    try fill(3000)
    for _ in 0...WordIndex.scansBeforeIndex {
      _ = try access(#Predicate<Missive> { $0.note?.contains("nothing") ?? false })
    }
    let (part, whole) = ("NOTE 77", "note 77")
    let predicates: [Predicate<Missive>] = [
      #Predicate { $0.note?.contains("Note 77") ?? false },
      #Predicate { $0.note?.localizedStandardContains(part) == true },
      #Predicate { true == $0.note?.localizedStandardContains(part) },
      #Predicate { ($0.note ?? "").starts(with: "Note 77") },
      #Predicate { $0.note != nil && $0.note!.contains("Note 77") },
      #Predicate { $0.note?.caseInsensitiveCompare(whole) == .orderedSame },
    ]
    for (number, predicate) in predicates.enumerated() {
      let access = try access(predicate)
      #expect(access.path == .words(["note"]), "\(number): \(access)")
      #expect(access.matchCount == 30, "\(number)")
    }
  }

  @Test func `leaves what is frequent, short or no word to a scan`() throws {
    try fill(3000)
    for _ in 0...WordIndex.scansBeforeIndex {
      _ = try access(#Predicate<Missive> { $0.body.contains("nothing") })
    }
    for text in ["letter", "e", "!", ", ", ""] {
      let access = try access(#Predicate<Missive> { $0.body.contains(text) })
      #expect(access.path != .words(["body"]), "\(text)")
    }
  }

  @Test func `is given up while much is written and nothing is looked for`() throws {
    try fill(400)
    let find = {
      try ModelContext(container).search(FetchDescriptor<Missive>(), for: "extra", in: \.body)
    }
    let index = try #require(try tables.indexes.words.first { $0.column == 1 }).index
    #expect(try find().isEmpty)
    #expect(index.isBuilt)
    IndexedWords.mostPending.store(100, ordering: .relaxed)
    defer { IndexedWords.mostPending.store(1 << 20, ordering: .relaxed) }
    for portion in 0..<2 {
      let context = ModelContext(container)
      for number in 0..<60 { context.insert(Missive(1000 * portion + number, "extra \(number)")) }
      try context.save()
      #expect(index.isBuilt == (portion == 0))
    }
    #expect(try find().count == 120)
    #expect(index.isBuilt)
  }

  @Test func `is not asked about a column that no index names`() throws {
    #expect(try tables.indexes.words.map(\.column).count == 2)
  }
}
