import Foundation
import ModelRuntime
import PostgresStore
import StoreDifferential
import Testing

/// A namespace of the test server.
private struct ServerPlace: ShelfPlace {
  private let namespace: TestNamespace
  private let usesIndexes: Bool

  /// - Parameter usesIndexes: Whether the server is to use indexes also where reading all rows is less work.
  /// - Throws: What the server throws.
  init(usesIndexes: Bool = false) throws {
    namespace = try TestNamespace()
    self.usesIndexes = usesIndexes
  }

  var configuration: any DataStoreConfiguration {
    usesIndexes ? namespace.configuration(with: ["enable_seqscan=off"]) : namespace.configuration
  }
  func compact() throws {}
  func remove() {}
}

@Suite struct `Random questions to a PostgreSQL store` {
  /// More of them with `LOGSTORE_DIFFERENTIAL_SEEDS`.
  private static let seeds: ClosedRange<UInt64> = {
    let wanted = ProcessInfo.processInfo.environment["LOGSTORE_DIFFERENTIAL_SEEDS"]
    return 1...max(1, wanted.flatMap(UInt64.init) ?? 10)
  }()

  @Test(arguments: seeds)
  func `are answered as plain Swift answers them`(seed: UInt64) throws {
    var differential = Differential()
    try differential.run(seed: seed, pieceCount: 60, questionCount: 12) { _ in try ServerPlace() }
    #expect(differential.disagreements.map(\.description) == [], "seed \(seed)")
    #expect(differential.caseCount == 3 * 12 * 6)
  }

  @Test(arguments: seeds)
  func `are answered in the same way by indexes`(seed: UInt64) throws {
    var differential = Differential()
    let seed = seed + 10_000
    try differential.run(seed: seed, pieceCount: 60, questionCount: 12) { _ in
      try ServerPlace(usesIndexes: true)
    }
    #expect(differential.disagreements.map(\.description) == [], "seed \(seed)")
  }
}

@Suite struct `A plan of a fetch from a PostgreSQL server` {
  private func plan(_ predicate: Predicate<Journey>) throws -> QueryPlan {
    let namespace = try TestNamespace()
    let context = ModelContext(try namespace.container(Journey.self, Leg.self))
    for number in 0..<10 {
      let journey = Journey("\(number)", title: number < 4 ? "north" : "south")
      journey.rating = Double(number)
      context.insert(journey)
    }
    try context.save()
    return try ModelContext(context.container).explain(
      FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.rating)])
    )
  }

  @Test func `says that the server found the rows`() throws {
    let plan = try plan(#Predicate { $0.title == "north" })
    #expect(plan.accesses.map(\.path) == [.server])
    #expect(plan.accesses.first?.rowCount == 4)
    #expect(plan.resultCount == 4)
    #expect(plan.filteredBy == .store)
    #expect("\(plan)".contains("found by the server: 4 rows; 4 matched"), "\(plan)")
  }

  @Test func `says which part of a predicate SQL cannot answer`() throws {
    // Arithmetic traps where it overflows in Swift, and fails a whole statement of SQL.
    let plan = try plan(#Predicate { $0.title == "south" && $0.rating * 2 > 13 })
    #expect(plan.accesses.map(\.path) == [.serverThenRows])
    #expect(plan.accesses.first?.rowCount == 6)
    #expect(plan.accesses.first?.readRowCount == 6)
    #expect(plan.accesses.first?.matchCount == 3)
    #expect(plan.resultCount == 3)
    #expect("\(plan)".contains("for a part of the predicate: 6 rows; read 6 rows"), "\(plan)")
  }

  @Test func `says that the context tests objects`() throws {
    let plan = try plan(#Predicate { $0.isLong })
    #expect(plan.filteredBy == .context)
    #expect(plan.accesses.map(\.path) == [.server])
    #expect(plan.accesses.first?.rowCount == 10)
    #expect(plan.resultCount == 5)
  }
}

extension Journey {
  /// Not stored: a predicate that reads it needs objects.
  fileprivate var isLong: Bool { rating >= 5 }
}
