import Foundation
import LogEngine
import LogStore
import SwiftData
import Testing

// The inverse of a relationship becomes another property when there are rows already.

private enum Before {
  @Model final class Post {
    var title = ""
    var tags: [Tag] = []
    init(_ title: String) { self.title = title }
  }
  @Model final class Tag {
    var name = ""
    var posts: [Post] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Person {
    var name = ""
    var pets: [Pet] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Pet {
    var name = ""
    var owner: Person?
    init(_ name: String) { self.name = name }
  }
  @Model final class Left {
    var name = ""
    @Relationship(inverse: \Right.left) var right: Right?
    init(_ name: String) { self.name = name }
  }
  @Model final class Right {
    var name = ""
    var left: Left?
    init(_ name: String) { self.name = name }
  }
  static let models: [any PersistentModel.Type] = [
    Post.self, Tag.self, Person.self, Pet.self, Left.self, Right.self,
  ]
}

private enum After {
  @Model final class Post {
    var title = ""
    var tags: [Tag] = []
    init() {}
  }
  @Model final class Tag {
    var name = ""
    var articles: [Post] = []
    init() {}
  }
  @Model final class Person {
    var name = ""
    var pet: Pet?
    init() {}
  }
  @Model final class Pet {
    var name = ""
    var owner: Person?
    init() {}
  }
  @Model final class Left {
    var name = ""
    @Relationship(inverse: \Right.other) var right: Right?
    init() {}
  }
  @Model final class Right {
    var name = ""
    var other: Left?
    init() {}
  }
  static let models: [any PersistentModel.Type] = [
    Post.self, Tag.self, Person.self, Pet.self, Left.self, Right.self,
  ]
}

@Suite struct `The inverse of a relationship that becomes another property` {
  private let folder: TemporaryFolder
  private var url: URL { folder.url.appending(path: "store") }

  init() throws {
    folder = try TemporaryFolder()
    let context = try open(Before.models)
    let post = Before.Post("post")
    context.insert(post)
    post.tags = [Before.Tag("a"), Before.Tag("b")]
    let person = Before.Person("p")
    context.insert(person)
    person.pets = [Before.Pet("x"), Before.Pet("y"), Before.Pet("z")]
    let left = Before.Left("l")
    context.insert(left)
    left.right = Before.Right("r")
    try context.save()
  }

  private func open(_ models: [any PersistentModel.Type]) throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Schema(models),
        configurations: [LogStoreConfiguration(url: url)]
      )
    )
  }

  /// Makes the store one of an older library, which did not say which property the inverse was.
  private func forgetInverses() throws {
    let engine = try StorageEngine.open(at: url.path)
    let keys = engine.catalogue.metadata.keys.filter {
      $0.hasPrefix("inverse.") && $0.hasSuffix(".of")
    }
    #expect(!keys.isEmpty)
    try engine.apply(keys.map { .setMetadata(key: $0, value: []) })
    try engine.close()
  }

  @Test(arguments: [false, true]) func `agrees with it, be it a list`(isOlder: Bool) throws {
    if isOlder { try forgetInverses() }
    for _ in 0..<2 {
      let context = try open(After.models)
      let tags = try context.fetch(FetchDescriptor<After.Tag>(sortBy: [SortDescriptor(\.name)]))
      #expect(tags.map { $0.articles.map(\.title) } == [["post"], ["post"]])
      #expect(try context.container.storeInvariantViolations() == [])
    }
    let context = try open(After.models)
    for tag in try context.fetch(FetchDescriptor<After.Tag>()) where tag.name == "a" {
      context.delete(tag)
    }
    try context.save()
    let fresh = ModelContext(context.container)
    #expect(try fresh.fetch(FetchDescriptor<After.Post>()).map { $0.tags.map(\.name) } == [["b"]])
  }

  @Test(arguments: [false, true]) func `agrees with it, be it a model`(isOlder: Bool) throws {
    if isOlder { try forgetInverses() }
    for _ in 0..<2 {
      let context = try open(After.models)
      let left = try #require(try context.fetch(FetchDescriptor<After.Left>()).first)
      let right = try #require(try context.fetch(FetchDescriptor<After.Right>()).first)
      #expect(left.right === right)
      #expect(right.other === left)
      let person = try #require(try context.fetch(FetchDescriptor<After.Person>()).first)
      let pets = try context.fetch(FetchDescriptor<After.Pet>())
      #expect(pets.count { $0.owner != nil } == 1)
      #expect(person.pet?.owner === person)
      let without = FetchDescriptor<After.Person>(predicate: #Predicate { $0.pet == nil })
      #expect(try context.fetchCount(without) == 0)
      #expect(try context.container.storeInvariantViolations() == [])
    }
  }
}

// A relationship leads to a superclass, whose column has the number that the subclass's had.

private enum DogsOwners {
  @Model class Animal {
    var name = ""
    init(_ name: String) { self.name = name }
  }
  @Model final class Dog: Animal {
    var owners: [Owner] = []
    override init(_ name: String) { super.init(name) }
  }
  @Model final class Owner {
    var name = ""
    @Relationship(inverse: \Dog.owners) var dogs: [Dog] = []
    init(_ name: String) { self.name = name }
  }
}

private enum AnimalsKeepers {
  @Model class Animal {
    var name = ""
    var keepers: [Owner] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Dog: Animal {
    override init(_ name: String) { super.init(name) }
  }
  @Model final class Owner {
    var name = ""
    @Relationship(inverse: \Animal.keepers) var dogs: [Animal] = []
    init(_ name: String) { self.name = name }
  }
}

@Suite struct `A relationship that comes to lead to a superclass` {
  @Test func `agrees with the inverse there`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "store")
    do {
      let context = ModelContext(
        try ModelContainer(
          for: DogsOwners.Animal.self,
          DogsOwners.Dog.self,
          DogsOwners.Owner.self,
          configurations: LogStoreConfiguration(url: url)
        )
      )
      let owner = DogsOwners.Owner("o")
      context.insert(owner)
      owner.dogs = [DogsOwners.Dog("rex")]
      try context.save()
    }
    let context = ModelContext(
      try ModelContainer(
        for: AnimalsKeepers.Animal.self,
        AnimalsKeepers.Dog.self,
        AnimalsKeepers.Owner.self,
        configurations: LogStoreConfiguration(url: url)
      )
    )
    let dogs = try context.fetch(FetchDescriptor<AnimalsKeepers.Dog>())
    #expect(dogs.map { $0.keepers.map(\.name) } == [["o"]])
    #expect(try context.container.storeInvariantViolations() == [])
  }
}

// An inverse becomes another property while the schema lacks an entity whose rows are referred to.

private enum KnownDogs {
  @Model class Animal {
    var name = ""
    var friends: [Owner] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Dog: Animal {
    override init(_ name: String) { super.init(name) }
  }
  @Model final class Owner {
    var name = ""
    @Relationship(inverse: \Animal.friends) var known: [Animal] = []
    init(_ name: String) { self.name = name }
  }
}

private enum HiddenDogs {
  @Model class Animal {
    var name = ""
    var companions: [Owner] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Owner {
    var name = ""
    @Relationship(inverse: \Animal.companions) var known: [Animal] = []
    init(_ name: String) { self.name = name }
  }
}

private enum DogsAgain {
  @Model class Animal {
    var name = ""
    var companions: [Owner] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Dog: Animal {
    override init(_ name: String) { super.init(name) }
  }
  @Model final class Owner {
    var name = ""
    @Relationship(inverse: \Animal.companions) var known: [Animal] = []
    init(_ name: String) { self.name = name }
  }
}

@Suite struct `An inverse that becomes another while a subclass is hidden` {
  @Test func `forgets none of its rows`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "store")
    func open(_ models: [any PersistentModel.Type]) throws -> ModelContext {
      ModelContext(
        try ModelContainer(
          for: Schema(models),
          configurations: [LogStoreConfiguration(url: url)]
        )
      )
    }
    do {
      let context = try open([KnownDogs.Animal.self, KnownDogs.Dog.self, KnownDogs.Owner.self])
      let owner = KnownDogs.Owner("o")
      context.insert(owner)
      owner.known = [KnownDogs.Animal("cat"), KnownDogs.Dog("rex")]
      try context.save()
    }
    do {
      let context = try open([HiddenDogs.Animal.self, HiddenDogs.Owner.self])
      let owner = try #require(try context.fetch(FetchDescriptor<HiddenDogs.Owner>()).first)
      #expect(owner.known.map(\.name) == ["cat"])
      #expect(owner.known.map { $0.companions.map(\.name) } == [["o"]])
    }
    let context = try open([DogsAgain.Animal.self, DogsAgain.Dog.self, DogsAgain.Owner.self])
    let owner = try #require(try context.fetch(FetchDescriptor<DogsAgain.Owner>()).first)
    #expect(owner.known.map(\.name) == ["cat", "rex"])
  }
}
