import Testing

@testable import ModelRuntime

@Suite struct `The invariants of a context` {
  private func makeContext() throws -> (ModelContext, Book) {
    let context = ModelContext(try makeLibrary())
    let book = Book(title: "Kept")
    context.insert(book)
    try context.save()
    return (context, book)
  }

  @Test func `hold through inserting, changing, deleting and saving`() throws {
    let (context, book) = try makeContext()
    #expect(context.invariantViolations() == [])
    book.title = "Changed"
    context.insert(Book(title: "New"))
    #expect(context.invariantViolations() == [])
    context.delete(book)
    #expect(context.invariantViolations() == [])
    try context.save()
    #expect(context.invariantViolations() == [])
    context.insert(Book(title: "Gone"))
    context.rollback()
    #expect(context.invariantViolations() == [])
  }

  @Test func `tell of a change that no list has`() throws {
    let (context, book) = try makeContext()
    book.title = "Changed"
    context.changed.removeAll()
    #expect(context.invariantViolations().count == 1)
  }

  @Test func `tell of a deleted model that says it is not`() throws {
    let (context, book) = try makeContext()
    context.delete(book)
    book._$state.flags.remove(.deleted)
    #expect(!context.invariantViolations().isEmpty)
  }

  @Test func `tell of a model that is in a list twice`() throws {
    let (context, _) = try makeContext()
    let new = Book(title: "New")
    context.insert(new)
    context.inserted.append(new)
    #expect(context.invariantViolations() == ["an object is on the list of inserted ones twice"])
  }
}
