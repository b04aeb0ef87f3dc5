import Foundation
import SwiftData
import Testing

@Model private final class Shelf {
  var label: String
  @Relationship(deleteRule: .nullify, inverse: \Jar.shelf) var jars: [Jar] = []

  init(label: String) { self.label = label }
}

@Model private final class Jar {
  var content: String
  var shelf: Shelf?

  init(content: String) { self.content = content }
}

@ModelActor private actor Cellar {
  func content(of identifier: PersistentIdentifier) -> String? {
    self[identifier, as: Jar.self]?.content
  }
}

@Suite struct `Two contexts that work on the same models` {
  private let store: TestStore
  private let first: ModelContext
  private let second: ModelContext

  init() throws {
    store = try TestStore(.file, Shelf.self, Jar.self)
    first = store.makeContext()
    second = store.makeContext()
    let shelf = Shelf(label: "top")
    first.insert(shelf)
    shelf.jars = ["plums", "beans"].map { Jar(content: $0) }
    try first.save()
  }

  private func jars(_ context: ModelContext) throws -> [Jar] {
    try context.fetch(FetchDescriptor<Jar>(sortBy: [SortDescriptor(\.content)]))
  }

  @Test func `may both delete a model`() throws {
    let twice = try jars(second)
    for jar in try jars(first) { first.delete(jar) }
    try first.save()
    for jar in twice { second.delete(jar) }
    second.insert(Jar(content: "figs"))
    try second.save()
    #expect(!second.hasChanges)
    #expect(twice.allSatisfy { $0.isDeleted && $0.modelContext == nil })
    #expect(twice.map(\.content) == ["beans", "plums"])
    #expect(try jars(first).map(\.content) == ["figs"])
  }

  @Test func `hear of it when one changed what the other deleted, and can go on`() throws {
    let changed = try jars(second)[0]
    first.delete(try jars(first)[0])
    try first.save()
    changed.content = "peas"
    second.insert(Jar(content: "figs"))
    let error = try #require(throws: SwiftDataError.self) { try second.save() }
    #expect(error == .modelValidationFailure)
    #expect(error.entityName == "Jar")
    #expect(error.message.contains("deleted by another context"))
    #expect(changed.content == "peas")
    second.delete(changed)
    try second.save()
    #expect(try jars(first).map(\.content) == ["figs", "plums"])
  }

  @Test func `need not know that a model was deleted to let go of its relationships`() throws {
    let shelf = try #require(second.fetch(FetchDescriptor<Shelf>()).first)
    let gone = try #require(shelf.jars.first)
    first.delete(try #require(jars(first).first { $0.content == gone.content }))
    try first.save()
    // Nullifies both jars, one of which is no more.
    second.delete(shelf)
    try second.save()
    #expect(gone.isDeleted)
    #expect(try jars(first).map(\.shelf) == [nil])
  }

  @Test func `get nothing for identifiers of other schemas`() async throws {
    let foreign = try PersistentIdentifier.identifier(
      for: "elsewhere",
      entityName: "Barrel",
      primaryKey: 1
    )
    #expect(first.model(for: foreign).isDeleted)
    #expect(first.model(for: foreign) as? Jar == nil)
    #expect(first.registeredModel(for: foreign) as Jar? == nil)
    #expect(await Cellar(modelContainer: store.container).content(of: foreign) == nil)
  }

  @Test func `may be of two containers that opened the same file`() throws {
    let configuration = try #require(store.container.configurations.first)
    do {
      let other = ModelContext(
        try ModelContainer(for: Shelf.self, Jar.self, configurations: configuration)
      )
      #expect(try jars(other).map(\.content) == ["beans", "plums"])
      other.delete(try jars(other)[0])
      try other.save()
    }
    #expect(try jars(first).map(\.content) == ["plums"])
    first.insert(Jar(content: "figs"))
    try first.save()
    #expect(try jars(second).map(\.content) == ["figs", "plums"])
  }

  @Test(arguments: [-1, 0, 1, 2])
  func `walk over batches of any size`(batchSize: Int) throws {
    var seen: [String] = []
    let fetch = FetchDescriptor<Jar>(sortBy: [SortDescriptor(\.content)])
    try first.enumerate(fetch, batchSize: batchSize) { seen.append($0.content) }
    #expect(seen == ["beans", "plums"])
  }
}
