import Foundation
import ModelRuntime
import PostgresStore
import Testing

// Relationships whose other end changes when there are rows already.

private enum Persons: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Person.self, Book.self] }

  @Model final class Person {
    var name = ""
    var books: [Book] = []
    init(_ name: String) { self.name = name }
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

private enum Plan: SchemaMigrationPlan {
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

/// The relationship has another name, and another one its former name.
private enum Writers: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Person.self, Editor.self, Book.self] }

  @Model final class Person {
    var name = ""
    init() {}
  }
  @Model final class Editor {
    var name = ""
    init(_ name: String) { self.name = name }
  }
  @Model final class Book {
    var title = ""
    @Relationship(originalName: "author") var writer: Person?
    var author: Editor?
    init() {}
  }
}

private enum Authorless: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Person.self, Book.self] }

  @Model final class Person {
    var name = ""
    init() {}
  }
  @Model final class Book {
    var title = ""
    init() {}
  }
}

private enum LaterEditors: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { Editors.models }
}

private enum AuthorlessPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Persons.self, Authorless.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Persons.self, toVersion: Authorless.self)]
  }
}

private enum LaterPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { AuthorlessPlan.schemas + [LaterEditors.self] }
  static var stages: [MigrationStage] {
    AuthorlessPlan.stages + [
      .lightweight(fromVersion: Authorless.self, toVersion: LaterEditors.self)
    ]
  }
}

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

private enum DoglessPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Animals.self, Dogless.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Animals.self, toVersion: Dogless.self)]
  }
}

private enum OwnersLists: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Note.self, Tag.self] }

  @Model final class Note {
    var tags: [Tag] = []
    init() {}
  }
  @Model final class Tag {
    var name = ""
    init(_ name: String) { self.name = name }
  }
}

private enum MembersLists: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Note.self, Tag.self] }

  @Model final class Note {
    var tags: [Tag] = []
    init() {}
  }
  @Model final class Tag {
    var name = ""
    var note: Note?
    init(_ name: String) { self.name = name }
  }
}

@Suite struct `A relationship on a server` {
  private func fill() throws -> StorePlace {
    let place = try StorePlace(.server)
    let context = try place.open(Persons.self, plan: nil)
    let person = Persons.Person("y")
    for title in ["old", "other"] { context.insert(Persons.Book(title, person)) }
    try context.save()
    return place
  }

  @Test func `may have a name that another one had which was renamed`() throws {
    let place = try fill()
    for round in 0..<3 {
      let context = try place.open(Writers.self, plan: nil)
      let books = try context.fetch(FetchDescriptor<Writers.Book>())
      #expect(books.map { $0.writer?.name } == ["y", "y"])
      #expect(books.allSatisfy { ($0.author == nil) == (round == 0) })
      let editor = Writers.Editor("e")
      context.insert(editor)
      for book in books { book.author = editor }
      try context.save()
    }
  }

  @Test func `may have a name that another one had which was let go of`() throws {
    let place = try fill()
    _ = try place.open(Authorless.self, plan: AuthorlessPlan.self)
    for _ in 0..<2 {
      let context = try place.open(LaterEditors.self, plan: LaterPlan.self)
      let books = try context.fetch(FetchDescriptor<Editors.Book>())
      #expect(books.count == 2 && books.allSatisfy { $0.author == nil })
    }
  }

  @Test func `that comes to lead to another class is refused by name without a plan`() throws {
    let place = try fill()
    for _ in 0..<2 {
      let error = #expect(throws: PostgresStoreError.self) {
        try place.open(Editors.self, plan: nil)
      }
      #expect("\(error, default: "")".contains("Book.author is stored as Person"))
    }
    let books = try place.open(Persons.self, plan: nil).fetch(FetchDescriptor<Persons.Book>())
    #expect(books.map(\.author?.name) == ["y", "y"])
  }

  @Test func `that comes to lead to another class loses its values in a custom stage`() throws {
    let place = try fill()
    for _ in 0..<2 {
      let context = try place.open(Editors.self, plan: Plan.self)
      let books = try context.fetch(
        FetchDescriptor<Editors.Book>(sortBy: [SortDescriptor(\.title)])
      )
      #expect(books.map(\.author?.name) == ["new", nil])
      let without = FetchDescriptor<Editors.Book>(predicate: #Predicate { $0.author == nil })
      #expect(try context.fetch(without).map(\.title) == ["other"])
    }
  }

  @Test func `leads nowhere once a stage has removed a subclass`() throws {
    let place = try StorePlace(.server)
    do {
      let context = try place.open(Animals.self, plan: nil)
      let (dog, cat) = (Animals.Dog("rex"), Animals.Animal("tom"))
      for owner in [Animals.Owner("a", dog), Animals.Owner("b", cat)] {
        context.insert(owner)
        owner.known = [dog, cat]
      }
      try context.save()
    }
    let context = try place.open(Dogless.self, plan: DoglessPlan.self)
    let owners = try context.fetch(
      FetchDescriptor<Animals.Owner>(sortBy: [SortDescriptor(\.name)])
    )
    #expect(owners.map(\.favourite?.name) == [nil, "tom"])
    #expect(owners.map { $0.known.map(\.name) } == [["tom"], ["tom"]])
    let without = FetchDescriptor<Animals.Owner>(predicate: #Predicate { $0.favourite == nil })
    #expect(try context.fetch(without).map(\.name) == ["a"])
  }

  @Test func `is refused without a plan if its members come to tell of it`() throws {
    let place = try StorePlace(.server)
    do {
      let context = try place.open(OwnersLists.self, plan: nil)
      let note = OwnersLists.Note()
      context.insert(note)
      note.tags = [OwnersLists.Tag("a")]
      try context.save()
    }
    let error = #expect(throws: PostgresStoreError.self) {
      try place.open(MembersLists.self, plan: nil)
    }
    #expect("\(error, default: "")".contains("Note.tags is stored as a list with its owner"))
    let notes = try place.open(OwnersLists.self, plan: nil)
      .fetch(FetchDescriptor<OwnersLists.Note>())
    #expect(notes.map { $0.tags.map(\.name) } == [["a"]])
  }

  @Test func `is refused without a plan if its members no longer tell of it`() throws {
    let place = try StorePlace(.server)
    do {
      let context = try place.open(MembersLists.self, plan: nil)
      let note = MembersLists.Note()
      context.insert(note)
      note.tags = [MembersLists.Tag("a")]
      try context.save()
    }
    let error = #expect(throws: PostgresStoreError.self) {
      try place.open(OwnersLists.self, plan: nil)
    }
    #expect("\(error, default: "")".contains("Note.tags is stored as a list with its members"))
  }
}

private enum Apart: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Part.self, Screw.self] }

  @Model final class Part {
    @Attribute(.unique) var name: String
    init(_ name: String) { self.name = name }
  }
  @Model final class Screw {
    @Attribute(.unique) var name: String
    init(_ name: String) { self.name = name }
  }
}

private enum Inheriting: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Part.self, Screw.self] }

  @Model class Part {
    @Attribute(.unique) var name: String
    init() { name = "" }
  }
  @Model final class Screw: Part {
    override init() { super.init() }
  }
}

private enum InheritingPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Apart.self, Inheriting.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Apart.self, toVersion: Inheriting.self)]
  }
}

private enum Widest: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Sample.self] }

  @Model final class Sample {
    var count: Int = 0
    init(_ count: Int) { self.count = count }
  }
}

private enum Narrow: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Sample.self] }

  @Model final class Sample {
    var count: Int8 = 7
    init() {}
  }
}

@Suite struct `A namespace` {
  @Test(arguments: [("a", false), ("b", true)])
  func `compares a class that becomes a subclass of one with a unique attribute of the same name`(
    name: String,
    isFine: Bool
  ) throws {
    let place = try StorePlace(.server)
    do {
      let context = try place.open(Apart.self, plan: nil)
      context.insert(Apart.Part("a"))
      context.insert(Apart.Screw(name))
      try context.save()
    }
    let context = try? place.open(Inheriting.self, plan: InheritingPlan.self)
    #expect((context != nil) == isFine)
  }

  @Test(arguments: [(3, true), (300, false)])
  func `that does not say the types of its numbers has them looked at`(
    count: Int,
    isFine: Bool
  ) throws {
    let namespace = try TestNamespace()
    func open(_ version: any VersionedSchema.Type) throws -> ModelContext {
      ModelContext(
        try ModelContainer(
          for: Schema(versionedSchema: version),
          configurations: [namespace.configuration]
        )
      )
    }
    do {
      let context = try open(Widest.self)
      context.insert(Widest.Sample(count))
      try context.save()
    }
    let session = try ServerSession(namespace.server.url)
    try session.run(
      "DELETE FROM \(namespace.name)._logstore_meta WHERE key LIKE 'properties.%'"
    )
    let counts = try? open(Narrow.self).fetch(FetchDescriptor<Narrow.Sample>()).map(\.count)
    #expect(counts == (isFine ? [3] : nil))
  }

  @Test func `is not read as narrower numbers`() throws {
    let namespace = try TestNamespace()
    do {
      _ = try ModelContainer(
        for: Schema(versionedSchema: Widest.self),
        configurations: [namespace.configuration]
      )
    }
    let configuration = PostgresStoreConfiguration(
      url: namespace.configuration.url,
      namespace: namespace.name,
      allowsSave: false
    )
    #expect(throws: PostgresStoreError.self) {
      try ModelContainer(
        for: Schema(versionedSchema: Narrow.self),
        configurations: [configuration]
      )
    }
  }
}
