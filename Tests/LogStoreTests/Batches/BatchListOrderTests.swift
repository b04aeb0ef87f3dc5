import LogStore
import SwiftData
import Testing

private enum Discs {
  @Model final class Record {
    var title: String
    @Relationship(inverse: \Chant.record) var songs: [Chant] = []
    init(_ title: String) { self.title = title }
  }

  @Model final class Chant {
    @Attribute(.unique) var code: String
    var title = ""
    var record: Record?
    init(_ code: String) { self.code = code }
  }
}

private typealias Record = Discs.Record
private typealias Chant = Discs.Chant

@Suite struct `Batches that set the owner of members of a list` {
  private let context: ModelContext
  private let record = Record("first")
  private let other = Record("second")

  init() throws {
    context = ModelContext(
      try ModelContainer(
        for: Record.self,
        Chant.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
      )
    )
    context.insert(record)
    context.insert(other)
    record.songs = ["c", "a", "b"].map { Chant($0) }
    try context.save()
  }

  private func songs(of title: String) throws -> [String] {
    let records = FetchDescriptor<Record>(predicate: #Predicate { $0.title == title })
    let fresh = ModelContext(context.container)
    return try #require(try fresh.fetch(records).first).songs.map(\.code)
  }

  @Test func `leave it in its order where an update sets the one they have`() throws {
    try context.batchUpdate(Chant.self, .set(\.record, to: record))
    #expect(try songs(of: "first") == ["c", "a", "b"])
    #expect(record.songs.map(\.code) == ["c", "a", "b"])
    try context.batchUpdate(Chant.self, .set(\.title, to: "new"), .set(\.record, to: record))
    #expect(try songs(of: "first") == ["c", "a", "b"])
  }

  @Test func `leave it in its order where an upsert names the one they have`() throws {
    let rows: [(String, String, Record?)] = ["b", "d", "c"].map { ($0, "new", record) }
    try context.batchUpsert(Chant.self, \.code, \.title, \.record, rows: rows)
    #expect(try songs(of: "first") == ["c", "a", "b", "d"])
    // Also where the rows have all that a song has but its place.
    let row: (String, Record?, String) = ("newer", record, "c")
    try context.batchUpsert(Chant.self, \.title, \.record, \.code, rows: [row])
    #expect(try songs(of: "first") == ["c", "a", "b", "d"])
  }

  @Test func `put those at its end that come from another`() throws {
    try context.batchUpdate(
      Chant.self,
      where: #Predicate { $0.code == "c" },
      .set(\.record, to: other)
    )
    #expect(try songs(of: "first") == ["a", "b"] && songs(of: "second") == ["c"])
    let rows: [(String, Record?)] = [("a", other), ("c", record)]
    try context.batchUpsert(Chant.self, \.code, \.record, rows: rows)
    #expect(try songs(of: "first") == ["b", "c"] && songs(of: "second") == ["a"])
    try context.batchUpdate(Chant.self, .set(\.record, to: record))
    #expect(try songs(of: "first") == ["b", "c", "a"])
  }
}
