import Foundation
import JSONStore
import LogStore
import SwiftData
import Testing

// Versions that take classes of the one before over, and define classes anew that these lead to.

private enum Kept: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] {
    [Owner.self, Thing.self, Tag.self, Paper.self, Desk.self]
  }

  @Model final class Owner {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Thing.owner) var things: [Thing] = []
    @Relationship(inverse: \Tag.owners) var tags: [Tag] = []
    var desk: Desk?
    var papers: [Paper] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Thing {
    var name: String
    var owner: Owner?
    var maker: Owner?
    init(_ name: String, _ owner: Owner?) {
      self.name = name
      self.owner = owner
    }
  }
  @Model final class Tag {
    var name: String
    var owners: [Owner] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Paper {
    var title: String
    @Relationship(inverse: \Owner.papers) var reader: Owner?
    init(_ title: String, _ reader: Owner?) {
      self.title = title
      self.reader = reader
    }
  }
  @Model final class Desk {
    var number: Int
    @Relationship(inverse: \Owner.desk) var owner: Owner?
    init(_ number: Int) { self.number = number }
  }
}

/// Defines the owner anew, and takes over the classes that lead to it.
private enum Mixed: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] {
    [Owner.self, Thing.self, Tag.self, Paper.self, Desk.self]
  }
  typealias Thing = Kept.Thing
  typealias Tag = Kept.Tag
  typealias Paper = Kept.Paper
  typealias Desk = Kept.Desk

  @Model final class Owner {
    // The properties have other ordinals than in the first version.
    var note: String = "new"
    var papers: [Paper] = []
    @Relationship(inverse: \Mixed.Tag.owners) var tags: [Tag] = []
    var name: String
    var desk: Desk?
    @Relationship(deleteRule: .cascade, inverse: \Mixed.Thing.owner) var things: [Thing] = []
    init(_ name: String) { self.name = name }
  }
}

private enum Anew: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] {
    [Owner.self, Thing.self, Tag.self, Paper.self, Desk.self]
  }

  @Model final class Owner {
    var name: String
    var note: String = "new"
    @Relationship(deleteRule: .cascade, inverse: \Thing.owner) var things: [Thing] = []
    @Relationship(inverse: \Tag.owners) var tags: [Tag] = []
    var desk: Desk?
    var papers: [Paper] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Thing {
    var name: String
    var owner: Owner?
    var maker: Owner?
    init(_ name: String) { self.name = name }
  }
  @Model final class Tag {
    var name: String
    var owners: [Owner] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Paper {
    var title: String
    @Relationship(inverse: \Owner.papers) var reader: Owner?
    init(_ title: String) { self.title = title }
  }
  @Model final class Desk {
    var number: Int
    @Relationship(inverse: \Owner.desk) var owner: Owner?
    init(_ number: Int) { self.number = number }
  }
}

/// Defines the things anew, and takes over the owner, whose lists lead to them.
private enum OtherMembers: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] {
    [Owner.self, Thing.self, Tag.self, Paper.self, Desk.self]
  }
  typealias Owner = Kept.Owner
  typealias Tag = Kept.Tag
  typealias Paper = Kept.Paper
  typealias Desk = Kept.Desk

  @Model final class Thing {
    var weight: Int = 1
    var maker: Owner?
    var name: String
    var owner: Owner?
    init(_ name: String) { self.name = name }
  }
}

private enum Plan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Kept.self, Mixed.self, Anew.self] }
  static var stages: [MigrationStage] {
    [
      .lightweight(fromVersion: Kept.self, toVersion: Mixed.self),
      .lightweight(fromVersion: Mixed.self, toVersion: Anew.self),
    ]
  }
}

private enum CodePlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Kept.self, Mixed.self, Anew.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: Kept.self,
        toVersion: Mixed.self,
        willMigrate: nil,
        didMigrate: { context in
          let a = try #require(
            try context.fetch(
              FetchDescriptor<Mixed.Owner>(predicate: #Predicate { $0.name == "a" })
            )
            .first
          )
          a.note = a.things.map(\.name).joined()
          let thing = Mixed.Thing("added", nil)
          a.things.append(thing)
          let c = Mixed.Owner("c")
          let moved = try #require(a.things.first { $0.name == "2" })
          c.things = [moved]
          #expect(a.things.map(\.name) == ["1", "added"])
        }
      ),
      .custom(
        fromVersion: Mixed.self,
        toVersion: Anew.self,
        willMigrate: { context in
          for owner in try context.fetch(FetchDescriptor<Mixed.Owner>()) where owner.name == "b" {
            context.delete(owner)
          }
        },
        didMigrate: nil
      ),
    ]
  }
}

private enum MembersPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Kept.self, OtherMembers.self, Anew.self] }
  static var stages: [MigrationStage] {
    [
      .lightweight(fromVersion: Kept.self, toVersion: OtherMembers.self),
      .lightweight(fromVersion: OtherMembers.self, toVersion: Anew.self),
    ]
  }
}

@Suite struct `Versions that share classes which lead to classes they define anew` {
  private let folder: TemporaryFolder
  private var url: URL { folder.url.appending(path: "shared.store") }

  init() throws { folder = try TemporaryFolder() }

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

  /// Rows of the first version: a with things, tags, a desk and a paper, and b with a tag and a thing.
  private func fill() throws -> Set<PersistentIdentifier> {
    let context = try open(Kept.self)
    let (a, b) = (Kept.Owner("a"), Kept.Owner("b"))
    for owner in [a, b] { context.insert(owner) }
    a.things = [Kept.Thing("1", a), Kept.Thing("2", a)]
    b.things = [Kept.Thing("3", b)]
    a.things[0].maker = b
    let tags = [Kept.Tag("x"), Kept.Tag("y")]
    a.tags = tags
    b.tags = [tags[1]]
    a.desk = Kept.Desk(1)
    a.papers = [Kept.Paper("p", a)]
    try context.save()
    return Set([a.persistentModelID, b.persistentModelID])
  }

  private func newest(_ context: ModelContext) throws -> [Anew.Owner] {
    try context.fetch(FetchDescriptor<Anew.Owner>(sortBy: [SortDescriptor(\.name)]))
  }

  private func checkAsFilled(_ context: ModelContext, _ identifiers: Set<PersistentIdentifier>)
    throws
  {
    let owners = try newest(context)
    try #require(owners.map(\.name) == ["a", "b"])
    #expect(Set(owners.map(\.persistentModelID)) == identifiers)
    #expect(owners.map(\.note) == ["new", "new"])
    #expect(owners.map { $0.things.map(\.name) } == [["1", "2"], ["3"]])
    #expect(owners.map { $0.tags.map(\.name) } == [["x", "y"], ["y"]])
    #expect(owners.map { $0.desk?.number } == [1, nil])
    #expect(owners.map { $0.papers.map(\.title) } == [["p"], []])
    let things = try context.fetch(FetchDescriptor<Anew.Thing>(sortBy: [SortDescriptor(\.name)]))
    #expect(things.map { $0.owner?.name } == ["a", "a", "b"])
    #expect(things.map { $0.maker?.name } == ["b", nil, nil])
    let tags = try context.fetch(FetchDescriptor<Anew.Tag>(sortBy: [SortDescriptor(\.name)]))
    #expect(tags.map { Set($0.owners.map(\.name)) } == [["a"], ["a", "b"]])
    #expect(try context.fetch(FetchDescriptor<Anew.Desk>()).map { $0.owner?.name } == ["a"])
    #expect(try context.fetch(FetchDescriptor<Anew.Paper>()).map { $0.reader?.name } == ["a"])
  }

  @Test(arguments: [Plan.self, MembersPlan.self, CodePlan.self] as [any SchemaMigrationPlan.Type])
  func `let a new store be opened with the newest`(plan: any SchemaMigrationPlan.Type) throws {
    let context = try open(Anew.self, plan)
    context.insert(Anew.Owner("a"))
    try context.save()
    #expect(try newest(open(Anew.self, plan)).count == 1)
  }

  @Test(arguments: [Plan.self, MembersPlan.self] as [any SchemaMigrationPlan.Type])
  func `are passed through with all relationships`(plan: any SchemaMigrationPlan.Type) throws {
    let identifiers = try fill()
    try checkAsFilled(open(Anew.self, plan), identifiers)
    try checkAsFilled(open(Anew.self), identifiers)
  }

  @Test func `are left with all relationships, one after the other`() throws {
    let identifiers = try fill()
    #expect(try open(Mixed.self, Plan.self).fetchCount(FetchDescriptor<Mixed.Thing>()) == 3)
    try checkAsFilled(open(Anew.self, Plan.self), identifiers)
  }

  @Test func `are seen by the code of stages`() throws {
    _ = try fill()
    let owners = try newest(open(Anew.self, CodePlan.self))
    #expect(owners.map(\.name) == ["a", "c"])
    #expect(owners.map(\.note) == ["12", "new"])
    #expect(owners.map { $0.things.map(\.name) } == [["1", "added"], ["2"]])
    let things = try open(Anew.self, CodePlan.self)
      .fetch(FetchDescriptor<Anew.Thing>(sortBy: [SortDescriptor(\.name)]))
    #expect(things.map(\.name) == ["1", "2", "added"])
    #expect(things.map { $0.owner?.name } == ["a", "c", "a"])
    #expect(things.map { $0.maker?.name } == [nil, nil, nil])
  }

  @Test func `are used by the end whose type is the version's`() throws {
    _ = try fill()
    var context = try open(Mixed.self, Plan.self)
    let a = try #require(
      try context.fetch(
        FetchDescriptor<Mixed.Owner>(
          predicate: #Predicate { $0.things.contains { $0.name == "2" } }
        )
      ).first
    )
    #expect(a.name == "a")
    #expect(a.things.map(\.name) == ["1", "2"])
    #expect(a.tags.map(\.name) == ["x", "y"])
    #expect(a.desk?.number == 1)
    #expect(a.papers.map(\.title) == ["p"])
    let c = Mixed.Owner("c")
    c.things = [a.things[0], Mixed.Thing("new", nil)]
    c.desk = a.desk
    c.tags.append(a.tags[0])
    context.delete(a)
    try context.save()

    context = try open(Mixed.self, Plan.self)
    let owners = try context.fetch(
      FetchDescriptor<Mixed.Owner>(sortBy: [SortDescriptor(\.name)])
    )
    #expect(owners.map(\.name) == ["b", "c"])
    #expect(owners.map { $0.things.map(\.name) } == [["3"], ["1", "new"]])
    #expect(owners.map { $0.desk?.number } == [nil, 1])
    #expect(owners.map { $0.tags.map(\.name) } == [["y"], ["x"]])
    #expect(owners.map(\.papers.isEmpty) == [true, true])
    #expect(try context.fetchCount(FetchDescriptor<Mixed.Thing>()) == 3)
    #expect(try context.fetchCount(FetchDescriptor<Mixed.Paper>()) == 1)
  }

  @Test(arguments: [false, true], [false, true])
  func `take new models of shared classes in at both ends`(
    isAppended: Bool,
    isInsertedBefore: Bool
  ) throws {
    do {
      let context = try open(Mixed.self)
      let owners = [Mixed.Owner("a"), Mixed.Owner("b")]
      if isInsertedBefore { for owner in owners { context.insert(owner) } }
      let tag = Mixed.Tag("x")
      for owner in owners {
        if isAppended { owner.tags.append(tag) } else { owner.tags = [tag] }
      }
      if !isInsertedBefore { for owner in owners { context.insert(owner) } }
      // The initializer gives this tag an empty list, and no code sets it.
      context.insert(Mixed.Tag("y"))
      try context.save()
      let tagged = FetchDescriptor<Mixed.Owner>(
        predicate: #Predicate { $0.tags.contains { $0.name == "x" } }
      )
      #expect(try context.fetchCount(tagged) == 2)
    }
    let context = try open(Anew.self, Plan.self)
    let tags = try context.fetch(FetchDescriptor<Anew.Tag>(sortBy: [SortDescriptor(\.name)]))
    #expect(tags.map { $0.owners.map(\.name) } == [["a", "b"], []])
    #expect(try newest(context).map { $0.tags.map(\.name) } == [["x"], ["x"]])
    let owned = FetchDescriptor<Anew.Tag>(
      predicate: #Predicate { $0.owners.contains { $0.name == "b" } }
    )
    #expect(try context.fetch(owned).map(\.name) == ["x"])
  }

  @Test(arguments: [false, true])
  func `keep a list that a new owner had before it was inserted`(isAppended: Bool) throws {
    let context = try open(Mixed.self)
    let owner = Mixed.Owner("a")
    let things = [Mixed.Thing("1", nil), Mixed.Thing("2", nil)]
    if isAppended {
      for thing in things { owner.things.append(thing) }
    } else {
      owner.things = things
    }
    owner.papers = [Mixed.Paper("p", nil)]
    context.insert(owner)
    #expect(owner.things.map(\.name) == ["1", "2"] && owner.papers.map(\.title) == ["p"])
    try context.save()
    for context in [context, ModelContext(context.container)] {
      let owners = try context.fetch(FetchDescriptor<Mixed.Owner>())
      #expect(owners.map { $0.things.map(\.name) } == [["1", "2"]])
      #expect(owners.map { $0.papers.map(\.title) } == [["p"]])
    }
    let owned = FetchDescriptor<Mixed.Owner>(
      predicate: #Predicate { $0.things.contains { $0.name == "2" } }
    )
    #expect(try context.fetchCount(owned) == 1)
  }

  @Test(arguments: [false, true])
  func `keep one-to-one ends that were set before the insertion`(isSavedBetween: Bool) throws {
    let context = try open(Mixed.self)
    let (first, second) = (Mixed.Owner("a"), Mixed.Owner("b"))
    let (desk, other) = (Mixed.Desk(1), Mixed.Desk(2))
    first.desk = desk
    second.desk = other
    for owner in [first, second] { context.insert(owner) }
    if isSavedBetween { try context.save() }
    second.desk = desk
    #expect(first.desk == nil)
    context.delete(other)
    try context.save()
    for context in [context, ModelContext(context.container)] {
      let byName = FetchDescriptor<Mixed.Owner>(sortBy: [SortDescriptor(\.name)])
      #expect(try context.fetch(byName).map { $0.desk?.number } == [nil, 1])
    }
    context.delete(desk)
    try context.save()
    #expect(second.desk == nil)
  }

  @Test func `have lists of the version's members, too`() throws {
    _ = try fill()
    let context = try open(OtherMembers.self, MembersPlan.self)
    let things = try context.fetch(
      FetchDescriptor<OtherMembers.Thing>(sortBy: [SortDescriptor(\.name)])
    )
    #expect(things.map { $0.owner?.name } == ["a", "a", "b"])
    #expect(things.map { $0.maker?.name } == ["b", nil, nil])
    things[2].owner = things[0].owner
    try context.save()
    let owner = try #require(things[2].owner)
    #expect(owner.things.isEmpty)
    #expect(throws: SwiftDataError.invalidSchema) { try context.save() }
    context.delete(owner)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<OtherMembers.Thing>()) == 0)
  }

  @Test func `refuse, by name, the end whose type is another version's`() throws {
    _ = try fill()
    let context = try open(Mixed.self, Plan.self)
    let thing = try #require(
      try context.fetch(FetchDescriptor<Mixed.Thing>(predicate: #Predicate { $0.name == "1" }))
        .first
    )
    #expect(thing.owner == nil)
    thing.name = "changed"
    var error = #expect(throws: SwiftDataError.self) { try context.save() }
    #expect(error == .invalidSchema)
    #expect(error?.propertyName == "owner")
    let message = "\(error, default: "")"
    #expect(message.contains("Kept.Thing.owner leads to"))
    #expect(message.contains("Mixed.Owner here"))
    #expect(message.contains("give the version a class Thing of its own"))

    thing.owner = Kept.Owner("stranger")
    error = #expect(throws: SwiftDataError.self) {
      try context.fetch(FetchDescriptor<Mixed.Owner>())
    }
    #expect(error == .invalidSchema)
    try context.save()
    let owners = try context.fetch(FetchDescriptor<Mixed.Owner>(sortBy: [SortDescriptor(\.name)]))
    #expect(owners.map { $0.things.map(\.name) } == [["changed", "2"], ["3"]])

    error = #expect(throws: SwiftDataError.self) {
      try context.fetch(
        FetchDescriptor<Mixed.Thing>(predicate: #Predicate { $0.owner?.name == "a" })
      )
    }
    #expect(error == .invalidSchema)
    #expect("\(error, default: "")".contains("Mixed.Owner"))
    #expect(throws: SwiftDataError.invalidSchema) {
      try context.fetch(FetchDescriptor<Mixed.Thing>(sortBy: [SortDescriptor(\.owner?.name)]))
    }
    #expect(throws: SwiftDataError.self) {
      try context.fetch(FetchDescriptor<Kept.Owner>())
    }
  }

  @Test func `are the same in a store of snapshots`() throws {
    let file = folder.url.appending(path: "shared.json")
    func open() throws -> ModelContext {
      ModelContext(
        try ModelContainer(
          for: Schema(versionedSchema: Mixed.self),
          configurations: [JSONStoreConfiguration(name: "shared", url: file)]
        )
      )
    }
    var context = try open()
    let owner = Mixed.Owner("a")
    context.insert(owner)
    owner.things = [Mixed.Thing("1", nil), Mixed.Thing("2", nil)]
    owner.tags = [Mixed.Tag("x")]
    try context.save()
    context = try open()
    let found = try #require(try context.fetch(FetchDescriptor<Mixed.Owner>()).first)
    #expect(found.things.map(\.name) == ["1", "2"])
    #expect(found.tags.map(\.name) == ["x"])
    context.delete(found.things[0])
    try context.save()
    #expect(found.things.map(\.name) == ["2"])
  }
}

// MARK: What cannot be

private enum WithoutList: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Owner.self, Paper.self] }
  typealias Paper = Kept.Paper

  @Model final class Owner {
    var name: String
    init(_ name: String) { self.name = name }
  }
}

@Suite struct `A schema that shares a class of another version` {
  @Test func `says which inverse the version's class lacks`() throws {
    let schema = Schema(versionedSchema: WithoutList.self)
    let error = #expect(throws: SwiftDataError.self) { try schema.validate() }
    #expect(error == .invalidSchema)
    #expect(error?.entityName == "Paper")
    #expect(error?.propertyName == "reader")
  }

  @Test func `has the shape of one that does not`() {
    #expect(Schema(versionedSchema: Mixed.self).problems.isEmpty)
    let owners = [Schema(versionedSchema: Mixed.self), Schema(versionedSchema: Anew.self)]
    #expect(owners[0].checksum == owners[1].checksum)
  }
}
