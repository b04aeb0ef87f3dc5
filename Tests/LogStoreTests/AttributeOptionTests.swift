import LogStore
import SwiftData
import Testing

@Model final class Document {
  @Attribute(.preserveValueOnDeletion) var title: String
  var body: String
  @Attribute(.externalStorage) var scan: Data?
  @Attribute(.spotlight, .allowsCloudEncryption) var keywords: String = ""
  @Attribute(.ephemeral) var draft = "no draft"
  @Attribute(.ephemeral) var selection: [Int]?

  init(title: String, body: String) {
    self.title = title
    self.body = body
  }
}

/// A shelf whose relationships have the option of attributes that are not stored.
@Model final class ReadingShelf {
  @Attribute(.ephemeral) var current: Document?
  @Attribute(.ephemeral) var others: [Document] = []
  @Attribute(.ephemeral) var lent: [Document]?

  init() {}
}

@Suite struct `An attribute's options` {
  let folder: TemporaryFolder
  let context: ModelContext

  init() throws {
    folder = try TemporaryFolder()
    context = ModelContext(
      try ModelContainer(
        for: Schema([Document.self, ReadingShelf.self]),
        configurations: [LogStoreConfiguration(url: folder.url.appending(path: "documents"))]
      )
    )
  }

  /// How often a text stands in the files of the store.
  func occurrences(of text: String) throws -> Int {
    let files = try #require(FileManager.default.enumerator(atPath: folder.url.path))
    return files.compactMap { $0 as? String }.reduce(0) { count, name in
      guard let data = FileManager.default.contents(atPath: "\(folder.url.path)/\(name)") else {
        return count
      }
      var rest = data[...]
      var found = 0
      while let range = rest.range(of: Data(text.utf8)) {
        found += 1
        rest = rest[range.upperBound...]
      }
      return count + found
    }
  }

  @Test func `have the log keep a value that is to be preserved, and no other, when it is deleted`()
    throws
  {
    let document = Document(title: "a title to remember", body: "a body to forget")
    context.insert(document)
    try context.save()
    #expect(try occurrences(of: "a title to remember") == 1)
    context.delete(document)
    try context.save()
    #expect(try occurrences(of: "a title to remember") == 2)
    #expect(try occurrences(of: "a body to forget") == 1)
    #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Document>()) == 0)
  }

  @Test func `that ask for other storage leave values as they are`() throws {
    let document = Document(title: "a", body: "b")
    document.scan = Data(repeating: 7, count: 200_000)
    document.keywords = "one two"
    context.insert(document)
    try context.save()
    let found = try #require(
      try ModelContext(context.container).fetch(FetchDescriptor<Document>()).first
    )
    #expect(found.scan == document.scan)
    #expect(found.keywords == "one two")
  }

  @Test func `that keep a value out of the store leave it with its model`() throws {
    let document = Document(title: "a", body: "b")
    context.insert(document)
    try context.save()
    #expect(document.draft == "no draft")
    document.draft = "a draft to forget"
    document.selection = [1, 2]
    #expect(context.hasChanges)
    try context.save()
    #expect(document.draft == "a draft to forget")
    #expect(document.selection == [1, 2])
    #expect(try occurrences(of: "a draft to forget") == 0)

    #expect(throws: SwiftDataError.self) {
      try context.batchUpdate(Document.self, .set(\.draft, to: "a draft to keep"))
    }
    let other = ModelContext(context.container)
    let found = try #require(try other.fetch(FetchDescriptor<Document>()).first)
    #expect(found.draft == "no draft")
    #expect(found.selection == nil)
    found.selection = [3]
    found.selection?.append(4)
    #expect(found.selection == [3, 4])
    other.rollback()
    #expect(found.selection == nil)
    #expect(
      try other.fetchCount(
        FetchDescriptor<Document>(predicate: #Predicate { $0.draft == "no draft" })
      ) == 1
    )
  }

  @Test func `that keep all changed values out of the store write no commit`() throws {
    let document = Document(title: "a", body: "b")
    context.insert(document)
    try context.save()
    let former = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count
    document.draft = "a draft"
    document.selection = [1]
    try context.save()
    #expect(!context.hasChanges)
    #expect(document.draft == "a draft")
    #expect(
      try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count == former
    )
    document.draft = "another"
    document.keywords = "one"
    try context.save()
    #expect(
      try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count == former + 1
    )
    #expect(document.draft == "another")
  }

  /// The types of properties tell relationships, not their options.
  @Test func `that keep a value out of the store have no effect on relationships`() throws {
    func document(_ title: String) -> Document { Document(title: title, body: "") }
    let shelf = ReadingShelf()
    shelf.current = document("a")
    shelf.others = [document("b")]
    #expect(shelf.current?.title == "a")
    #expect(shelf.others.map(\.title) == ["b"])
    context.insert(shelf)
    shelf.others.append(document("c"))
    shelf.lent = [document("d")]
    try context.save()
    for context in [context, ModelContext(context.container)] {
      let found = try #require(try context.fetch(FetchDescriptor<ReadingShelf>()).first)
      #expect(found.current?.title == "a")
      #expect(found.others.map(\.title) == ["b", "c"])
      #expect(found.lent?.map(\.title) == ["d"])
    }
    shelf.current = nil
    try context.save()
    let found = try ModelContext(context.container).fetch(FetchDescriptor<ReadingShelf>())
    #expect(found.map(\.current) == [nil])
  }
}
