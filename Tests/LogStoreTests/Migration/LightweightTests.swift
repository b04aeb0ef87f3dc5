import Foundation
import LogEngine
import LogStore
import SwiftData
import Synchronization
import Testing

// Each kind of change that a lightweight stage makes, and each that it refuses.

private enum Before: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Tag.self, Gone.self] }

  @Model final class Item {
    var title: String
    var a: Int
    var b: Int
    var note: String?
    var count: Int32
    var dropped: String
    @Relationship(inverse: \Tag.item) var tags: [Tag] = []
    var friend: Friend?
    init(_ number: Int) {
      title = "item \(number)"
      a = number
      b = -number
      note = number % 2 == 0 ? nil : "note \(number)"
      count = Int32(number)
      dropped = "x"
    }
  }
  @Model final class Tag {
    var name: String
    var item: Item?
    init(name: String) { self.name = name }
  }
  @Model final class Friend {
    var name: String
    init(name: String) { self.name = name }
  }
  @Model final class Gone {
    var value: Int
    init(value: Int) { self.value = value }
  }
}

private enum After: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Tag.self, Special.self, New.self] }

  @Model class Item {
    // Two properties that exchange their names.
    @Attribute(originalName: "b") var a: Int
    @Attribute(originalName: "a") var b: Int
    @Attribute(originalName: "title") var name: String
    var note: String = "none"
    var count: Int
    var added: Int = 7
    var optional: Double?
    @Relationship(inverse: \Tag.owner) var tags: [Tag] = []
    @Relationship(originalName: "friend") var friends: [Friend] = []
    var best: Friend?
    init() {
      a = 0
      b = 0
      name = ""
      count = 0
    }
  }
  @Model final class Special: Item {
    var extra: String = "special"
    override init() { super.init() }
  }
  @Model final class Tag {
    var name: String
    @Relationship(originalName: "item") var owner: Item?
    init(name: String) { self.name = name }
  }
  @Model final class Friend {
    var name: String
    init(name: String) { self.name = name }
  }
  @Model final class New {
    var value: Int
    init(value: Int) { self.value = value }
  }
}

/// What was given another column, and dropped then.
private enum Without: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self] }

  @Model final class Item {
    @Attribute(originalName: "title") var name: String
    init(name: String) { self.name = name }
  }
}

/// What was dropped comes back, and the default of what was added is another.
private enum Later: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Gone.self] }

  @Model final class Item {
    @Attribute(originalName: "title") var name: String
    var note: String?
    var added: Int = 8
    var dropped: String = "new"
    init(name: String) { self.name = name }
  }
  @Model final class Gone {
    var value: Int
    init(value: Int) { self.value = value }
  }
}

private enum Plan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Before.self, After.self, Later.self] }
  static var stages: [MigrationStage] {
    [
      .lightweight(fromVersion: Before.self, toVersion: After.self),
      .lightweight(fromVersion: After.self, toVersion: Later.self),
    ]
  }
}

@Suite struct `A lightweight stage` {
  private let folder: TemporaryFolder
  private var url: URL { folder.url.appending(path: "items.store") }

  init() throws {
    folder = try TemporaryFolder()
    let context = try open(Before.self, nil)
    for number in 1...4 {
      let item = Before.Item(number)
      context.insert(item)
      item.tags = ["one", "two"].map { Before.Tag(name: "\($0) \(number)") }
      if number == 1 { item.friend = Before.Friend(name: "friend") }
    }
    context.insert(Before.Gone(value: 1))
    try context.save()
  }

  private func open(
    _ version: any VersionedSchema.Type,
    _ plan: (any SchemaMigrationPlan.Type)? = Plan.self
  ) throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: version),
        migrationPlan: plan,
        configurations: [LogStoreConfiguration(url: url)]
      )
    )
  }

  private func byteCount() throws -> (log: Int, commits: UInt64) {
    let engine = try StorageEngine.open(at: url.path)
    defer { try? engine.close() }
    return (engine.statistics().logByteCount, engine.lastCommit.rawValue)
  }

  @Test func `adds, removes and renames, and reads what there was in the new shape`() throws {
    let context = try open(After.self)
    let items = try context.fetch(FetchDescriptor<After.Item>(sortBy: [SortDescriptor(\.name)]))
    #expect(items.map(\.name) == ["item 1", "item 2", "item 3", "item 4"])
    #expect(items.map(\.a) == [-1, -2, -3, -4])
    #expect(items.map(\.b) == [1, 2, 3, 4])
    #expect(items.map(\.count) == [1, 2, 3, 4])
    #expect(items.map(\.added) == [7, 7, 7, 7])
    #expect(items.map(\.optional) == [nil, nil, nil, nil])
    #expect(items[0].tags.map(\.name) == ["one 1", "two 1"])
    #expect(items[3].tags.first?.owner === items[3])
    // Where there was one there is a list of one.
    #expect(items[0].friends.map(\.name) == ["friend"])
    #expect(items[1].friends.isEmpty)
    #expect(items[0].best == nil)
    #expect(try context.fetchCount(FetchDescriptor<After.New>()) == 0)
    #expect(try context.fetchCount(FetchDescriptor<After.Special>()) == 0)
  }

  @Test func `gives what may not be nil any more its default, and finds it`() throws {
    let descriptor = FetchDescriptor<After.Item>(
      predicate: #Predicate { $0.note == "none" },
      sortBy: [SortDescriptor(\.name)]
    )
    try {
      let context = try open(After.self)
      #expect(try context.fetch(descriptor).map(\.name) == ["item 2", "item 4"])
    }()
    let again = try open(After.self)
    #expect(try again.fetchCount(descriptor) == 2)
    #expect(try again.fetch(descriptor).map(\.note) == ["none", "none"])
  }

  @Test
  func
    `lets nothing come back that an earlier one dropped, and changes no value for a new default`()
    throws
  {
    _ = try open(After.self)
    let descriptor = FetchDescriptor<Later.Item>(sortBy: [SortDescriptor(\.name)])
    try {
      let context = try open(Later.self)
      let items = try context.fetch(descriptor)
      #expect(items.map(\.dropped) == ["new", "new", "new", "new"])
      // Seven was the default when the property came.
      #expect(items.map(\.added) == [7, 7, 7, 7])
      #expect(items.map(\.note) == ["note 1", "none", "note 3", "none"])
      #expect(try context.fetchCount(FetchDescriptor<Later.Gone>()) == 0)
      items[0].note = nil
      context.insert(Later.Item(name: "item 5"))
      try context.save()
    }()
    let again = try open(Later.self)
    let notes = try again.fetch(descriptor)
    #expect(notes.map(\.note) == [nil, "none", "note 3", "none", nil])
    #expect(notes.map(\.added) == [7, 7, 7, 7, 8])
  }

  @Test func `lets nothing come back of a property that had two columns`() throws {
    enum Again: VersionedSchema {
      static let versionIdentifier = Schema.Version(4, 0, 0)
      static var models: [any PersistentModel.Type] { Later.models }
    }
    enum Long: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] {
        [Before.self, After.self, Without.self, Again.self]
      }
      static var stages: [MigrationStage] {
        [
          .lightweight(fromVersion: Before.self, toVersion: After.self),
          .lightweight(fromVersion: After.self, toVersion: Without.self),
          .lightweight(fromVersion: Without.self, toVersion: Again.self),
        ]
      }
    }
    let context = try open(Again.self, Long.self)
    let items = try context.fetch(FetchDescriptor<Later.Item>(sortBy: [SortDescriptor(\.name)]))
    #expect(items.map(\.name) == ["item 1", "item 2", "item 3", "item 4"])
    #expect(items.map(\.note) == [nil, nil, nil, nil])
    #expect(items.map(\.added) == [8, 8, 8, 8])
  }

  @Test func `or several of them are one commit of some hundred bytes`() throws {
    let before = try byteCount()
    _ = try open(Later.self)
    let after = try byteCount()
    #expect(after.commits == before.commits + 1)
    #expect(after.log - before.log < 4096)
  }

  @Test func `reads compacted rows in the new shape, too`() throws {
    try {
      let engine = try StorageEngine.open(at: url.path)
      try engine.compact()
      try engine.close()
    }()
    let context = try open(Later.self)
    let items = try context.fetch(FetchDescriptor<Later.Item>(sortBy: [SortDescriptor(\.name)]))
    #expect(items.map(\.note) == ["note 1", "none", "note 3", "none"])
    #expect(items.map(\.added) == [7, 7, 7, 7])
  }

  @Test func `refuses another type, and says which property, what there is, and what to do`() throws
  {
    enum Narrow: VersionedSchema {
      static let versionIdentifier = Schema.Version(2, 0, 0)
      static var models: [any PersistentModel.Type] { [NarrowModels.Item.self] }
    }
    enum Other: VersionedSchema {
      static let versionIdentifier = Schema.Version(2, 0, 0)
      static var models: [any PersistentModel.Type] { [OtherModels.Item.self] }
    }
    enum ToNarrow: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [Before.self, Narrow.self] }
      static var stages: [MigrationStage] {
        [.lightweight(fromVersion: Before.self, toVersion: Narrow.self)]
      }
    }
    enum ToOther: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [Before.self, Other.self] }
      static var stages: [MigrationStage] {
        [.lightweight(fromVersion: Before.self, toVersion: Other.self)]
      }
    }
    let narrow = #expect(throws: SwiftDataError.self) { try open(Narrow.self, ToNarrow.self) }
    #expect(
      "\(narrow, default: "")".contains(
        "Item.a: the store holds Int values, the model declares Int8"
      )
    )
    let other = #expect(throws: SwiftDataError.self) { try open(Other.self, ToOther.self) }
    #expect(
      "\(other, default: "")".contains(
        "Item.a: the store holds integer values, the model declares text"
      )
    )
    #expect("\(other, default: "")".contains("custom stage"))
    #expect(try open(Before.self).fetchCount(FetchDescriptor<Before.Item>()) == 4)
  }

  @Test func `refuses a list that others tell of, and keeps it`() throws {
    enum Loose: VersionedSchema {
      static let versionIdentifier = Schema.Version(2, 0, 0)
      static var models: [any PersistentModel.Type] { [LooseModels.Item.self] }
    }
    enum ToLoose: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [Before.self, Loose.self] }
      static var stages: [MigrationStage] {
        [.lightweight(fromVersion: Before.self, toVersion: Loose.self)]
      }
    }
    let error = #expect(throws: SwiftDataError.self) { try open(Loose.self, ToLoose.self) }
    #expect(
      "\(error, default: "")".contains(
        "Item.tags: the store keeps the list with its members, in item, the model with its owner"
      )
    )
    let context = try open(Before.self)
    #expect(try context.fetch(FetchDescriptor<Before.Item>()).map(\.tags.count) == [2, 2, 2, 2])
  }

  @Test func `that is custom hands a list over that others tell of`() throws {
    enum Loose: VersionedSchema {
      static let versionIdentifier = Schema.Version(2, 0, 0)
      static var models: [any PersistentModel.Type] { [LooseModels.Item.self] }
    }
    enum ToLoose: SchemaMigrationPlan {
      static let tags = Mutex<[PersistentIdentifier: [PersistentIdentifier]]>([:])
      static var schemas: [any VersionedSchema.Type] { [Before.self, Loose.self] }
      static var stages: [MigrationStage] {
        [
          .custom(
            fromVersion: Before.self,
            toVersion: Loose.self,
            willMigrate: { context in
              for item in try context.fetch(FetchDescriptor<Before.Item>()) {
                let members = item.tags.map(\.persistentModelID)
                tags.withLock { $0[item.persistentModelID] = members }
              }
            },
            didMigrate: { context in
              let found = try context.fetch(FetchDescriptor<LooseModels.Tag>())
              let byID = Dictionary(uniqueKeysWithValues: found.map { ($0.persistentModelID, $0) })
              for item in try context.fetch(FetchDescriptor<LooseModels.Item>()) {
                let members = tags.withLock { $0[item.persistentModelID] ?? [] }
                item.tags = members.compactMap { byID[$0] }
              }
            }
          )
        ]
      }
    }
    _ = try open(Loose.self, ToLoose.self)
    let context = try open(Loose.self, ToLoose.self)
    let items = try context.fetch(
      FetchDescriptor<LooseModels.Item>(sortBy: [SortDescriptor(\.title)])
    )
    #expect(items[0].tags.map(\.name) == ["one 1", "two 1"])
    #expect(items[3].tags.map(\.name) == ["one 4", "two 4"])
  }

  @Test func `that is custom may change a type, its values handed over in a variable`() throws {
    enum Other: VersionedSchema {
      static let versionIdentifier = Schema.Version(2, 0, 0)
      static var models: [any PersistentModel.Type] { [OtherModels.Item.self] }
    }
    enum ToOther: SchemaMigrationPlan {
      static let values = Mutex<[PersistentIdentifier: Int]>([:])
      static var schemas: [any VersionedSchema.Type] { [Before.self, Other.self] }
      static var stages: [MigrationStage] {
        [
          .custom(
            fromVersion: Before.self,
            toVersion: Other.self,
            willMigrate: { context in
              let items = try context.fetch(FetchDescriptor<Before.Item>())
              values.withLock { values in
                for item in items { values[item.persistentModelID] = item.a }
              }
            },
            didMigrate: { context in
              for item in try context.fetch(FetchDescriptor<OtherModels.Item>()) {
                item.a = values.withLock { "number \($0[item.persistentModelID] ?? 0)" }
              }
              try context.save()
            }
          )
        ]
      }
    }
    let context = try open(Other.self, ToOther.self)
    let items = try context.fetch(FetchDescriptor<OtherModels.Item>())
    #expect(items.map(\.a).sorted() == ["number 1", "number 2", "number 3", "number 4"])
  }
}

private enum NarrowModels {
  @Model final class Item {
    var a: Int8
    init(a: Int8) { self.a = a }
  }
}

private enum OtherModels {
  @Model final class Item {
    var a: String
    init(a: String) { self.a = a }
  }
}

private enum LooseModels {
  @Model final class Item {
    var title: String
    var tags: [Tag] = []
    init(title: String) { self.title = title }
  }
  @Model final class Tag {
    var name: String
    init(name: String) { self.name = name }
  }
}
