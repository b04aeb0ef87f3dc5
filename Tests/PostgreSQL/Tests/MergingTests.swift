import Foundation
import ModelRuntime
import PostgresStore
import Synchronization
import Testing

private enum Merging {
  @Model final class Page {
    var key: Int
    var title: String
    var note: String?
    var visits = 0
    var score = 0.0
    var small: Int8 = 0
    var price = Decimal(0)
    var day = Date(timeIntervalSinceReferenceDate: 0)
    var stop: Stop?
    @Attribute(.externalStorage) var photo: Data?
    var tags: [String] = []
    var labels: Set<Int> = []
    var book: Book?

    init(key: Int, title: String = "") {
      self.key = key
      self.title = title
    }
  }

  @Model final class Book {
    var name: String
    @Relationship(deleteRule: .nullify, inverse: \Page.book) var pages: [Page] = []
    init(_ name: String) { self.name = name }
  }
}

private typealias Page = Merging.Page
private typealias Book = Merging.Book

extension ModelContext {
  fileprivate func page(_ key: Int = 1) throws -> Page {
    let found = try fetch(FetchDescriptor<Page>(predicate: #Predicate { $0.key == key }))
    return try #require(found.first)
  }
}

/// Two machines, each with a container of its own over one namespace.
@Suite struct `A save to a server of what another machine has changed` {
  private let namespace: TestNamespace
  private let first: ModelContext
  private let second: ModelContext

  init() throws {
    namespace = try TestNamespace()
    first = ModelContext(try namespace.container(Page.self, Book.self))
    second = ModelContext(try namespace.container(Page.self, Book.self))
    let page = Page(key: 1, title: "read")
    page.visits = 5
    first.insert(page)
    try first.save()
    first.mergePolicy = .throw
    second.mergePolicy = .throw
  }

  private func stored() throws -> Page {
    try ModelContext(namespace.container(Page.self, Book.self)).page()
  }

  private func refusal(_ context: ModelContext) throws -> [MergeConflict] {
    do {
      try context.save()
    } catch let error as SwiftDataError {
      let cause = try #require(error.underlyingError as? MergeConflicts)
      #expect(error == .modelValidationFailure)
      return cause.conflicts
    }
    return []
  }

  @Test func `throws an error with both versions, and stays pending`() throws {
    let fresh = ModelContext(first.container)
    fresh.mergePolicy = .throw
    let page = try fresh.page()
    page.title = "mine"
    page.note = "new"
    try second.page().title = "theirs"
    try second.save()
    let conflict = try #require(refusal(fresh).first)
    #expect(conflict.model == page.persistentModelID && conflict.property == "title")
    #expect(conflict.read as? String == "read" && conflict.isReadKnown)
    #expect(conflict.stored as? String == "theirs" && conflict.own as? String == "mine")
    #expect(page.title == "mine" && fresh.hasChanges)
    #expect(try stored().note == nil)
    #expect(try refusal(fresh).count == 1)
    try fresh.save(mergePolicy: .keepOwn)
    #expect(try stored().title == "mine" && stored().note == "new")
  }

  @Test func `goes through if the other save set other attributes`() throws {
    let page = try first.page()
    page.title = "mine"
    try second.page().visits = 9
    try second.save()
    try first.save()
    #expect(try stored().title == "mine" && stored().visits == 9)
  }

  @Test func `takes over what is stored if that is to stay`() throws {
    first.mergePolicy = .keepStored
    let page = try first.page()
    page.title = "mine"
    page.note = "mine"
    try second.page().title = "theirs"
    try second.save()
    try first.save()
    #expect(page.title == "theirs" && page.note == "mine" && !first.hasChanges)
    #expect(try stored().title == "theirs" && stored().note == "mine")
  }

  @Test func `asks a closure about each attribute`() throws {
    first.mergePolicy = .decide { conflict in
      switch conflict.property {
      case "title": .stored
      case "note": .own
      case "tags": .value((conflict.stored as? [String] ?? []) + (conflict.own as? [String] ?? []))
      default: .value(-1)
      }
    }
    let page = try first.page()
    let other = try second.page()
    for (page, word) in [(page, "mine"), (other, "theirs")] {
      page.title = word
      page.note = word
      page.tags = [word]
      page.visits += word.count
    }
    try second.save()
    try first.save()
    for page in [page, try stored()] {
      #expect(page.title == "theirs" && page.note == "mine" && page.visits == -1)
      #expect(page.tags == ["theirs", "mine"])
    }
  }

  @Test func `finds no conflict in values that the server writes in its own way`() throws {
    let page = try first.page()
    for round in 1...3 {
      let number = Double(round)
      page.price = try #require(Decimal(string: "1.5\(round)0"))
      page.day = Date(timeIntervalSinceReferenceDate: number / 3)
      page.stop = Stop(
        place: "e\u{301} \(round)",
        nights: round,
        price: round == 2 ? .nan : number,
        day: page.day,
        ticket: Data([1, 2])
      )
      page.labels = Set(0..<40)
      page.title = "e\u{301}"
      page.score = -0.0
      page.photo = Data(repeating: UInt8(round), count: 10_000)
      try first.save()
      #expect(try refusal(first).isEmpty)
    }
    let reader = ModelContext(second.container)
    reader.mergePolicy = .throw
    let read = try reader.page()
    read.stop = nil
    read.price = 2
    read.labels = []
    read.photo = nil
    #expect(try refusal(reader).isEmpty)
    #expect(try stored().price == 2 && stored().photo == nil)
  }

  @Test func `compares values beside their rows by their lengths`() throws {
    let page = try first.page()
    page.photo = Data(repeating: 1, count: 10_000)
    try first.save()
    let other = try second.page()
    #expect(other.photo?.first == 1)
    other.photo = Data(repeating: 2, count: 10_001)
    page.photo = Data(repeating: 3, count: 10_002)
    try first.save()
    #expect(try refusal(second).map(\.property) == ["photo"])
    try second.save(mergePolicy: .keepStored)
    #expect(other.photo == Data(repeating: 3, count: 10_002))
  }

  @Test func `leaves new models and deletes to their own rules`() throws {
    try first.page().title = "again"
    second.delete(try second.page())
    try second.save()
    #expect(throws: SwiftDataError.modelValidationFailure) { try first.save() }
  }

  @Test func `goes by the policy of the configuration`() throws {
    var configuration = namespace.configuration
    configuration.mergePolicy = .keepStored
    let context = ModelContext(
      try ModelContainer(for: Schema([Page.self, Book.self]), configurations: [configuration])
    )
    let page = try context.page()
    page.title = "mine"
    try second.page().title = "theirs"
    try second.save()
    try context.save()
    #expect(page.title == "theirs")
  }

  @Test func `adds to what is stored by then`() throws {
    let plain = ModelContext(first.container)
    let page = try plain.page()
    let other = try second.page()
    page.add(2, to: \.visits)
    page.add(1, to: \.visits)
    other.add(10, to: \.visits)
    other.add(0.5, to: \.score)
    try second.save()
    try plain.save()
    #expect(page.visits == 18)
    #expect(try stored().visits == 18 && stored().score == 0.5)
    page.add(100, to: \.small)
    try second.page().small = 100
    try second.save()
    #expect(throws: SwiftDataError.modelValidationFailure) { try plain.save() }
    #expect(try stored().small == 100)
  }

  @Test(arguments: [MergePolicy.lastWriter, .throw], [1, 2])
  func `of many machines at once loses no increment`(policy: MergePolicy, pages: Int) throws {
    for key in 2..<(2 + pages) { second.insert(Page(key: key)) }
    try second.save()
    let contexts = try (0..<4).map { _ in try namespace.container(Page.self, Book.self) }
    let errors = Errors()
    let counted = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 4) { writer in
      errors.collect {
        let context = ModelContext(contexts[writer])
        context.mergePolicy = policy
        for round in 0..<25 {
          let page = try context.page(2 + (writer + round) % pages)
          if policy.isLastWriter {
            page.add(1, to: \.visits)
          } else {
            page.visits += 1
          }
          do {
            try context.save()
            counted.withLock { $0 += 1 }
          } catch let error as SwiftDataError where error.underlyingError is MergeConflicts {
            context.rollback()
          }
        }
      }
    }
    #expect(errors.all.map { "\($0)" } == [])
    let last = ModelContext(try namespace.container(Page.self, Book.self))
    let total = try (2..<(2 + pages)).map { try last.page($0).visits }.reduce(0, +)
    #expect(total == counted.withLock { $0 })
    if policy.isLastWriter { #expect(total == 100) }
  }

  @Test func `of a reference that a rule clears keeps one that was set meanwhile`() throws {
    let (old, new) = (Book("old"), Book("new"))
    first.insert(old)
    first.insert(new)
    try first.page().book = old
    try first.save()
    let deleting = ModelContext(first.container)
    for book in try deleting.fetch(
      FetchDescriptor<Book>(predicate: #Predicate { $0.name == "old" })
    ) {
      #expect(book.pages.count == 1)
      deleting.delete(book)
    }
    // The other save waits for the row, and this one is what it finds.
    let session = try ServerSession(namespace.server.url)
    let name = "\(namespace.name).\"Page\""
    let target = try session.integer(
      "SELECT _id FROM \(namespace.name).\"Book\" WHERE name = 'new'"
    )
    try session.run("BEGIN")
    try session.run("UPDATE \(name) SET book = \(target) WHERE key = 1")
    let errors = Errors()
    let saving = Unchecked(deleting)
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      errors.collect { try saving.value.save() }
      done.signal()
    }
    let waiting =
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
      + "AND application_name = '\(namespace.name)'"
    while try session.integer(waiting) == 0 {}
    try session.run("COMMIT")
    done.wait()
    #expect(errors.all.map { "\($0)" } == [])
    #expect(try stored().book?.name == "new")
    #expect(try ModelContext(first.container).fetchCount(FetchDescriptor<Book>()) == 1)
  }
}

private struct Unchecked<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}

extension MergePolicy {
  fileprivate var isLastWriter: Bool { if case .lastWriter = self { true } else { false } }
}
