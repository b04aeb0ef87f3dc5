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
}
