import Testing

@testable import ModelRuntime

@Suite struct `The lists that a context keeps after it has saved them` {
  @Test(arguments: [1, 100]) func `leave nothing behind when they are saved again and again`(
    owners: Int
  ) throws {
    let context = ModelContext(try makeLibrary())
    let books = (0..<owners).map { Book(title: "\($0)") }
    for book in books { context.insert(book) }
    for number in 0..<400 {
      books[number % owners].chapters.append(Chapter("\(number)"))
      try context.save()
      #expect(context.recentLists.entryCount <= max(64, 2 * owners))
    }
    for book in books {
      let property = try #require(book._$state.descriptor.property(named: "chapters"))
      guard case .many(let list) = book._$state.relation(property) else {
        Issue.record("a list was not kept")
        continue
      }
      #expect(list.isLoaded && list.count == 400 / owners)
    }
  }
  @Test func `make no room for empty ones`() throws {
    let context = ModelContext(try makeLibrary())
    let book = Book(title: "long")
    context.insert(book)
    book.chapters = (0..<10).map { Chapter("\($0)") }
    try context.save()
    // More than lists are held of.
    for number in 0..<1100 { context.insert(Book(title: "\(number)")) }
    try context.save()
    let property = try #require(book._$state.descriptor.property(named: "chapters"))
    guard case .many(let list) = book._$state.relation(property) else {
      Issue.record("the list was not kept")
      return
    }
    #expect(list.isLoaded && list.count == 10)
  }

  /// The owners that have to go for those that are used, by their numbers.
  private func evictions(
    _ counts: [Int],
    using uses: some Sequence<Int>
  ) throws -> [Int] {
    let context = ModelContext(try makeLibrary())
    let books = counts.indices.map { Book(title: "\($0)") }
    for book in books { context.insert(book) }
    try context.save()
    var lists = RecentLists()
    var evicted: [Int] = []
    for number in uses {
      for model in lists.keep(lists: counts[number], of: books[number]._$state) {
        evicted += (model as? Book).flatMap { Int($0.title) }.map { [$0] } ?? []
      }
    }
    return evicted
  }

  @Test func `keep a list of as many members as all may have beside small ones`() throws {
    let uses = (1...40).flatMap { [0, $0] }
    let evicted = try evictions([300_000] + Array(repeating: 10, count: 40), using: uses)
    #expect(!evicted.contains(0))
  }

  @Test func `are not read again and again if somewhat more are used in turn than it keeps`()
    throws
  {
    let turns = Array(repeating: 0..<12, count: 50).joined()
    let evicted = try evictions(Array(repeating: 26_000, count: 12), using: turns)
    #expect(evicted.count < 24, "\(evicted.count) lists")
  }

  @Test func `of many owners that are used once are released`() throws {
    let evicted = try evictions(Array(repeating: 26_000, count: 40), using: 0..<40)
    #expect(evicted == Array(0..<31))
  }

  @Test func `of owners that are freed make no room for owners at their addresses`() throws {
    let context = ModelContext(try makeLibrary())
    for number in 0..<300 { context.insert(Book(title: "\(number)")) }
    try context.save()
    let identifiers = try context.fetchIdentifiers(FetchDescriptor<Book>())
    var alive: [any PersistentModel] = []
    for identifier in identifiers {
      let book = context.model(for: identifier)
      context.keepLists(26_000, of: book._$state)
      alive.append(book)
      // More than there is room for, so that some are evicted before they are freed.
      if alive.count > 12 { alive.removeFirst() }
    }
    #expect(context.recentLists.memberCount <= 250_000)
  }
}
