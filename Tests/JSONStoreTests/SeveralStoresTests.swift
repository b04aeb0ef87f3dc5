import JSONStore
import SwiftData
import Testing

@Model final class Author {
  var name: String

  init(_ name: String) { self.name = name }
}

@Model final class Remark {
  var text: String
  var author: Author?
  var readers: [Author] = []

  init(_ text: String) { self.text = text }
}

@Suite struct `A relationship from an archive to another store` {
  private let folder: TemporaryFolder
  private let context: ModelContext

  init() throws {
    folder = try TemporaryFolder()
    let configurations: [any DataStoreConfiguration] = [
      ModelConfiguration(
        // Stores in memory of one name are one.
        folder.url.lastPathComponent,
        schema: Schema([Author.self]),
        isStoredInMemoryOnly: true
      ),
      JSONStoreConfiguration(
        name: "remarks",
        schema: Schema([Remark.self]),
        url: folder.url.appending(path: "remarks.json")
      ),
    ]
    context = ModelContext(
      try ModelContainer(
        for: Schema([Author.self, Remark.self]),
        configurations: configurations
      )
    )
  }

  @Test(arguments: [false, true])
  func `is refused when it is saved`(isList: Bool) throws {
    let author = Author("Ada")
    context.insert(author)
    try context.save()
    let remark = Remark("a")
    context.insert(remark)
    if isList { remark.readers = [author] } else { remark.author = author }
    let error = #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    #expect("\(try #require(error))".contains("relationships cannot cross stores"))
    (remark.author, remark.readers) = (nil, [])
    try context.save()
    let other = ModelContext(context.container)
    #expect(try other.fetch(FetchDescriptor<Remark>()).map(\.text) == ["a"])
    #expect(try other.fetchCount(FetchDescriptor<Author>()) == 1)
  }

  /// The archive keeps the class, too: its models refer to it.
  @Test(arguments: [false, true])
  func `is none to a new model, which the archive then keeps`(isList: Bool) throws {
    let author = Author("Ada")
    context.insert(author)
    let remark = Remark("a")
    context.insert(remark)
    if isList { remark.readers = [author] } else { remark.author = author }
    try context.save()
    #expect(author.persistentModelID.storeIdentifier == remark.persistentModelID.storeIdentifier)
    let other = ModelContext(context.container)
    let found = try #require(try other.fetch(FetchDescriptor<Remark>()).first)
    #expect((isList ? found.readers.first : found.author)?.name == "Ada")
    #expect(try other.fetch(FetchDescriptor<Author>()).map(\.name) == ["Ada"])
  }
}
