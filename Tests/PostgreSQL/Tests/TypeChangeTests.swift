import Foundation
import ModelRuntime
import PostgresStore
import Testing

// Types of properties that are one type to the server.

private enum Base: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Person.self] }

  @Model final class Item {
    var count: Int = 300
    var ratio: Double = 0.1
    var owner: Person?
    var best: Person?
    var data: Data = Data([1])
    var keeper: Keeper?
    init() {}
  }

  @Model final class Person {
    var name: String
    @Relationship(inverse: \Item.owner) var items: [Item] = []
    init(_ name: String) { self.name = name }
  }

  @Model final class Keeper {
    var name: String = ""
    init() {}
  }
}

private enum Reference: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Person.self] }

  @Model final class Item {
    var count: Person?
    init() {}
  }

  @Model final class Person {
    var name: String
    init(_ name: String) { self.name = name }
  }
}

private enum Number: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self] }

  @Model final class Item {
    var owner: Int = 5
    init() {}
  }
}

private enum Narrow: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self] }

  @Model final class Item {
    var count: Int8 = 0
    init() {}
  }
}

private enum Single: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self] }

  @Model final class Item {
    @Attribute(originalName: "ratio") var share: Float = 0
    init() {}
  }
}

private enum Loose: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Person.self] }

  @Model final class Item {
    var count: Int = 300
    init() {}
  }

  @Model final class Person {
    var name: String
    var items: [Item] = []
    init(_ name: String) { self.name = name }
  }
}

/// What may change: a wider number, a list of the one, and values in another place.
private enum Wider: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Person.self] }

  @Model final class Item {
    var count: Int = 300
    @Relationship(originalName: "best") var friends: [Person] = []
    var keeper: [Keeper] = []
    @Attribute(.externalStorage) var data: Data = Data([2])
    init() {}
  }

  @Model final class Person {
    var name: String
    init(_ name: String) { self.name = name }
  }

  @Model final class Keeper {
    var name: String = ""
    init() {}
  }
}

@Suite struct `A property of another type that the server cannot tell` {
  enum Change: CaseIterable {
    case reference, number, narrow, single, loose

    fileprivate var version: any VersionedSchema.Type {
      switch self {
      case .reference: Reference.self
      case .number: Number.self
      case .narrow: Narrow.self
      case .single: Single.self
      case .loose: Loose.self
      }
    }

    /// What the error says.
    fileprivate var message: String {
      func text(_ property: String, _ stored: String, _ declared: String) -> String {
        "\(property) is stored as \(stored), and the models declare what is stored as \(declared)"
      }
      return switch self {
      case .reference: text("Item.count", "integer", "reference")
      case .number: text("Item.owner", "reference", "integer")
      case .narrow: text("Item.count", "Int", "Int8")
      case .single: text("Item.share", "Double", "Float")
      case .loose: "Person.items is stored as a list with its members"
      }
    }
  }

  private enum Lightweight: SchemaMigrationPlan {
    @TaskLocal static var target: any VersionedSchema.Type = Narrow.self

    static var schemas: [any VersionedSchema.Type] { [Base.self, target] }
    static var stages: [MigrationStage] {
      [.lightweight(fromVersion: Base.self, toVersion: target)]
    }
  }

  private enum Custom: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Base.self, Lightweight.target] }
    static var stages: [MigrationStage] {
      [
        .custom(
          fromVersion: Base.self,
          toVersion: Lightweight.target,
          willMigrate: nil,
          didMigrate: nil
        )
      ]
    }
  }

  private func fill() throws -> StorePlace {
    let place = try StorePlace(.server)
    let context = try place.open(Base.self, plan: nil)
    let people = [Base.Person("ann"), Base.Person("bob")]
    for number in 0..<2 {
      let item = Base.Item()
      context.insert(item)
      (item.owner, item.best) = (people[number], number == 0 ? people[1] : nil)
      item.data = Data([UInt8(number)])
    }
    try context.save()
    return place
  }

  @Test(arguments: Change.allCases)
  func `is refused in a lightweight stage`(change: Change) throws {
    let place = try fill()
    let error = Lightweight.$target.withValue(change.version) {
      #expect(throws: SwiftDataError.self) {
        try place.open(change.version, plan: Lightweight.self)
      }
    }
    let text = "\(error, default: "")"
    #expect(text.contains(change.message))
    let context = try place.open(Base.self, plan: nil)
    let items = try context.fetch(FetchDescriptor<Base.Item>())
    #expect(items.map(\.count) == [300, 300])
    #expect(Set(items.map { $0.owner?.name }) == ["ann", "bob"])
  }

  @Test(arguments: Change.allCases)
  func `is refused without a plan`(change: Change) throws {
    let place = try fill()
    let error = #expect(throws: PostgresStoreError.self) {
      try place.open(change.version, plan: nil)
    }
    #expect("\(error, default: "")".contains(change.message))
  }

  @Test(arguments: Change.allCases)
  func `begins anew in a custom stage`(change: Change) throws {
    let place = try fill()
    let context = try Lightweight.$target.withValue(change.version) {
      try place.open(change.version, plan: Custom.self)
    }
    switch change {
    case .reference:
      #expect(
        try context.fetch(FetchDescriptor<Reference.Item>()).map { $0.count == nil } == [
          true, true,
        ]
      )
    case .number:
      #expect(try context.fetch(FetchDescriptor<Number.Item>()).map(\.owner) == [5, 5])
    case .narrow:
      #expect(try context.fetch(FetchDescriptor<Narrow.Item>()).map(\.count) == [0, 0])
    case .single:
      #expect(try context.fetch(FetchDescriptor<Single.Item>()).map(\.share) == [0, 0])
    case .loose:
      #expect(try context.fetch(FetchDescriptor<Loose.Person>()).map(\.items) == [[], []])
    }
  }

  @Test(arguments: [true, false])
  func `keeps its values where they are values of the other`(isPlanned: Bool) throws {
    let place = try fill()
    let context = try Lightweight.$target.withValue(Wider.self) {
      try place.open(Wider.self, plan: isPlanned ? Lightweight.self : nil)
    }
    let items = try context.fetch(FetchDescriptor<Wider.Item>())
      .sorted { $0.data.lexicographicallyPrecedes($1.data) }
    #expect(items.map(\.data) == [Data([0]), Data([1])])
    #expect(items.map { $0.friends.map(\.name) } == [["bob"], []])
    #expect(items.map { $0.keeper.count } == [0, 0])
    items[1].friends = items[0].friends
    try context.save()
    let found = FetchDescriptor<Wider.Item>(
      predicate: #Predicate { $0.friends.contains { $0.name == "bob" } }
    )
    #expect(try ModelContext(context.container).fetchCount(found) == 2)
  }
}
