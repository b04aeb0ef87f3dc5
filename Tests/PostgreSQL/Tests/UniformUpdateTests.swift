import FaultProxy
import Foundation
@testable import ModelRuntime
@testable import PostgresFaults
@testable import PostgresStore
import Testing

@Model private final class Tally {
  var number: Int
  var count: Int
  init(number: Int, count: Int) { (self.number, self.count) = (number, count) }
}

/// One of two places that get the same batches.
private struct BatchPlace {
  let namespace: TestNamespace
  let container: ModelContainer
  /// A context that holds every model.
  let holder: ModelContext
  private let identifier: String

  init(rowsOnly: Bool) throws {
    namespace = try TestNamespace()
    let plain = namespace.configuration
    let configuration: any DataStoreConfiguration =
      if rowsOnly { RowsOnlyConfiguration(base: plain) } else { plain }
    container = try ModelContainer(for: Assigned.schema, configurations: [configuration])
    holder = ModelContext(container)
    for number in 0..<40 {
      let sample =
        number % 4 == 0
        ? Assigned.FineSample(number, fineness: number) : Assigned.Sample(number)
      sample.optionalLarge = number % 3 == 0 ? nil : number
      sample.code = "code \(number)"
      holder.insert(sample)
    }
    for name in ["a", "b"] { holder.insert(Assigned.Place(name)) }
    try holder.save()
    // A column that a migration has added has no value where the property has no default: it counts as zero.
    try ServerSession(namespace.server.url).run(
      "UPDATE \(namespace.name).\"Sample\" "
        + "SET large = NULL, small = NULL, \"double\" = NULL, \"float\" = NULL WHERE serial % 5 = 1"
    )
    let store = container.stores(of: PostgresStore.self).first?.identifier
    identifier = try #require(
      store ?? container.stores(of: RowsOnlyStore.self).first?.identifier
    )
  }

  func samples() throws -> [Assigned.Sample] {
    try holder.fetch(FetchDescriptor(sortBy: [SortDescriptor(\.serial)]))
  }

  /// Makes a batch.
  ///
  /// - Returns: What came of it, as text.
  func outcome(_ batch: (ModelContext) throws -> BatchResult) -> String {
    do {
      let result = try batch(ModelContext(container))
      let keys = result.updatedIdentifiers.map { "\($0.entityName) \($0.rowKey ?? 0)" }
      return "\(result.commitCount) commits, \(keys.joined(separator: ", "))"
    } catch {
      return "\(error)".replacing(identifier, with: "the store")
    }
  }

  /// Everything that the server has in the tables and in the history, but for the numbers of the transactions.
  func contents() throws -> [String] {
    let session = try ServerSession(namespace.server.url)
    var lines: [String] = []
    for table in ["Sample", "FineSample", "Place"] {
      lines += try session.texts(
        "SELECT '\(table) ' || t::text FROM \(namespace.name).\"\(table)\" AS t ORDER BY _id"
      )
    }
    return lines
      + (try session.texts(
        "SELECT format('change %s %s %s %s', row, ordinal, kind, columns) "
          + "FROM \(namespace.name)._logstore_change ORDER BY xid, ordinal"
      ))
  }

  /// The values that the held objects have.
  func held() -> [String] {
    ((try? samples()) ?? []).map { sample in
      "\(sample.serial) \(sample.tiny) \(sample.large) \(sample.double) \(sample.float) \(sample.text) "
        + "\(String(describing: sample.optionalSmall)) \(sample.grade) \(sample.price) \(sample.day)"
    }
  }
}

@Suite struct `A batch of assignments on a PostgreSQL server` {
  /// More of them with `LOGSTORE_DIFFERENTIAL_SEEDS`.
  private static let seeds: ClosedRange<UInt64> = {
    let wanted = ProcessInfo.processInfo.environment["LOGSTORE_DIFFERENTIAL_SEEDS"]
    return 1...max(1, wanted.flatMap(UInt64.init) ?? 6)
  }()

  @Test(arguments: seeds)
  func `does what the same batch of rows does`(seed: UInt64) throws {
    let places = [try BatchPlace(rowsOnly: false), try BatchPlace(rowsOnly: true)]
    for step in 0..<60 {
      var outcomes: [String] = []
      for place in places {
        // The same for both.
        var generator = AssignmentGenerator(
          random: SeededGenerator(seed: seed &* 1000 &+ UInt64(step))
        )
        let owner = try place.holder.fetch(FetchDescriptor<Assigned.Place>()).first
        let all = generator.assignments(owner)
        let predicate = generator.predicate()
        let every = generator.chance(4) ? generator.number(1...15) : nil
        outcomes.append(
          place.outcome { context in
            if generator.chance(6) {
              return try context.batchUpdate(
                Assigned.FineSample.self,
                .add(generator.integer(), to: \.fineness),
                .set(\.hint, to: generator.optional { $0.text() }),
                commitEvery: every
              )
            }
            return switch all.count {
            case 1:
              try context.batchUpdate(
                Assigned.Sample.self,
                where: predicate,
                all[0],
                commitEvery: every
              )
            case 2:
              try context.batchUpdate(
                Assigned.Sample.self,
                where: predicate,
                all[0],
                all[1],
                commitEvery: every
              )
            default:
              try context.batchUpdate(
                Assigned.Sample.self,
                where: predicate,
                all[0],
                all[1],
                all[2],
                commitEvery: every
              )
            }
          }
        )
      }
      try #require(outcomes[0] == outcomes[1], "seed \(seed), step \(step)")
      try #require(try places[0].contents() == places[1].contents(), "seed \(seed), step \(step)")
      try #require(places[0].held() == places[1].held(), "seed \(seed), step \(step)")
    }
  }

  @Test func `is one statement, and sends no rows`() throws {
    let place = try BatchPlace(rowsOnly: false)
    let store = try #require(place.container.stores(of: PostgresStore.self).first)
    let context = ModelContext(place.container)
    store.historyKeeper.settle()
    // To find the rows, to change them, to commit.
    func roundTrips(_ batch: (ModelContext) throws -> Void) throws -> Int {
      let before = store.roundTripCount
      try batch(context)
      return store.roundTripCount - before
    }
    #expect(
      try roundTrips {
        try $0.batchUpdate(
          Assigned.FineSample.self,
          .add(1, to: \.large),
          .add(0.5, to: \.float),
          .set(\.text, to: "new"),
          .set(\.spot, to: nil),
          .set(\.price, to: 12.5)
        )
      } == 3
    )
    let samples = try place.holder.fetch(FetchDescriptor<Assigned.FineSample>())
    #expect(samples.map(\.large) == Array(repeating: 1, count: 10))
    #expect(samples.map(\.float) == Array(repeating: 0.5, count: 10))
    #expect(samples.map(\.price) == Array(repeating: 12.5, count: 10))
  }

  @Test func `is in the history row by row, also where it is several statements`() throws {
    let namespace = try TestNamespace()
    let context = ModelContext(try namespace.container(Tally.self))
    let count = 65_537
    let rows = (0..<count).map { ($0, 0) }
    try context.batchInsert(Tally.self, \.number, \.count, rows: rows)
    let result = try context.batchUpdate(Tally.self, .add(1, to: \.count))
    #expect(result.updatedCount == count)
    #expect(result.commitCount == 1)
    let session = try ServerSession(namespace.server.url)
    #expect(
      try session.integer(
        "SELECT count(*) FROM \(namespace.name).\"Tally\" WHERE count = 1"
      ) == count
    )
    // Each row, in the order of the rows.
    let inOrder = try session.integer(
      "SELECT count(*) FROM (SELECT ordinal, row_number() OVER (ORDER BY row) - 1 AS place "
        + "FROM \(namespace.name)._logstore_change WHERE kind = 'update') AS u WHERE ordinal = place"
    )
    #expect(inOrder == count)
  }

  @Test func `names the sum that its type cannot hold, and changes nothing`() throws {
    let place = try BatchPlace(rowsOnly: false)
    let context = ModelContext(place.container)
    try context.batchUpdate(
      Assigned.Sample.self,
      where: #Predicate { $0.serial == 7 },
      .set(\.small, to: .max)
    )
    let error = try #require(throws: (any Error).self) {
      try context.batchUpdate(Assigned.Sample.self, .add(2, to: \.large), .add(1, to: \.small))
    }
    #expect("\(error)".contains("Sample.small: 32767 + 1 is no Int16"), "\(error)")
    #expect(try place.samples().allSatisfy { $0.large == 0 })
  }

  @Test func `has the infinite sums that Swift has and SQL refuses`() throws {
    let place = try BatchPlace(rowsOnly: false)
    let context = ModelContext(place.container)
    try context.batchUpdate(
      Assigned.Sample.self,
      .set(\.double, to: .greatestFiniteMagnitude),
      .set(\.float, to: .greatestFiniteMagnitude)
    )
    try context.batchUpdate(
      Assigned.Sample.self,
      .add(.greatestFiniteMagnitude, to: \.double),
      .add(.greatestFiniteMagnitude, to: \.float)
    )
    #expect(try place.samples().allSatisfy { $0.double == .infinity && $0.float == .infinity })
  }

  @Test(.enabled(if: TestServer.isOwn, "a proxy stands before a server of the tests' own"))
  func `adds to what others save after the rows were found, and leaves out what they delete`()
    throws
  {
    let folder = try #require(try TestServer.shared.get().folder)
    let way = "/tmp/logstore-proxy-\(UUID().uuidString.prefix(8))"
    let proxy = try FaultProxy(in: way, to: folder, seed: 1)
    defer { proxy.close() }
    let place = try BatchPlace(rowsOnly: false)
    let configuration = PostgresStoreConfiguration(
      url: FaultyServer.url(in: way),
      namespace: place.namespace.name
    )
    let context = ModelContext(
      try ModelContainer(for: Assigned.schema, configurations: [configuration])
    )
    let other = Sent(context: ModelContext(place.container))
    let errors = Errors()
    let intrusion = Fault.interlude {
      errors.collect {
        let samples = try other.context.fetch(
          FetchDescriptor<Assigned.Sample>(sortBy: [SortDescriptor(\.serial)])
        )
        samples[1].large = 10
        other.context.delete(samples[2])
        try other.context.save()
      }
    }
    proxy.arm(intrusion, aheadOf: "SET \"large\"")
    let result = try context.batchUpdate(Assigned.Sample.self, .add(1, to: \.large))
    #expect(errors.all.map { "\($0)" } == [])
    #expect(proxy.struckCount == 1)
    #expect(result.updatedCount == 39)
    #expect(try place.samples().map(\.large) == [1, 11] + Array(repeating: 1, count: 37))
  }

  private struct Sent: @unchecked Sendable { let context: ModelContext }

  @Test
  func `is a part of the stage of a migration whose code makes it, also where SQL refuses it`()
    throws
  {
    let place = try StorePlace(.server)
    let first = try place.open(PeaksV1.self, plan: PeaksPlan.self)
    for name in ["a", "b"] { first.insert(PeaksV1.Peak(name)) }
    try first.save()
    let second = try place.open(PeaksV2.self, plan: PeaksPlan.self)
    let peaks = try second.fetch(FetchDescriptor<PeaksV2.Peak>())
    #expect(peaks.map(\.rise) == [.infinity, .infinity])
    #expect(peaks.map(\.climbs) == [120, 120])
  }
}

private enum PeaksV1: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Peak.self] }

  @Model final class Peak {
    var name: String
    init(_ name: String) { self.name = name }
  }
}

private enum PeaksV2: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Peak.self] }

  @Model final class Peak {
    var name: String
    var rise = Double.greatestFiniteMagnitude
    var climbs: Int8 = 127
    init(_ name: String) { self.name = name }
  }
}

private enum PeaksPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [PeaksV1.self, PeaksV2.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: PeaksV1.self,
        toVersion: PeaksV2.self,
        willMigrate: nil,
        didMigrate: { context in
          try context.batchUpdate(PeaksV2.Peak.self, .add(.greatestFiniteMagnitude, to: \.rise))
          #expect(throws: SwiftDataError.aggregateOverflow) {
            try context.batchUpdate(PeaksV2.Peak.self, .add(1, to: \.climbs))
          }
          try context.batchUpdate(PeaksV2.Peak.self, .add(-7, to: \.climbs))
        }
      )
    ]
  }
}
