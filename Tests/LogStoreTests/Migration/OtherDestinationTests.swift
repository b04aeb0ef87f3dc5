import Foundation
import LogEngine
import LogStore
import SwiftData
import Testing

// Relationships come to lead to another class when there are rows already.

private enum Persons: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Person.self, Book.self] }

  @Model final class Person {
    var age = 0
    var name = ""
    var books: [Book] = []
    init(_ name: String, _ age: Int) {
      self.name = name
      self.age = age
    }
  }
  @Model final class Book {
    var title = ""
    var author: Person?
    init(_ title: String, _ author: Person?) {
      self.title = title
      self.author = author
    }
  }
}

private enum Editors: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Person.self, Editor.self, Book.self] }

  @Model final class Person {
    var age = 0
    var name = ""
    init() {}
  }
  @Model final class Editor {
    var name = ""
    var books: [Book] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Book {
    var title = ""
    var author: Editor?
    init() {}
  }
}

private enum Contacts: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Contact.self, Book.self] }

  @Model final class Contact {
    var age = 0
    var name = ""
    var books: [Book] = []
    init() {}
  }
  @Model final class Book {
    var title = ""
    var author: Contact?
    init() {}
  }
}

private enum LightPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Persons.self, Editors.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Persons.self, toVersion: Editors.self)]
  }
}

private enum CustomPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Persons.self, Editors.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: Persons.self,
        toVersion: Editors.self,
        willMigrate: nil,
        didMigrate: { context in
          let editor = Editors.Editor("new")
          context.insert(editor)
          for book in try context.fetch(FetchDescriptor<Editors.Book>()) where book.title == "old" {
            book.author = editor
          }
        }
      )
    ]
  }
}

@Suite struct `A relationship that comes to lead to another class` {
  private let folder: TemporaryFolder
  private var url: URL { folder.url.appending(path: "books.store") }

  init() throws {
    folder = try TemporaryFolder()
    let context = try open(Schema(versionedSchema: Persons.self))
    let person = Persons.Person("y", 300)
    context.insert(Persons.Book("old", person))
    context.insert(Persons.Book("other", person))
    context.insert(Persons.Book("nobody's", nil))
    try context.save()
  }

  private func open(
    _ schema: Schema,
    _ plan: (any SchemaMigrationPlan.Type)? = nil
  ) throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: schema,
        migrationPlan: plan,
        configurations: [LogStoreConfiguration(url: url)]
      )
    )
  }

  @Test(arguments: [Schema(versionedSchema: Editors.self), Schema(versionedSchema: Contacts.self)])
  func `is refused by name without a plan`(schema: Schema) throws {
    let error = #expect(throws: LogStoreError.self) { try open(schema) }
    let declared = schema.entitiesByName["Editor"] == nil ? "Contact" : "Editor"
    #expect(
      "\(error, default: "")".contains(
        "Book.author: the store holds Person values, the model declares \(declared)"
      )
    )
    let books = try open(Schema(versionedSchema: Persons.self))
      .fetch(FetchDescriptor<Persons.Book>())
    #expect(books.count { $0.author?.name == "y" } == 2)
  }

  @Test func `is refused by a lightweight stage, too`() throws {
    let error = #expect(throws: SwiftDataError.self) {
      try open(Schema(versionedSchema: Editors.self), LightPlan.self)
    }
    #expect("\(error, default: "")".contains("Book.author: the store holds Person values"))
  }

  @Test func `loses its values in a custom stage, which sets new ones`() throws {
    for _ in 0..<2 {
      let context = try open(Schema(versionedSchema: Editors.self), CustomPlan.self)
      let books = try context.fetch(
        FetchDescriptor<Editors.Book>(sortBy: [SortDescriptor(\.title)])
      )
      #expect(books.map(\.author?.name) == [nil, "new", nil])
      let without = FetchDescriptor<Editors.Book>(predicate: #Predicate { $0.author == nil })
      #expect(try context.fetchCount(without) == 2)
      let editor = try #require(try context.fetch(FetchDescriptor<Editors.Editor>()).first)
      #expect(editor.books.map(\.title) == ["old"])
      #expect(try context.container.storeInvariantViolations() == [])
    }
  }

  /// A store of an older library does not say where its relationships led.
  @Test func `reads as nil in a store that does not say where it led, and can be set`() throws {
    let engine = try StorageEngine.open(at: url.path)
    let keys = engine.catalogue.metadata.keys.filter { $0.hasPrefix("values.") }
    try engine.apply(keys.map { .setMetadata(key: $0, value: []) })
    try engine.close()
    let context = try open(Schema(versionedSchema: Editors.self))
    let named = FetchDescriptor<Editors.Book>(
      predicate: #Predicate { $0.title == "x" || $0.author?.name == "y" }
    )
    #expect(try context.fetchCount(named) == 0)
    let without = FetchDescriptor<Editors.Book>(predicate: #Predicate { $0.author == nil })
    #expect(try context.fetchCount(without) == 3)
    let books = try context.fetch(FetchDescriptor<Editors.Book>())
    #expect(books.allSatisfy { $0.author == nil })
    let editor = Editors.Editor("new")
    context.insert(editor)
    for book in books { book.author = editor }
    try context.save()
    #expect(try ModelContext(context.container).fetchCount(without) == 0)
    #expect(editor.books.count == 3)
  }
}

// A relationship leads to a class of which a subclass goes, or stops being one.

private enum Animals: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Owner.self, Animal.self, Dog.self] }

  @Model final class Owner {
    var name = ""
    var favourite: Animal?
    @Relationship(inverse: \Animal.friends) var known: [Animal] = []
    init(_ name: String, _ favourite: Animal?) {
      self.name = name
      self.favourite = favourite
    }
  }
  @Model class Animal {
    var name = ""
    @Relationship(inverse: \Owner.favourite) var fans: [Owner] = []
    var friends: [Owner] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Dog: Animal {
    var breed = ""
    override init(_ name: String) { super.init(name) }
  }
}

private enum Dogless: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Animals.Owner.self, Animals.Animal.self] }
}

private enum Separate: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] {
    [Animals.Owner.self, Animals.Animal.self, Dog.self]
  }

  @Model final class Dog {
    var name = ""
    var breed = ""
    init() {}
  }
}

private enum DoglessPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Animals.self, Dogless.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Animals.self, toVersion: Dogless.self)]
  }
}

@Suite struct `A relationship to a class with a subclass` {
  private let folder: TemporaryFolder
  private var url: URL { folder.url.appending(path: "animals.store") }

  init() throws {
    folder = try TemporaryFolder()
    let context = try open(Animals.self)
    let (dog, cat) = (Animals.Dog("rex"), Animals.Animal("tom"))
    let owners = [Animals.Owner("a", dog), Animals.Owner("b", cat)]
    for owner in owners {
      context.insert(owner)
      owner.known = [dog, cat]
    }
    try context.save()
  }

  private func open(
    _ version: any VersionedSchema.Type,
    _ plan: (any SchemaMigrationPlan.Type)? = nil
  ) throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: version),
        migrationPlan: plan,
        configurations: [LogStoreConfiguration(url: url)]
      )
    )
  }

  @Test func `leads nowhere once a stage has removed the subclass`() throws {
    for _ in 0..<2 {
      let context = try open(Dogless.self, DoglessPlan.self)
      let owners = try context.fetch(
        FetchDescriptor<Animals.Owner>(sortBy: [SortDescriptor(\.name)])
      )
      #expect(owners.map(\.favourite?.name) == [nil, "tom"])
      #expect(owners.map { $0.known.map(\.name) } == [["tom"], ["tom"]])
      let without = FetchDescriptor<Animals.Owner>(predicate: #Predicate { $0.favourite == nil })
      #expect(try context.fetch(without).map(\.name) == ["a"])
      #expect(try context.container.storeInvariantViolations() == [])
    }
  }

  @Test func `is as rows and objects see it while the subclass is away`() throws {
    do {
      let context = try open(Dogless.self)
      let owners = try context.fetch(
        FetchDescriptor<Animals.Owner>(sortBy: [SortDescriptor(\.name)])
      )
      #expect(owners.map(\.favourite?.name) == [nil, "tom"])
      let without = FetchDescriptor<Animals.Owner>(predicate: #Predicate { $0.favourite == nil })
      #expect(try context.fetch(without).map(\.name) == ["a"])
      let two = FetchDescriptor<Animals.Owner>(predicate: #Predicate { $0.known.count == 2 })
      #expect(try context.fetchCount(two) == 0)
    }
    // A version of the same models that comes after.
    enum Again: VersionedSchema {
      static let versionIdentifier = Schema.Version(3, 0, 0)
      static var models: [any PersistentModel.Type] { Animals.models }
    }
    let owners = try open(Again.self)
      .fetch(FetchDescriptor<Animals.Owner>(sortBy: [SortDescriptor(\.name)]))
    #expect(owners.map(\.favourite?.name) == ["rex", "tom"])
  }

  @Test func `is refused if the subclass is none any more`() throws {
    let error = #expect(throws: LogStoreError.self) { try open(Separate.self) }
    #expect(
      "\(error, default: "")".contains("the store holds Dog values, the model declares Animal")
    )
  }
}
