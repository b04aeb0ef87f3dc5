import Foundation
import ModelRuntime
import PostgresStore
import Testing

// Names that are given up are given again, in one step or in several, and what hung on the former column has to go with it.

private enum V1: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Item.self, Owner.self] }

  @Model final class Item {
    #Index<Item>([\.note], [\.rank])
    @Attribute(.unique) var code: String
    @Attribute(.preserveValueOnDeletion) var note: String
    var rank: Int
    var owner: Owner?

    init(_ code: String, note: String, rank: Int) {
      (self.code, self.note, self.rank) = (code, note, rank)
    }
  }

  @Model final class Owner {
    @Attribute(.preserveValueOnDeletion) var name: String
    @Relationship(deleteRule: .cascade, inverse: \Item.owner) var items: [Item] = []
    init(_ name: String) { self.name = name }
  }
}

private enum V2: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Item.self, Owner.self] }

  @Model final class Item {
    #Index<Item>([\.note], [\.memo], [\.place], [\.rank])
    @Attribute(.unique, originalName: "code") var serial: String
    @Attribute(.unique) var code: Int?
    @Attribute(.preserveValueOnDeletion, originalName: "note") var memo: String
    @Attribute(.preserveValueOnDeletion) var note: Int = 7
    @Attribute(originalName: "rank") var place: Int
    var rank: Int = 1
    @Relationship(originalName: "owner") var parent: Owner?
    var owner: Owner?

    init(_ serial: String, code: Int?, memo: String, place: Int) {
      (self.serial, self.code, self.memo, self.place) = (serial, code, memo, place)
    }
  }

  @Model final class Owner {
    @Attribute(.preserveValueOnDeletion, originalName: "name") var title: String
    @Relationship(deleteRule: .cascade, originalName: "items", inverse: \Item.parent)
    var children: [Item] = []
    @Relationship(inverse: \Item.owner) var items: [Item] = []
    init(_ title: String) { self.title = title }
  }
}

private enum V3: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(3, 0, 0) }
  static var models: [any PersistentModel.Type] { [Item.self, Owner.self] }

  @Model final class Item {
    #Index<Item>([\.remark], [\.rank])
    @Attribute(.unique, originalName: "serial") var number: String
    @Attribute(originalName: "memo") var remark: String
    @Attribute(originalName: "place") var rank: Int
    @Relationship(originalName: "parent") var keeper: Owner?

    init(_ number: String, remark: String, rank: Int) {
      (self.number, self.remark, self.rank) = (number, remark, rank)
    }
  }

  @Model final class Owner {
    @Attribute(.preserveValueOnDeletion, originalName: "title") var label: String
    @Relationship(deleteRule: .cascade, originalName: "children", inverse: \Item.keeper)
    var kept: [Item] = []
    init(_ label: String) { self.label = label }
  }
}

private enum Plan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self, V3.self] }
  static var stages: [MigrationStage] {
    [
      .lightweight(fromVersion: V1.self, toVersion: V2.self),
      .lightweight(fromVersion: V2.self, toVersion: V3.self),
    ]
  }
}

/// The same way, with code that changes what is renamed then.
private enum CodePlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: V1.self,
        toVersion: V2.self,
        willMigrate: { context in
          for item in try context.fetch(FetchDescriptor<V1.Item>()) { item.note += "!" }
          try context.save()
        },
        didMigrate: { context in
          for item in try context.fetch(FetchDescriptor<V2.Item>()) where item.place == 0 {
            item.note = 8
          }
        }
      )
    ]
  }
}

private typealias Place = StorePlace

extension StorePlace {
  fileprivate func open(_ schema: any VersionedSchema.Type) throws -> ModelContext {
    try open(schema, plan: Plan.self)
  }
}

@Suite struct `Names that are given again` {
  private func fill(_ place: Place) throws {
    let context = try place.open(V1.self)
    let owners = ["one", "two"].map { V1.Owner($0) }
    for owner in owners { context.insert(owner) }
    for number in 0..<6 {
      let item = V1.Item("code \(number)", note: "note \(number)", rank: number * 10)
      context.insert(item)
      owners[number % 2].items.append(item)
    }
    try context.save()
    owners[0].items.reverse()
    owners[0].items[0].note = "changed"
    try context.save()
    context.delete(owners[1].items[2])
    try context.save()
  }

  @Test(arguments: StoreKind.allCases)
  func `come with their values`(kind: StoreKind) throws {
    let place = try Place(kind)
    try fill(place)
    for _ in 0..<2 {
      let context = try place.open(V2.self)
      let items = try context.fetch(FetchDescriptor<V2.Item>(sortBy: [SortDescriptor(\.serial)]))
      #expect(items.map(\.serial) == (0..<5).map { "code \($0)" })
      #expect(items.map(\.code) == Array(repeating: nil, count: 5))
      #expect(items.map(\.memo) == ["note 0", "note 1", "note 2", "note 3", "changed"])
      #expect(items.map(\.note) == Array(repeating: 7, count: 5))
      #expect(items.map(\.place) == [0, 10, 20, 30, 40])
      #expect(items.map(\.rank) == Array(repeating: 1, count: 5))
      let owners = try context.fetch(FetchDescriptor<V2.Owner>(sortBy: [SortDescriptor(\.title)]))
      #expect(owners.map(\.title) == ["one", "two"])
      #expect(
        owners.map { $0.children.map(\.serial) } == [
          ["code 4", "code 2", "code 0"], ["code 1", "code 3"],
        ]
      )
      #expect(owners.map(\.items.count) == [0, 0])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `are unique each for itself`(kind: StoreKind) throws {
    let place = try Place(kind)
    try fill(place)
    let context = try place.open(V2.self)
    context.insert(V2.Item("code 1", code: 5, memo: "again", place: 1))
    context.insert(V2.Item("new", code: 6, memo: "first", place: 1))
    try context.save()
    context.insert(V2.Item("newer", code: 6, memo: "second", place: 1))
    try context.save()
    let items = try ModelContext(context.container).fetch(
      FetchDescriptor<V2.Item>(sortBy: [SortDescriptor(\.serial)])
    )
    #expect(
      items.map(\.serial) == ["code 0", "code 1", "code 2", "code 3", "code 4", "newer"]
    )
    #expect(items.map(\.memo) == ["note 0", "again", "note 2", "note 3", "changed", "second"])
  }

  @Test func `have constraints and indexes of their own`() throws {
    let place = try Place(.server)
    try fill(place)
    _ = try place.open(V2.self)
    let session = try ServerSession(place.namespace.url)
    let indexes = try session.texts(
      "SELECT regexp_replace(indexdef, '^.* USING ', '') FROM pg_indexes WHERE schemaname = '\(place.namespace.name)' "
        + "AND tablename = 'Item' ORDER BY 1"
    )
    #expect(Set(indexes).count == indexes.count)
    func has(_ text: String) -> Bool { indexes.contains { $0.contains(text) } }
    #expect(has("(code)"))
    #expect(has("(serial)"))
    #expect(has("(owner, _rank_owner)"))
    #expect(has("(parent, _rank_parent)"))
    #expect(has("btree (note)"))
    #expect(has("NORMALIZE(memo"))
  }

  @Test(arguments: StoreKind.allCases)
  func `leave the history as it was`(kind: StoreKind) throws {
    let place = try Place(kind)
    try fill(place)
    let context = try place.open(V2.self)
    let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    var updated: [[Bool]] = []
    var remembered: [String?] = []
    for change in history.flatMap(\.changes) {
      switch change {
      case .update(let update as any HistoryUpdate<V2.Item>):
        let attributes = update.updatedAttributes
        updated.append([attributes.contains(\.memo), attributes.contains(\.note)])
      case .delete(let delete as any HistoryDelete<V2.Item>):
        remembered.append(delete.tombstone[\.memo] as? String)
        #expect(delete.tombstone[\.note] == nil)
      default: break
      }
    }
    #expect(updated.contains([true, false]))
    #expect(!updated.contains { $0[1] })
    #expect(remembered == ["note 5"])
  }

  @Test(arguments: StoreKind.allCases)
  func `come over two versions at once`(kind: StoreKind) throws {
    let place = try Place(kind)
    try fill(place)
    let context = try place.open(V3.self)
    let items = try context.fetch(FetchDescriptor<V3.Item>(sortBy: [SortDescriptor(\.number)]))
    #expect(items.map(\.number) == (0..<5).map { "code \($0)" })
    #expect(items.map(\.remark) == ["note 0", "note 1", "note 2", "note 3", "changed"])
    #expect(items.map(\.rank) == [0, 10, 20, 30, 40])
    let owners = try context.fetch(FetchDescriptor<V3.Owner>(sortBy: [SortDescriptor(\.label)]))
    #expect(
      owners.map { $0.kept.map(\.number) } == [
        ["code 4", "code 2", "code 0"], ["code 1", "code 3"],
      ]
    )
    context.delete(owners[0])
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<V3.Item>()) == 2)
  }

  @Test(arguments: StoreKind.allCases)
  func `come one version after the other, without a plan`(kind: StoreKind) throws {
    let place = try Place(kind)
    try fill(place)
    _ = try place.open(V2.self, plan: nil)
    let two = try place.open(V2.self, plan: nil)
    #expect(
      try two.fetchCount(
        FetchDescriptor<V2.Item>(predicate: #Predicate { $0.memo.contains("note") })
      ) == 4
    )
    let context = try place.open(V3.self, plan: nil)
    let items = try context.fetch(FetchDescriptor<V3.Item>(sortBy: [SortDescriptor(\.number)]))
    #expect(items.map(\.remark) == ["note 0", "note 1", "note 2", "note 3", "changed"])
  }

  @Test(arguments: StoreKind.allCases)
  func `are not taken back by an older program`(kind: StoreKind) throws {
    let place = try Place(kind)
    try fill(place)
    _ = try place.open(V3.self)
    for plan in [nil, Plan.self as any SchemaMigrationPlan.Type] {
      for old in [V1.self, V2.self] as [any VersionedSchema.Type] {
        #expect(throws: SwiftDataError.backwardMigration) { try place.open(old, plan: plan) }
      }
    }
  }

  @Test func `are told by their new names of what the code of a stage has saved`() throws {
    let place = try Place(.server)
    try fill(place)
    let context = try place.open(V2.self, plan: CodePlan.self)
    let items = try context.fetch(FetchDescriptor<V2.Item>(sortBy: [SortDescriptor(\.serial)]))
    #expect(items.map(\.memo) == ["note 0!", "note 1!", "note 2!", "note 3!", "changed!"])
    #expect(items.map(\.note) == [8, 7, 7, 7, 7])
    let last = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last
    let updates = (last?.changes ?? []).compactMap { change -> (any HistoryUpdate<V2.Item>)? in
      if case .update(let update as any HistoryUpdate<V2.Item>) = change { update } else { nil }
    }
    #expect(updates.count { $0.updatedAttributes.contains(\.memo) } == 5)
    #expect(updates.count { $0.updatedAttributes.contains(\.note) } == 1)
  }

  @Test func `go along to a log`() throws {
    let place = try Place(.server)
    try fill(place)
    _ = try place.open(V2.self)
    let process = Process()
    process.executableURL = URL(filePath: CommandLine.arguments[0])
      .deletingLastPathComponent().appending(path: "logstore-inspect")
    let target = place.folder.appending(path: "a.store").path
    try FileManager.default.createDirectory(
      at: place.folder,
      withIntermediateDirectories: true
    )
    process.arguments = [
      "move", place.namespace.url, target, "--namespace", place.namespace.name,
    ]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let log = try Place(.log, in: place.folder)
    let context = try log.open(V2.self)
    let items = try context.fetch(FetchDescriptor<V2.Item>(sortBy: [SortDescriptor(\.serial)]))
    #expect(items.map(\.memo) == ["note 0", "note 1", "note 2", "note 3", "changed"])
    #expect(items.map(\.note) == Array(repeating: 7, count: 5))
    #expect(items.map { $0.parent?.title } == ["one", "two", "one", "two", "one"])
    let next = try log.open(V3.self)
    let renamed = try next.fetch(FetchDescriptor<V3.Item>(sortBy: [SortDescriptor(\.number)]))
    #expect(renamed.map(\.remark) == ["note 0", "note 1", "note 2", "note 3", "changed"])
  }

  @Test func `are kept where programs of both versions start at once`() async throws {
    let place = try Place(.server)
    try fill(place)
    let configuration = place.namespace.configuration
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          let schema: any VersionedSchema.Type = number % 2 == 0 ? V1.self : V3.self
          do {
            _ = try ModelContainer(
              for: Schema(versionedSchema: schema),
              migrationPlan: Plan.self,
              configurations: [configuration]
            )
          } catch {
            #expect(error as? SwiftDataError == .backwardMigration)
            #expect(number % 2 == 0)
          }
        }
      }
    }
    let context = try place.open(V3.self)
    let items = try context.fetch(FetchDescriptor<V3.Item>(sortBy: [SortDescriptor(\.number)]))
    #expect(items.map(\.remark) == ["note 0", "note 1", "note 2", "note 3", "changed"])
  }

  @Test func `come once where a fleet starts at once`() async throws {
    let place = try Place(.server)
    try fill(place)
    let configuration = place.namespace.configuration
    try await withThrowingTaskGroup(of: [String].self) { group in
      for _ in 0..<8 {
        group.addTask {
          let container = try ModelContainer(
            for: Schema(versionedSchema: V3.self),
            migrationPlan: Plan.self,
            configurations: [configuration]
          )
          return try ModelContext(container).fetch(
            FetchDescriptor<V3.Item>(sortBy: [SortDescriptor(\.number)])
          ).map(\.remark)
        }
      }
      for try await remarks in group {
        #expect(remarks == ["note 0", "note 1", "note 2", "note 3", "changed"])
      }
    }
  }
}
