import Foundation
import LogStore
import SwiftData
import Testing

private enum Straight: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Author.self] }

  @Model final class Author {
    var first: String = "f"
    var last: String = "l"
    var name: String = "n"
    var born: Int = 1
    var place: String = "p"
    init() {}
  }
}

/// Exchanges two names, and two of properties whose types differ.
private enum Exchanged: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Author.self] }

  @Model final class Author {
    @Attribute(originalName: "last") var first: String = "f"
    @Attribute(originalName: "first") var last: String = "l"
    var name: String = "n"
    @Attribute(originalName: "place") var born: String = "p"
    @Attribute(originalName: "born") var place: Int = 1
    init() {}
  }
}

/// Has the original names still, and one property more.
private enum Later: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Author.self] }

  @Model final class Author {
    @Attribute(originalName: "last") var first: String = "f"
    @Attribute(originalName: "first") var last: String = "l"
    var name: String = "n"
    @Attribute(originalName: "place") var born: String = "p"
    @Attribute(originalName: "born") var place: Int = 1
    var extra: Int = 1
    init() {}
  }
}

/// Has no original names.
private enum Cleared: VersionedSchema {
  static let versionIdentifier = Schema.Version(4, 0, 0)
  static var models: [any PersistentModel.Type] { [Author.self] }

  @Model final class Author {
    var first: String = "f"
    var last: String = "l"
    var name: String = "n"
    var born: String = "p"
    var place: Int = 1
    var extra: Int = 1
    init() {}
  }
}

/// Exchanges two of them back.
private enum Again: VersionedSchema {
  static let versionIdentifier = Schema.Version(5, 0, 0)
  static var models: [any PersistentModel.Type] { [Author.self] }

  @Model final class Author {
    @Attribute(originalName: "last") var first: String = "f"
    @Attribute(originalName: "first") var last: String = "l"
    var name: String = "n"
    var born: String = "p"
    var place: Int = 1
    var extra: Int = 1
    init() {}
  }
}

/// Hands names on: `first` to `last`, and `last` to `name`.
private enum Chained: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Author.self] }

  @Model final class Author {
    @Attribute(originalName: "first") var last: String = "l"
    @Attribute(originalName: "last") var name: String = "n"
    var born: Int = 1
    var place: String = "p"
    init() {}
  }
}

private enum QuietNamePlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Straight.self, Exchanged.self, Later.self] }
  static var stages: [MigrationStage] { [] }
}

private enum ChainPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Straight.self, Chained.self] }
  static var stages: [MigrationStage] { [] }
}

@Suite struct `Names that properties take from each other` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  enum Way: CaseIterable {
    case unversioned, versioned, quietPlan
  }

  private func open(
    _ version: any VersionedSchema.Type,
    _ way: Way,
    _ plan: (any SchemaMigrationPlan.Type)? = QuietNamePlan.self,
    _ newerStores: NewerStorePolicy = .refuse
  ) throws -> ModelContext {
    let schema = way == .unversioned ? Schema(version.models) : Schema(versionedSchema: version)
    var configuration = LogStoreConfiguration(
      schema: schema,
      url: folder.url.appending(path: "authors.store")
    )
    configuration.newerStores = newerStores
    return ModelContext(
      try ModelContainer(
        for: schema,
        migrationPlan: way == .quietPlan ? plan : nil,
        configurations: configuration
      )
    )
  }

  private func fill(_ way: Way, _ plan: (any SchemaMigrationPlan.Type)? = QuietNamePlan.self) throws
  {
    let context = try open(Straight.self, way, plan)
    let author = Straight.Author()
    author.first = "Ann"
    author.last = "Bell"
    author.name = "N"
    author.born = 1970
    author.place = "Rome"
    context.insert(author)
    try context.save()
  }

  private func exchanged(_ way: Way) throws -> String {
    let author = try #require(
      try open(Exchanged.self, way).fetch(FetchDescriptor<Exchanged.Author>()).first
    )
    return "\(author.first) \(author.last) \(author.name) \(author.born) \(author.place)"
  }

  @Test(arguments: Way.allCases)
  func `are exchanged by the first opening, and by no later one`(way: Way) throws {
    try fill(way)
    for _ in 0..<2 { #expect(try exchanged(way) == "Bell Ann N Rome 1970") }
    for _ in 0..<2 {
      let author = try #require(
        try open(Later.self, way).fetch(FetchDescriptor<Later.Author>()).first
      )
      #expect("\(author.first) \(author.last) \(author.name)" == "Bell Ann N")
      #expect("\(author.born) \(author.place)" == "Rome 1970")
    }
  }

  @Test(arguments: Way.allCases)
  func `are handed on, in a chain`(way: Way) throws {
    try fill(way, ChainPlan.self)
    for _ in 0..<2 {
      let author = try #require(
        try open(Chained.self, way, ChainPlan.self).fetch(FetchDescriptor<Chained.Author>()).first
      )
      #expect("\(author.last) \(author.name)" == "Ann Bell")
    }
  }

  @Test(arguments: [Way.unversioned, .versioned])
  func `are refused to models that may be from before`(way: Way) throws {
    try fill(way)
    #expect(try exchanged(way) == "Bell Ann N Rome 1970")
    let error = #expect(throws: SwiftDataError.self) {
      try open(Straight.self, way, nil, .takeBack)
    }
    #expect(error == .migrationUnavailable)
    #expect(error?.message.contains("originalName: \"last\"") == true)
    #expect(try exchanged(way) == "Bell Ann N Rome 1970")
  }

  @Test func `are exchanged back once a version has had no original names`() throws {
    try fill(.versioned)
    #expect(try exchanged(.versioned) == "Bell Ann N Rome 1970")
    do {
      let author = try #require(
        try open(Cleared.self, .versioned).fetch(FetchDescriptor<Cleared.Author>()).first
      )
      #expect("\(author.first) \(author.last) \(author.born)" == "Bell Ann Rome")
    }
    for _ in 0..<2 {
      let author = try #require(
        try open(Again.self, .versioned).fetch(FetchDescriptor<Again.Author>()).first
      )
      #expect("\(author.first) \(author.last) \(author.born)" == "Ann Bell Rome")
    }
  }
}
