import Foundation
import SwiftData

// A library: many-to-many both ways, models that are Codable, generic helpers over models.

@Model
final class LibraryBook: Codable {
  enum CodingKeys: String, CodingKey { case isbn, title, year }

  @Attribute(.unique, hashModifier: "v2") var isbn: String
  @Attribute(.spotlight) var title: String
  var year: Int
  #if os(Linux)
  var shelf: String = "A"
  #endif
  @Relationship(inverse: \LibraryAuthor.books) var authors: [LibraryAuthor] = []
  @Relationship(
    deleteRule: .cascade,
    minimumModelCount: 0,
    maximumModelCount: 5,
    inverse: \Loan.book
  )
  var loans: [Loan] = []

  init(isbn: String, title: String, year: Int) {
    self.isbn = isbn
    self.title = title
    self.year = year
  }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    isbn = try container.decode(String.self, forKey: .isbn)
    title = try container.decode(String.self, forKey: .title)
    year = try container.decodeIfPresent(Int.self, forKey: .year) ?? 0
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(isbn, forKey: .isbn)
    try container.encode(title, forKey: .title)
    try container.encode(year, forKey: .year)
  }
}

@Model
final class LibraryAuthor {
  var name: String
  var books: [LibraryBook] = []
  init(name: String) { self.name = name }
}

@Model
final class Loan {
  var lentAt: Date
  var returnedAt: Date?
  // The book is always there while the loan is.
  var book: LibraryBook?
  var reader: LibraryReader?

  init(book: LibraryBook, reader: LibraryReader, lentAt: Date = .now) {
    self.book = book
    self.reader = reader
    self.lentAt = lentAt
  }
}

@Model
final class LibraryReader {
  var name: String
  var email: String?
  var favourites: Set<String> = []
  @Relationship(deleteRule: .cascade, inverse: \Loan.reader) var loans: [Loan] = []

  init(name: String) { self.name = name }

  static func == (lhs: LibraryReader, rhs: LibraryReader) -> Bool { lhs.id == rhs.id }
}

protocol Repository {
  associatedtype Entity: PersistentModel
  var context: ModelContext { get }
}

extension Repository {
  func all(sortedBy sort: [SortDescriptor<Entity>] = []) throws -> [Entity] {
    try context.fetch(FetchDescriptor<Entity>(sortBy: sort))
  }

  func first(where predicate: Predicate<Entity>) throws -> Entity? {
    var descriptor = FetchDescriptor<Entity>(predicate: predicate)
    descriptor.fetchLimit = 1
    return try context.fetch(descriptor).first
  }

  func add(_ entities: Entity...) {
    entities.forEach { context.insert($0) }
  }

  func count() throws -> Int { try context.fetchCount(FetchDescriptor<Entity>()) }
}

struct BookRepository: Repository {
  typealias Entity = LibraryBook
  let context: ModelContext

  func lent() throws -> [LibraryBook] {
    try context.fetch(
      FetchDescriptor(
        predicate: #Predicate<LibraryBook> { book in
          book.loans.contains { $0.returnedAt == nil }
        },
        sortBy: [SortDescriptor(\.title), SortDescriptor(\.year, order: .reverse)]
      )
    )
  }
}

extension ModelContext {
  func existingModel<T>(for objectID: PersistentIdentifier) throws -> T? where T: PersistentModel {
    if let registered: T = registeredModel(for: objectID) {
      return registered
    }
    let fetchDescriptor = FetchDescriptor<T>(
      predicate: #Predicate { $0.persistentModelID == objectID }
    )
    return try fetch(fetchDescriptor).first
  }
}
