import Foundation
import LogEngine
import LogEngineTestSupport
import LogStore
import ModelRuntime
import SwiftData
import Synchronization
import Testing

@testable import LogStore

/// What a test's stages throw.
private struct Refusal: Error, Equatable {}

/// The plan of trips, in which one closure, by its number, throws after it has saved.
private enum UnlikelyPlan: SchemaMigrationPlan {
  @TaskLocal static var failing: Int?

  static var schemas: [any VersionedSchema.Type] { TripsPlan.schemas }
  static var stages: [MigrationStage] {
    TripsPlan.stages.enumerated().map { number, stage in
      guard case .custom(let from, let to, let will, let did) = stage else {
        return number == 1 ? wrapped(2, TripsV2.self, TripsV3.self, nil, nil) : stage
      }
      return wrapped(number * 2, from, to, will, did)
    }
  }

  private static func wrapped(
    _ number: Int,
    _ from: any VersionedSchema.Type,
    _ to: any VersionedSchema.Type,
    _ will: (@Sendable (ModelContext) throws -> Void)?,
    _ did: (@Sendable (ModelContext) throws -> Void)?
  ) -> MigrationStage {
    .custom(
      fromVersion: from,
      toVersion: to,
      willMigrate: { context in
        try will?(context)
        if failing == number { throw Refusal() }
      },
      didMigrate: { context in
        try did?(context)
        if failing == number + 1 { throw Refusal() }
      }
    )
  }
}

@Suite struct `A migration that fails` {
  let store: TripStore
  let before: [TripFacts]

  init() throws {
    store = try TripStore()
    try store.writeFirstVersion()
    before = try store.open(TripsV1.self).facts(TripsV1.self)
  }

  @Test(arguments: 0..<6)
  func `leaves the store as it was, says where, and is run again`(failing: Int) throws {
    let error = #expect(throws: SwiftDataError.self) {
      try UnlikelyPlan.$failing.withValue(failing) {
        try store.open(TripsV4.self, plan: UnlikelyPlan.self)
      }
    }
    #expect(error == .loadIssueModelContainer)
    #expect(error?.underlyingError as? Refusal == Refusal())
    let message = error?.message ?? ""
    #expect(message.contains(failing % 2 == 0 ? "willMigrate" : "didMigrate"))
    #expect(message.contains("from TripsV\(failing / 2 + 1) (\(failing / 2 + 1).0.0)"))
    #expect(message.contains("to TripsV\(failing / 2 + 2) (\(failing / 2 + 2).0.0)"))
    #expect(try store.open(TripsV1.self).facts(TripsV1.self) == before)
    #expect(
      !FileManager.default.fileExists(atPath: store.url.appending(path: "staged").path)
    )
    let context = try store.open(TripsV4.self, plan: UnlikelyPlan.self)
    #expect(try context.facts(TripsV4.self).map(\.name) == ["Lisbon", "Oslo"])
  }

  @Test func `because values are not unique names two of them`() throws {
    enum Careless: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [TripsV1.self, TripsV2.self] }
      static var stages: [MigrationStage] {
        [.lightweight(fromVersion: TripsV1.self, toVersion: TripsV2.self)]
      }
    }
    let error = #expect(throws: SwiftDataError.self) {
      try store.open(TripsV2.self, plan: Careless.self)
    }
    #expect(error == .loadIssueModelContainer)
    #expect("\(error, default: "")".contains("Trip/1 and Trip/3 have the same name"))
    #expect("\(error, default: "")".contains("willMigrate"))
    #expect(try store.open(TripsV1.self).facts(TripsV1.self) == before)
  }

  @Test func `because a value is missing says of which row and property`() throws {
    enum Forgetful: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [TripsV1.self, TripsV4.self] }
      static var stages: [MigrationStage] {
        [
          .custom(
            fromVersion: TripsV1.self,
            toVersion: TripsV4.self,
            willMigrate: { context in
              let trips = try context.fetch(FetchDescriptor<TripsV1.Trip>())
              for (number, trip) in trips.enumerated() { trip.name += " \(number)" }
            },
            didMigrate: { context in
              for trip in try context.fetch(FetchDescriptor<Trip>()).dropLast() { trip.days = 1 }
            }
          )
        ]
      }
    }
    let error = #expect(throws: SwiftDataError.self) {
      try store.open(TripsV4.self, plan: Forgetful.self)
    }
    #expect("\(error, default: "")".contains("has no value for days"))
    #expect(try store.open(TripsV1.self).facts(TripsV1.self) == before)
  }

  @Test func `says of a store of no known version what to do`() throws {
    enum Late: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [TripsV3.self, TripsV4.self] }
      static var stages: [MigrationStage] { [TripsPlan.v3ToV4] }
    }
    let error = #expect(throws: SwiftDataError.self) {
      try store.open(TripsV4.self, plan: Late.self)
    }
    #expect(error == .unknownDataStoreSchema)
    #expect(error?.message.contains("Add that version") == true)
    #expect(try store.open(TripsV1.self).facts(TripsV1.self) == before)
  }
}

@Suite struct `A migration that ends with the power` {
  private static func open(
    _ disk: any FileSystem,
    _ version: any VersionedSchema.Type,
    _ plan: (any SchemaMigrationPlan.Type)?
  ) throws -> ModelContext {
    var options = EngineOptions()
    options.background = .caller
    options.smallestSegment = 64 << 10
    options.largestSegment = 64 << 10
    let engine = try StorageEngine.open(at: "/trips", options: options, fileSystem: disk)
    let schema = Schema(versionedSchema: version)
    let migration = StoreMigration(path: "/trips", schema: schema, plan: plan)
    let tables = try TableStore(
      try migration.run(engine),
      TableStore.Configuration(path: "/trips", schema: schema)
    )
    let configuration = ModelConfiguration(schema: schema, url: URL(fileURLWithPath: "/trips"))
    return ModelContext(
      try ModelContainer(
        migrating: [(DefaultStore(StoreLease(tables), configuration), schema)],
        at: schema
      )
    )
  }

  @Test func `has happened wholly or not at all, and is completed at the next opening`() throws {
    let seed: UInt64 = 3
    let first = SimulatedFileSystem(seed: seed)
    try {
      let context = try Self.open(first, TripsV1.self, nil)
      for name in ["Lisbon", "Oslo", "Lisbon"] {
        context.insert(
          TripsV1.Trip(
            name: name,
            destination: name,
            start_date: TripStore.day,
            end_date: TripStore.day + 86_400
          )
        )
      }
      try context.save()
    }()
    nonisolated(unsafe) var moments: [Disk] = []
    let disk = SimulatedFileSystem(seed: seed, disk: first.disk) { _, disk in
      moments.append(disk)
    }
    let context = try Self.open(disk, TripsV4.self, TripsPlan.self)
    let after = try context.facts(TripsV4.self)
    #expect(after.map(\.name) == ["Lisbon", "Oslo"])
    let last = moments.count
    moments.append(disk.disk)
    var outcomes: Set<Int> = []
    for (number, moment) in moments.enumerated()
    where number % 16 == 0 || number > last - 48 && number % Thoroughness.stride == 0 {
      moment.forEachCrashState(
        random: SeededGenerator(seed: seed + UInt64(number)),
        limits: .few
      ) { state in
        do {
          let found = try {
            let file = SimulatedFileSystem(seed: seed, disk: state.disk)
            let engine = try StorageEngine.open(at: "/trips", fileSystem: file)
            return CatalogueMapping.schemaVersion(in: engine.catalogue)?.version.major ?? 0
          }()
          outcomes.insert(found)
          #expect(found == 4 || found == 1 && number < last, "moment \(number), \(state.scenario)")
          let again = try Self.open(
            SimulatedFileSystem(seed: seed, disk: state.disk),
            TripsV4.self,
            TripsPlan.self
          )
          #expect(try again.facts(TripsV4.self) == after, "moment \(number), \(state.scenario)")
        } catch {
          Issue.record(error, "seed \(seed), moment \(number), \(state.scenario)")
        }
      }
    }
    #expect(outcomes == [1, 4])
  }
}
