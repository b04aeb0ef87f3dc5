import Foundation
import LogEngine
import LogStore
import SwiftData
import Testing

// Which program may open a store of version 2.0.0, and what is in it afterwards. The table stands in Migrating.md.

@Suite struct `A store of the second version` {
  enum Numbering: String, CaseIterable { case versioned, unversioned }
  enum Plan: String, CaseIterable { case plan, none }
  enum Age: String, CaseIterable {
    case older, same, newer, sideways

    var version: any NoteVersion.Type {
      switch self {
      case .older: NotesV1.self
      case .same: NotesV2.self
      case .newer: NotesV3.self
      case .sideways: NotesV2Beside.self
      }
    }
  }

  enum Outcome: Equatable {
    /// It opens, and remembers this number.
    case opens(Schema.Version)
    case refused(SwiftDataError)
  }

  struct Cell: CustomTestStringConvertible {
    var numbering: Numbering
    var plan: Plan
    var age: Age
    var saves: Bool

    var testDescription: String {
      "\(numbering), \(plan == .plan ? "with a plan" : "without"), \(age), \(saves ? "saved" : "not saved")"
    }

    static let all = Numbering.allCases.flatMap { numbering in
      Plan.allCases.flatMap { plan in
        Age.allCases.flatMap { age in
          [false, true].map { Cell(numbering: numbering, plan: plan, age: age, saves: $0) }
        }
      }
    }

    /// The table.
    var outcome: Outcome {
      switch (age, plan, numbering) {
      case (.older, _, _): .refused(.backwardMigration)
      case (.same, _, _): .opens(Schema.Version(2, 0, 0))
      case (.newer, .plan, _), (.newer, .none, .versioned): .opens(Schema.Version(3, 0, 0))
      case (.newer, .none, .unversioned): .opens(Schema.Version(2, 0, 0))
      case (.sideways, .plan, _): .refused(.unknownSchema)
      case (.sideways, .none, _): .opens(Schema.Version(2, 0, 0))
      }
    }

    var schema: Schema {
      numbering == .versioned ? Schema(versionedSchema: age.version) : Schema(age.version.models)
    }
  }

  private let folder: TemporaryFolder
  private var url: URL { folder.url.appending(path: "notes.store") }

  /// What is in the store: the second row as the stage left it, the others changed since.
  private static let facts: Set<NoteFacts> = [
    NoteFacts(message: "first", count: 1, severity: 777, tags: ["a", "b"]),
    NoteFacts(message: "second", count: 2, severity: 20, tags: []),
    NoteFacts(message: "third", count: 0, severity: 0, tags: []),
  ]

  /// Writes a store with the first version, migrates it to the second, and changes it there.
  init() throws {
    folder = try TemporaryFolder()
    do {
      let context = try open(Schema(versionedSchema: NotesV1.self))
      context.insert(NotesV1.Note("first", count: 1))
      context.insert(NotesV1.Note("second", count: 2))
      try context.save()
    }
    let context = try open(Schema(versionedSchema: NotesV2.self), NotesPlan.self)
    for note in try context.fetch(FetchDescriptor<NotesV2.Note>()) where note.message == "first" {
      note.severity = 777
      note.tags = ["a", "b"]
    }
    NotesV2.insert("third", into: context)
    try context.save()
    #expect(try NotesV2.facts(context) == Self.facts)
  }

  private func open(
    _ schema: Schema,
    _ plan: (any SchemaMigrationPlan.Type)? = nil,
    _ newerStores: NewerStorePolicy = .refuse
  ) throws -> ModelContext {
    var configuration = LogStoreConfiguration(url: url)
    configuration.newerStores = newerStores
    return ModelContext(
      try ModelContainer(for: schema, migrationPlan: plan, configurations: [configuration])
    )
  }

  private func storedVersion() throws -> String {
    let engine = try StorageEngine.open(at: url.path)
    defer { try? engine.close() }
    let bytes = try #require(engine.catalogue.metadata["schema.version"])
    return String(decoding: bytes.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
  }

  @Test(arguments: Cell.all)
  func `is opened or refused as the table says, and keeps its values`(cell: Cell) throws {
    var expected = Self.facts
    let plan: (any SchemaMigrationPlan.Type)? = cell.plan == .plan ? NotesPlan.self : nil
    switch cell.outcome {
    case .refused(let error):
      #expect(throws: error) { try open(cell.schema, plan) }
      #expect(try storedVersion() == "2.0.0")
    case .opens(let version):
      do {
        let context = try open(cell.schema, plan)
        #expect(try cell.age.version.facts(context) == expected)
        if cell.saves {
          cell.age.version.insert("late", into: context)
          try cell.age.version.count("second", 5, in: context)
          try context.save()
          expected.remove(NoteFacts(message: "second", count: 2, severity: 20, tags: []))
          expected.formUnion([
            NoteFacts(message: "second", count: 5, severity: 20, tags: []),
            NoteFacts(message: "late", count: 0, severity: 0, tags: []),
          ])
          #expect(try cell.age.version.facts(context) == expected)
        }
      }
      #expect(try storedVersion() == version.description)
    }
    // And the second version, with its plan, finds everything as it was, and runs no stage again.
    if cell.outcome == .opens(Schema.Version(3, 0, 0)) {
      #expect(throws: SwiftDataError.backwardMigration) {
        try open(Schema(versionedSchema: NotesV2.self), NotesPlan.self)
      }
      #expect(
        try NotesV3.facts(open(Schema(versionedSchema: NotesV3.self), NotesPlan.self)) == expected
      )
    } else {
      // A neighbour of the same number has no place in the plan.
      let isBeside = cell.age == .sideways && cell.plan == .none && cell.numbering == .versioned
      let plan: (any SchemaMigrationPlan.Type)? = isBeside ? nil : NotesPlan.self
      let context = try open(Schema(versionedSchema: NotesV2.self), plan)
      #expect(try NotesV2.facts(context) == expected)
    }
  }

  /// The number is the container's: by its shape such a part could be of either version.
  @Test(arguments: [false, true])
  func `is told apart by the container's number, if its configuration has models without one`(
    isStandard: Bool
  ) throws {
    func open(_ number: Schema.Version) throws {
      let part = Schema(NotesV2.models)
      let configuration: any DataStoreConfiguration =
        isStandard
        ? ModelConfiguration("notes", schema: part, url: url)
        : LogStoreConfiguration("notes", schema: part, url: url)
      let container = try ModelContainer(
        for: Schema(NotesV2.models, version: number),
        configurations: [configuration]
      )
      #expect(try NotesV2.facts(ModelContext(container)) == Self.facts)
    }
    #expect(throws: SwiftDataError.backwardMigration) { try open(Schema.Version(1, 9, 0)) }
    #expect(try storedVersion() == "2.0.0")
    try open(Schema.Version(2, 0, 0))
    try open(Schema.Version(3, 0, 0))
    #expect(try storedVersion() == "3.0.0")
    // And a container without a number leaves it.
    try open(Schema.Version(1, 0, 0))
    #expect(try storedVersion() == "3.0.0")
  }

  @Test(arguments: [false, true])
  func `is taken back by an older one that means it, and hides what that lacks`(saves: Bool) throws
  {
    do {
      let context = try open(Schema(versionedSchema: NotesV1.self), nil, .takeBack)
      #expect(try NotesV1.facts(context).map(\.count).sorted() == [0, 1, 2])
      if saves {
        NotesV1.insert("written by the older", into: context)
        try context.save()
      }
    }
    #expect(try storedVersion() == "1.0.0")
    // The stage runs again, over values that are still there.
    let context = try open(Schema(versionedSchema: NotesV2.self), NotesPlan.self)
    var expected = Set(
      Self.facts.map { facts in
        var facts = facts
        facts.severity = facts.count * 10
        return facts
      }
    )
    if saves {
      expected.insert(
        NoteFacts(message: "written by the older", count: 0, severity: 0, tags: [])
      )
    }
    #expect(try NotesV2.facts(context) == expected)
  }

  @Test func `is taken back with a plan, too, if that is meant`() throws {
    #expect(throws: SwiftDataError.backwardMigration) {
      try open(Schema(versionedSchema: NotesV1.self), NotesPlan.self)
    }
    let context = try open(Schema(versionedSchema: NotesV1.self), NotesPlan.self, .takeBack)
    #expect(try context.fetchCount(FetchDescriptor<NotesV1.Note>()) == 3)
  }
}
