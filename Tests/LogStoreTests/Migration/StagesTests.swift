import Foundation
import LogStore
import Synchronization
import SwiftData
import Testing

@testable import LogEngine
@testable import LogFormat
@testable import LogTools

@Suite struct `A store that is opened with a migration plan` {
  let store: TripStore
  static let versions: [any VersionedSchema.Type] = [
    TripsV1.self, TripsV2.self, TripsV3.self, TripsV4.self,
  ]

  init() throws { store = try TripStore() }

  @Test(arguments: 0...3)
  func `becomes the container's version from every version it may have`(start: Int) throws {
    try store.write(Self.versions[start])
    for _ in 1...2 {
      let context = try store.open(TripsV4.self, plan: TripsPlan.self)
      let trips = try context.fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.name)]))
      #expect(trips.map(\.name) == ["Lisbon", "Oslo"])
      #expect(trips.map(\.destination) == ["Lisbon 0", "Oslo 1"])
      #expect(trips.map(\.days) == [2, 3])
      #expect(trips.map(\.startDate) == [TripStore.day, TripStore.day + 86_400])
      // The items of the trip that was one too many, behind those that were there.
      #expect(trips[0].bucketList.map(\.title) == ["see 0", "eat 0", "see 2", "eat 2"])
      #expect(trips[0].bucketList.allSatisfy { $0.journey === trips[0] })
    }
  }

  @Test(arguments: 1...3)
  func `may stop at any version on the way`(end: Int) throws {
    try store.writeFirstVersion()
    for version in Self.versions[1...end] { _ = try store.open(version, plan: TripsPlan.self) }
    let error = #expect(throws: SwiftDataError.self) {
      try store.open(TripsV1.self, plan: TripsPlan.self)
    }
    #expect(error == .backwardMigration)
  }

  @Test func `goes on like any other`() throws {
    try store.writeFirstVersion()
    let day = TripStore.day
    try {
      let context = try store.open(TripsV4.self, plan: TripsPlan.self)
      context.insert(
        TripsV4.BusinessTrip(name: "Berlin", destination: "", startDate: day, endDate: day)
      )
      // Takes the place of the trip that has the name.
      context.insert(Trip(name: "Oslo", destination: "By train", startDate: day, endDate: day))
      try context.save()
    }()
    let again = try store.open(TripsV4.self, plan: TripsPlan.self)
    let trips = try again.fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.name)]))
    #expect(trips.map(\.name) == ["Berlin", "Lisbon", "Oslo"])
    #expect(trips[2].destination == "By train")
    #expect((trips[0] as? TripsV4.BusinessTrip)?.perDiem == 50)
  }

  @Test func `keeps the identifiers of its models`() throws {
    try store.writeFirstVersion()
    let before = try {
      let context = try store.open(TripsV1.self)
      return try context.fetch(FetchDescriptor<TripsV1.Trip>()).map(\.persistentModelID)
    }()
    let context = try store.open(TripsV4.self, plan: TripsPlan.self)
    let after = try context.fetch(FetchDescriptor<Trip>()).map(\.persistentModelID)
    #expect(after.count == 2)
    #expect(Set(after).isSubset(of: before))
  }

  @Test func `remembers the plan's number for the version, and its history`() throws {
    try store.writeFirstVersion()
    func inspect() throws -> (version: String, commits: Int) {
      let engine = try StorageEngine.open(at: store.url.path)
      defer { try? engine.close() }
      let version = engine.catalogue.metadata["schema.version"] ?? []
      return (String(decoding: version, as: UTF8.self), Int(engine.lastCommit.rawValue))
    }
    let before = try inspect()
    #expect(before.version.hasPrefix("1.0.0 ("))
    _ = try ModelContainer(
      for: Trip.self,
      TripsV4.BusinessTrip.self,
      migrationPlan: TripsPlan.self,
      configurations: LogStoreConfiguration(url: store.url)
    )
    let after = try inspect()
    #expect(after.version.hasPrefix("4.0.0 ("))
    #expect(after.commits > before.commits)
    // Nothing that was saved before is gone from the log, or looks different there.
    let engine = try StorageEngine.open(at: store.url.path)
    #expect(try engine.verify().problems.isEmpty)
    #expect(try engine.loggedCommits() >= before.commits)
  }

  @Test func `is not opened read-only before it is migrated`() throws {
    try store.writeFirstVersion()
    let error = #expect(throws: SwiftDataError.self) {
      try ModelContainer(
        for: Schema(versionedSchema: TripsV4.self),
        migrationPlan: TripsPlan.self,
        configurations: [LogStoreConfiguration(url: store.url, allowsSave: false)]
      )
    }
    #expect(error == .migrationUnavailable)
    _ = try store.open(TripsV4.self, plan: TripsPlan.self)
    let container = try ModelContainer(
      for: Schema(versionedSchema: TripsV4.self),
      migrationPlan: TripsPlan.self,
      configurations: [LogStoreConfiguration(url: store.url, allowsSave: false)]
    )
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Trip>()) == 2)
  }

  @Test func `may be one of several, each of which sees its own models alone`() throws {
    func open(
      _ version: any VersionedSchema.Type,
      _ trips: any PersistentModel.Type,
      _ notes: any PersistentModel.Type
    ) throws -> ModelContext {
      ModelContext(
        try ModelContainer(
          for: Schema(versionedSchema: version),
          migrationPlan: SplitPlan.self,
          configurations: [
            LogStoreConfiguration(
              "trips",
              schema: Schema([trips]),
              url: store.folder.url.appending(path: "trips")
            ),
            LogStoreConfiguration(
              "notes",
              schema: Schema([notes]),
              url: store.folder.url.appending(path: "notes")
            ),
          ]
        )
      )
    }
    try {
      let context = try open(SplitV1.self, SplitV1.Walk.self, SplitV1.Note.self)
      context.insert(SplitV1.Walk(name: "a"))
      context.insert(SplitV1.Note(text: "b"))
      try context.save()
    }()
    let context = try open(SplitV2.self, SplitV2.Walk.self, SplitV2.Note.self)
    #expect(try context.fetch(FetchDescriptor<SplitV2.Walk>()).map(\.length) == [1])
    #expect(try context.fetch(FetchDescriptor<SplitV2.Note>()).map(\.size) == [1])
  }

  @Test func `may share classes between its versions`() throws {
    let url = store.url
    func open(_ version: any VersionedSchema.Type) throws -> ModelContext {
      ModelContext(
        try ModelContainer(
          for: Schema(versionedSchema: version),
          migrationPlan: SharedPlan.self,
          configurations: [LogStoreConfiguration(url: url)]
        )
      )
    }
    try {
      let context = try open(SharedV1.self)
      context.insert(SplitV1.Walk(name: "a"))
      context.insert(SplitV1.Note(text: "b"))
      try context.save()
    }()
    let context = try open(SharedV2.self)
    #expect(try context.fetch(FetchDescriptor<SplitV1.Walk>()).map(\.name) == ["a, seen with b"])
    #expect(try context.fetch(FetchDescriptor<SplitV2.Note>()).map(\.size) == [7])
  }

  @Test func `may change values in a stage between two versions of one shape`() throws {
    let url = store.url
    func open(_ version: any VersionedSchema.Type) throws -> [String] {
      let container = try ModelContainer(
        for: Schema(versionedSchema: version),
        migrationPlan: CleaningPlan.self,
        configurations: [LogStoreConfiguration(url: url)]
      )
      let context = ModelContext(container)
      if version == SplitV1.self { context.insert(SplitV1.Walk(name: "a")) }
      try context.save()
      return try context.fetch(FetchDescriptor<SplitV1.Walk>()).map(\.name)
    }
    #expect(try open(SplitV1.self) == ["a"])
    #expect(try open(CleanedV1.self) == ["A"])
    #expect(try open(CleanedV1.self) == ["A"])
  }

  @Test func `may be one of the platform's kind, or in memory`() throws {
    try store.writeFirstVersion()
    let schema = Schema(versionedSchema: TripsV4.self)
    let standard = try ModelContainer(
      for: schema,
      migrationPlan: TripsPlan.self,
      configurations: ModelConfiguration(url: store.url)
    )
    #expect(try ModelContext(standard).facts(TripsV4.self).count == 2)
    let memory = try ModelContainer(
      for: schema,
      migrationPlan: TripsPlan.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    #expect(try ModelContext(memory).facts(TripsV4.self).isEmpty)
  }
}

extension StorageEngine {
  /// How many commits can be read back.
  fileprivate func loggedCommits() throws -> Int {
    var count = 0
    try forEachCommit { _ in
      count += 1
      return .proceed
    }
    return count
  }
}

// MARK: Small plans

private enum SplitV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Walk.self, Note.self] }

  @Model final class Walk {
    var name: String
    init(name: String) { self.name = name }
  }
  @Model final class Note {
    var text: String
    init(text: String) { self.text = text }
  }
}

private enum SplitV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Walk.self, Note.self] }

  @Model final class Walk {
    var name: String
    var length: Int
    init(name: String) {
      self.name = name
      length = 0
    }
  }
  @Model final class Note {
    var text: String
    var size: Int
    init(text: String) {
      self.text = text
      size = 0
    }
  }
}

private enum SplitPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [SplitV1.self, SplitV2.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: SplitV1.self,
        toVersion: SplitV2.self,
        willMigrate: nil,
        didMigrate: { context in
          for walk in try context.fetch(FetchDescriptor<SplitV2.Walk>()) {
            walk.length = walk.name.count
          }
          for note in try context.fetch(FetchDescriptor<SplitV2.Note>()) {
            note.size = note.text.count
          }
          try context.save()
        }
      )
    ]
  }
}

private enum SharedV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [SplitV1.Walk.self, SplitV1.Note.self] }
}

private enum SharedV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [SplitV1.Walk.self, SplitV2.Note.self] }
}

private enum SharedPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [SharedV1.self, SharedV2.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: SharedV1.self,
        toVersion: SharedV2.self,
        willMigrate: { context in
          let note = try context.fetch(FetchDescriptor<SplitV1.Note>()).first
          for walk in try context.fetch(FetchDescriptor<SplitV1.Walk>()) {
            walk.name += ", seen with \(note?.text ?? "nothing")"
          }
        },
        didMigrate: { context in
          for note in try context.fetch(FetchDescriptor<SplitV2.Note>()) { note.size = 7 }
        }
      )
    ]
  }
}

private enum CleanedV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 1, 0)
  static var models: [any PersistentModel.Type] { SplitV1.models }
}

private enum CleaningPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [SplitV1.self, CleanedV1.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: SplitV1.self,
        toVersion: CleanedV1.self,
        willMigrate: nil,
        didMigrate: { context in
          for walk in try context.fetch(FetchDescriptor<SplitV1.Walk>()) {
            walk.name = walk.name.uppercased()
          }
        }
      )
    ]
  }
}
