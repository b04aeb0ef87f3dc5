import Foundation
import ModelRuntime

// A small world that tests of contexts and relationships share: authors write books, books have
// chapters, readers borrow books.

enum Genre: String, Codable, CaseIterable {
  case fiction, travel, science
}

struct Address: Codable, Hashable {
  var street: String
  var city: String
}

@Model final class Author {
  var name: String
  var born: Date?
  var address: Address?
  @Relationship(deleteRule: .nullify, inverse: \Book.author) var books: [Book] = []

  init(name: String) { self.name = name }
}

@Model final class Book {
  var title: String
  var pages: Int = 0
  var rating: Double?
  var genre: Genre = Genre.fiction
  var isbn: UUID?
  var tags: [String] = []
  var author: Author?
  @Relationship(deleteRule: .cascade, inverse: \Chapter.book) var chapters: [Chapter] = []
  @Relationship(inverse: \Reader.borrowed) var readers: [Reader] = []
  @Transient var isSelected = false

  init(title: String, pages: Int = 0, author: Author? = nil) {
    self.title = title
    self.pages = pages
    self.author = author
  }
}

@Model final class Chapter {
  var heading: String
  var book: Book?

  init(_ heading: String) { self.heading = heading }
}

@Model final class Reader {
  var name: String
  var borrowed: [Book] = []

  init(name: String) { self.name = name }
}
