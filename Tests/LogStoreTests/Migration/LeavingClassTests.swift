import Foundation
import LogStore
import SwiftData
import Testing

private enum Together: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] {
    [Animal.self, Dog.self, Cat.self, Keeper.self]
  }

  @Model class Animal {
    var name: String
    var keeper: Keeper?
    init(_ name: String) { self.name = name }
  }
  @Model class Dog: Animal {
    var breed: String = "none"
    override init(_ name: String) { super.init(name) }
  }
  @Model class Cat: Animal {
    var lives: Int = 9
    override init(_ name: String) { super.init(name) }
  }
  @Model class Keeper {
    var name: String
    @Relationship(inverse: \Animal.keeper) var pets: [Animal] = []
    var favourite: Animal?
    var liked: [Animal] = []
    init(_ name: String) { self.name = name }
  }
}

/// A cat is no animal.
private enum Apart: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] {
    [Animal.self, Dog.self, Cat.self, Keeper.self]
  }

  @Model class Animal {
    var name: String
    var keeper: Keeper?
    init(_ name: String) { self.name = name }
  }
  @Model class Dog: Animal {
    var breed: String = "none"
    override init(_ name: String) { super.init(name) }
  }
  @Model class Cat {
    var name: String
    var lives: Int = 9
    init(_ name: String) { self.name = name }
  }
  @Model class Keeper {
    var name: String
    @Relationship(inverse: \Animal.keeper) var pets: [Animal] = []
    var favourite: Animal?
    var liked: [Animal] = []
    init(_ name: String) { self.name = name }
  }
}

private enum PartingPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Together.self, Apart.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: Together.self,
        toVersion: Apart.self,
        willMigrate: nil,
        didMigrate: { context in
          for keeper in try context.fetch(FetchDescriptor<Apart.Keeper>()) {
            keeper.name += " \(keeper.liked.count)"
          }
        }
      )
    ]
  }
}

@Suite struct `A class that leaves a hierarchy in a custom stage` {
  @Test(arguments: [true, false])
  func `takes itself alone out of relationships to the superclass`(compacts: Bool) throws {
    let folder = try TemporaryFolder()
    func open(_ version: any VersionedSchema.Type) throws -> ModelContainer {
      let schema = Schema(versionedSchema: version)
      return try ModelContainer(
        for: schema,
        migrationPlan: PartingPlan.self,
        configurations: LogStoreConfiguration(
          schema: schema,
          url: folder.url.appending(path: "animals.store")
        )
      )
    }
    do {
      let container = try open(Together.self)
      let context = ModelContext(container)
      for number in 0..<2 {
        let keeper = Together.Keeper("k\(number)")
        let dog = Together.Dog("d\(number)")
        let cat = Together.Cat("c\(number)")
        context.insert(keeper)
        context.insert(dog)
        context.insert(cat)
        keeper.pets = [cat, dog]
        keeper.liked = [cat, dog, cat]
        keeper.favourite = number == 0 ? cat : dog
      }
      try context.save()
      if compacts { for store in container.stores(of: LogStore.self) { _ = try store.compact() } }
    }
    for _ in 0..<2 {
      let context = ModelContext(try open(Apart.self))
      let keepers = try context.fetch(FetchDescriptor<Apart.Keeper>(sortBy: [.init(\.name)]))
      #expect(keepers.map(\.name) == ["k0 1", "k1 1"])
      #expect(keepers.map { $0.pets.map(\.name) } == [["d0"], ["d1"]])
      #expect(keepers.map { $0.liked.map(\.name) } == [["d0"], ["d1"]])
      #expect(keepers.map { $0.favourite?.name } == [nil, "d1"])
      #expect(try context.fetchCount(FetchDescriptor<Apart.Cat>()) == 2)
      let favoured = try context.fetchCount(
        FetchDescriptor<Apart.Keeper>(predicate: #Predicate { $0.favourite != nil })
      )
      #expect(favoured == 1)
    }
  }
}
