import ModelRuntime
import Testing

@Suite struct `A list that is changed in place` {
  private func author(writing count: Int) -> (Author, [Book]) {
    let author = Author(name: "Calvino")
    let books = (0..<count).map { Book(title: "\($0)") }
    author.books = books
    return (author, books)
  }

  @Test func `grows without being copied`() {
    let (author, books) = author(writing: 40)
    // The array that was assigned is the test's too, so the first one does make a copy.
    let added = [Book(title: "first"), Book(title: "second")]
    for book in added { author.books.append(book) }
    // How much room a copy has is up to the allocator.
    author.books.reserveCapacity(64)
    let place = author.books.withUnsafeBufferPointer { $0.baseAddress }
    var all = books + added
    for number in 0..<10 {
      let book = Book(title: "\(number)")
      author.books.append(book)
      all.append(book)
    }
    #expect(author.books.withUnsafeBufferPointer { $0.baseAddress } == place)
    #expect(author.books == all)
    #expect(all.allSatisfy { $0.author === author })
  }

  @Test func `has members exchanged without being copied`() {
    let (author, books) = author(writing: 40)
    // The array that was assigned is the test's too, so the first one does make a copy.
    author.books.swapAt(0, 1)
    let place = author.books.withUnsafeBufferPointer { $0.baseAddress }
    for index in 1..<39 {
      author.books.swapAt(index, index + 1)
      author.books.swapAt(7, 7)
      #expect(author.books.withUnsafeBufferPointer { $0.baseAddress } == place)
    }
    #expect(author.books == books[1...] + [books[0]])
    #expect(books.allSatisfy { $0.author === author })
  }

  @Test func `leaves arrays that were read from it alone`() {
    let (author, books) = author(writing: 3)
    let before = author.books
    author.books.append(Book(title: "more"))
    author.books.append(Book(title: "and more"))
    #expect(before == books)
    #expect(author.books.count == 5)
  }

  @Test func `holds a model once, however it was appended`() {
    let (author, books) = author(writing: 2)
    author.books.append(books[0])
    #expect(author.books == books)
    let reader = Reader(name: "Ann")
    reader.borrowed.append(books[0])
    reader.borrowed.append(books[0])
    #expect(reader.borrowed == [books[0]])
    #expect(books[0].readers == [reader])
    books[1].readers.append(reader)
    #expect(reader.borrowed == books)
  }

  @Test func `moves a model from the list it was in`() {
    let (author, books) = author(writing: 2)
    let other = Author(name: "Eco")
    other.books.append(books[0])
    #expect(author.books == [books[1]])
    #expect(other.books == [books[0]])
    #expect(books[0].author === other)
  }

  @Test func `is not confused with a copy of it that changes meanwhile`() {
    func change(_ list: inout [Book], _ book: Book) -> [Book] {
      var copy = list
      copy.append(book)
      let old = list
      list = []
      var third = old
      third.append(book)
      list = Array(old.reversed())
      return copy + third
    }
    let (author, books) = author(writing: 3)
    let bystander = Book(title: "elsewhere", author: Author(name: "Eco"))
    let copies = change(&author.books, bystander)
    #expect(copies == books + [bystander] + books + [bystander])
    #expect(author.books == books.reversed())
    #expect(bystander.author?.name == "Eco")
  }

  @Test func `is not confused with another empty array`() {
    func change(_ list: inout [Book], _ book: Book) -> [Book] {
      var other: [Book] = []
      other.append(book)
      return other
    }
    let author = Author(name: "Calvino")
    let book = Book(title: "elsewhere")
    #expect(change(&author.books, book) == [book])
    #expect(author.books.isEmpty)
    #expect(book.author == nil)
  }

  @Test func `may be one of two that change at once`() {
    let (first, _) = author(writing: 2)
    let (second, _) = author(writing: 3)
    let books = [first.books, second.books]
    swap(&first.books, &second.books)
    #expect(first.books == books[1])
    #expect(second.books == books[0])
    #expect(first.books.allSatisfy { $0.author === first })
  }

  /// Everything an array can do, against an array that is no relationship.
  @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
  func `ends as an ordinary array would, and both ends agree`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let author = Author(name: "Calvino")
    let pool = (0..<30).map { Book(title: "\($0)") }
    var model: [Book] = []
    for _ in 0..<400 {
      let book = pool[Int.random(in: 0..<pool.count, using: &random)]
      switch Int.random(in: 0..<9, using: &random) {
      case 0, 1, 2:
        author.books.append(book)
        model.append(book)
      case 3:
        let place = Int.random(in: 0...model.count, using: &random)
        author.books.insert(book, at: place)
        model.insert(book, at: place)
      case 4 where !model.isEmpty:
        let place = Int.random(in: 0..<model.count, using: &random)
        author.books.remove(at: place)
        model.remove(at: place)
      case 5:
        author.books.reverse()
        model.reverse()
      case 6 where !model.isEmpty:
        let first = Int.random(in: 0..<model.count, using: &random)
        let second = Int.random(in: 0..<model.count, using: &random)
        author.books.swapAt(first, second)
        (model[first], model[second]) = (model[second], model[first])
      case 7:
        func both(_ list: inout [Book]) {
          if !list.contains(book) { list.append(book) }
          list.reverse()
          list.append(pool[0])
        }
        both(&author.books)
        both(&model)
      default:
        book.author = nil
        model.removeAll { $0 === book }
      }
      var seen: Set<Book> = []
      model = model.filter { seen.insert($0).inserted }
      #expect(author.books == model, "seed \(seed)")
      for book in pool { #expect((book.author === author) == seen.contains(book), "seed \(seed)") }
    }
  }
}

@Suite struct `A long list in a store` {
  @Test func `is not loaded again to append to it after a save`() throws {
    let container = try makeLibrary()
    let context = ModelContext(container)
    let author = Author(name: "Calvino")
    context.insert(author)
    author.books = (0..<40).map { Book(title: "\($0)") }
    try context.save()
    for number in 40..<42 { author.books.append(Book(title: "\(number)")) }
    let place = author.books.withUnsafeBufferPointer { $0.baseAddress }
    try context.save()
    author.books.append(Book(title: "42"))
    #expect(author.books.withUnsafeBufferPointer { $0.baseAddress } == place)
    try context.save()
    let found = try ModelContext(container).fetch(FetchDescriptor<Author>()).first
    #expect(found?.books.map(\.title) == (0..<43).map { "\($0)" })
  }

  @Test func `does not keep its owner alive, nor the owner it`() throws {
    let container = try makeLibrary()
    let context = ModelContext(container)
    var author: Author? = Author(name: "Calvino")
    weak let watched = author
    if let author { context.insert(author) }
    author?.books.append(Book(title: "1"))
    try context.save()
    author = nil
    #expect(watched == nil)
  }
}
