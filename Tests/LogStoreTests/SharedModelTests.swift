import LogStore
import SwiftData
import Testing

// Two contexts that fetched one model and change it in turns.

@Suite struct `A model that two contexts change` {
  /// The chain of changes that a row is put together from ends after so many, and the row is written anew.
  @Test(arguments: [1, 2, 7, 8, 9, 20])
  func `keeps what either saved of properties of its own`(saveCount: Int) throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "shared.store")
    let container = try ModelContainer(
      for: Schema([Measurement.self]),
      configurations: [LogStoreConfiguration(url: url)]
    )
    let first = ModelContext(container)
    first.insert(Measurement(0, place: "here", level: 0, taken: .distantPast))
    try first.save()
    let second = ModelContext(container)
    let one = try #require(try first.fetch(FetchDescriptor<Measurement>()).first)
    let other = try #require(try second.fetch(FetchDescriptor<Measurement>()).first)
    #expect(other.value == 0)
    for value in 1...saveCount {
      one.value = value
      try first.save()
    }
    other.place = "there"
    try second.save()
    one.level = 5
    try first.save()
    let seen = try #require(
      try ModelContext(container).fetch(FetchDescriptor<Measurement>()).first
    )
    #expect(seen.value == saveCount)
    #expect(seen.place == "there")
    #expect(seen.level == 5)
  }
}

extension `A model that two contexts change` {
  @Test func `is found by an index of two properties that each context changed one of`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "shared.store")
    let container = try ModelContainer(
      for: Schema([Measurement.self]),
      configurations: [LogStoreConfiguration(url: url)]
    )
    let first = ModelContext(container)
    // So many others that a fetch looks the one up in the index.
    for value in 1...2000 {
      first.insert(Measurement(value, place: "elsewhere", level: 0, taken: .distantPast))
    }
    first.insert(Measurement(0, place: "here", level: 0, taken: .distantPast))
    try first.save()
    let here = FetchDescriptor<Measurement>(
      predicate: #Predicate { $0.place == "here" && $0.level == 0 }
    )
    let one = try #require(try first.fetch(here).first)
    let second = ModelContext(container)
    let other = try #require(try second.fetch(here).first)
    #expect(other.value == 0)
    one.level = 7
    try first.save()
    other.place = "there"
    try second.save()
    let there = FetchDescriptor<Measurement>(
      predicate: #Predicate { $0.place == "there" && $0.level == 7 }
    )
    #expect(try ModelContext(container).fetchCount(there) == 1)
    #expect(try ModelContext(container).fetch(there).map(\.value) == [0])
  }
}
