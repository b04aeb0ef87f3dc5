import Foundation
import ModelRuntime
import PostgresStore
import Testing

@Model private final class Author {
  var name: String
  var home: Town?
  @Relationship(inverse: \Novel.author) var novels: [Novel] = []
  @Relationship(inverse: \Prize.winners) var prizes: [Prize] = []
  var friends: [Friend] = []

  init(_ name: String) { self.name = name }
}

@Model private final class Town {
  var name: String
  init(_ name: String) { self.name = name }
}

@Model private final class Novel {
  var title: String
  var author: Author?
  var place: Town?
  init(_ title: String) { self.title = title }
}

@Model private final class Prize {
  var name: String
  var winners: [Author] = []
  init(_ name: String) { self.name = name }
}

@Model private final class Friend {
  var name: String
  init(_ name: String) { self.name = name }
}

@Suite struct `A relationship of a model that was fetched from a server` {
  private let namespace: TestNamespace
  private let container: ModelContainer
  private static let count = 40

  init() throws {
    namespace = try TestNamespace()
    container = try namespace.container(
      Author.self,
      Town.self,
      Novel.self,
      Prize.self,
      Friend.self
    )
    let context = ModelContext(container)
    let prizes = (0..<5).map { Prize("prize \($0)") }
    for prize in prizes { context.insert(prize) }
    for number in 0..<Self.count {
      let author = Author("author \(number)")
      context.insert(author)
      author.home = Town("town \(number)")
      author.novels = (0..<(number % 4)).map { Novel("novel \(number) \($0)") }
      for novel in author.novels { novel.place = Town("place of \(novel.title)") }
      author.prizes = [prizes[number % 5], prizes[(number + 1) % 5]]
      author.friends = [Friend("friend of \(number)"), Friend("other friend of \(number)")]
    }
    try context.save()
  }

  private func fetchAuthors(_ context: ModelContext) throws -> [Author] {
    try context.fetch(FetchDescriptor<Author>(sortBy: [SortDescriptor(\.name)]))
  }

  /// How often the container's store waited for its server meanwhile.
  private func roundTrips(_ body: () throws -> Void) throws -> Int {
    let store = try #require(container.stores(of: PostgresStore.self).first)
    let before = store.roundTripCount
    try body()
    return store.roundTripCount - before
  }

  private func number(of author: Author) -> Int { Int(author.name.dropFirst(7)) ?? -1 }

  @Test func `is read for its siblings in one round trip, to one`() throws {
    let context = ModelContext(container)
    let authors = try fetchAuthors(context)
    let trips = try roundTrips {
      for author in authors { #expect(author.home?.name == "town \(number(of: author))") }
    }
    #expect(trips == 1)
  }

  @Test(arguments: ["forwards", "backwards", "shuffled"])
  func `is read for its siblings in one round trip, to many`(order: String) throws {
    let context = ModelContext(container)
    var authors = try fetchAuthors(context)
    var random = SeededGenerator(seed: 7)
    if order == "backwards" { authors.reverse() }
    if order == "shuffled" { authors.shuffle(using: &random) }
    let trips = try roundTrips {
      for author in authors {
        let number = number(of: author)
        #expect(author.novels.map(\.title) == (0..<(number % 4)).map { "novel \(number) \($0)" })
      }
    }
    #expect(trips == 1)
  }

  @Test func `is read in the order of each list, in whichever order the rows come`() throws {
    let context = ModelContext(container)
    var random = SeededGenerator(seed: 11)
    for author in try fetchAuthors(context) { author.novels.shuffle(using: &random) }
    try context.save()
    let expected = try fetchAuthors(context).map { $0.novels.map(\.title) }
    // Rows that are written again come last.
    for novel in try context.fetch(FetchDescriptor<Novel>()).shuffled(using: &random) {
      novel.title += "!"
      try context.save()
    }
    let found = try fetchAuthors(ModelContext(container)).map { $0.novels.map(\.title) }
    #expect(found == expected.map { $0.map { $0 + "!" } })
  }

  @Test func `is read for the siblings of members, too`() throws {
    let context = ModelContext(container)
    let authors = try fetchAuthors(context)
    let trips = try roundTrips {
      for novel in authors.flatMap(\.novels) {
        #expect(novel.place?.name == "place of \(novel.title)")
      }
    }
    #expect(trips == 2)
  }

  @Test func `is read for its siblings in one round trip, many to many`() throws {
    let context = ModelContext(container)
    let authors = try fetchAuthors(context)
    let trips = try roundTrips {
      for author in authors {
        let number = number(of: author)
        let names = Set(["prize \(number % 5)", "prize \((number + 1) % 5)"])
        #expect(Set(author.prizes.map(\.name)) == names)
      }
    }
    #expect(trips == 1)
  }

  @Test func `is read for its siblings in one round trip, without an inverse`() throws {
    let context = ModelContext(container)
    let authors = try fetchAuthors(context)
    let trips = try roundTrips {
      for author in authors {
        let number = number(of: author)
        #expect(author.friends.map(\.name) == ["friend of \(number)", "other friend of \(number)"])
      }
    }
    #expect(trips == 1)
  }

  @Test func `is read again for its siblings after another fetch of the same models`() throws {
    let context = ModelContext(container)
    let first = try fetchAuthors(context)
    for author in first { _ = author.novels.count + author.friends.count }
    let again = try fetchAuthors(context)
    #expect(try roundTrips { for author in again { _ = author.novels.count } } == 1)
    #expect(try roundTrips { for author in again { _ = author.friends.count } } == 0)
    withExtendedLifetime(first) {}
  }

  @Test func `does not bring back what was before a save`() throws {
    let context = ModelContext(container)
    let authors = try fetchAuthors(context)
    _ = authors[0].novels.count
    let other = ModelContext(container)
    let changed = try #require(try fetchAuthors(other).last)
    changed.novels.append(Novel("late"))
    try other.save()
    // The context learns of it by a fetch.
    _ = try fetchAuthors(context)
    let last = try #require(authors.last)
    #expect(last.novels.map(\.title).last == "late")
    last.novels.append(Novel("later"))
    try context.save()
    #expect(last.novels.map(\.title).suffix(2) == ["late", "later"])
  }

  @Test func `is still found by a program that fetches in between`() throws {
    let context = ModelContext(container)
    let authors = try fetchAuthors(context)
    var novels = 0
    for author in authors {
      novels += author.novels.count
      _ = try context.fetch(FetchDescriptor<Prize>())
    }
    #expect(novels == (0..<Self.count).reduce(0) { $0 + $1 % 4 })
  }

  @Test func `finds models that do not keep their context, and follow relationships without it`()
    throws
  {
    weak var former: ModelContext?
    var novel: Novel?
    do {
      let context = ModelContext(container)
      former = context
      let author = try #require(try fetchAuthors(context).first { $0.novels.count == 3 })
      novel = author.novels[1]
    }
    #expect(former == nil)
    let title = try #require(novel?.title)
    #expect(novel?.author?.novels[1].title == title)
    #expect(novel?.place?.name == "place of \(title)")
    #expect(novel?.modelContext != nil)
  }

  @Test func `makes no ring of models that keeps a context with unsaved changes`() throws {
    weak var former: ModelContext?
    do {
      let context = ModelContext(container)
      former = context
      for author in try fetchAuthors(context) {
        author.name += " the Great"
        for novel in author.novels where novel.title.hasSuffix("1") { novel.title += "!" }
      }
    }
    #expect(former == nil)
  }

  @Test func `finds members that are changed, moved, deleted and saved as any others`() throws {
    let context = ModelContext(container)
    let authors = try fetchAuthors(context).filter { $0.novels.count == 3 }
    let (first, second) = (authors[0], authors[1])
    let moved = first.novels[0]
    moved.title = "moved"
    second.novels.append(moved)
    context.delete(first.novels[0])
    #expect(first.novels.count == 1)
    #expect(second.novels.map(\.title).last == "moved")
    try context.save()
    let again = try fetchAuthors(ModelContext(container))
    let counts = [first, second].map { author in
      again.first { $0.name == author.name }?.novels.count
    }
    #expect(counts == [1, 4])
    let member = try #require(second.novels.first)
    let fetched = try context.fetch(FetchDescriptor<Novel>()).first { $0 === member }
    #expect(fetched?.title == member.title)
  }
}
