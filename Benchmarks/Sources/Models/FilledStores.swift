import Foundation
import GRDBPeer
import Harness
import SwiftData
import Workloads

/// The same 100,000 trips in every contender's store.
struct FilledStores {
  let plan: Plan
  let records: [TripRecord]
  let container: ModelContainer
  private let peers: (all: [Fetching], two: [Fetching])

  /// Makes the stores and fills them.
  ///
  /// - Parameters:
  ///   - plan: Says how much to measure.
  ///   - folder: The folder of the stores.
  /// - Throws: What a store throws.
  init(_ plan: Plan, _ folder: URL) throws {
    self.plan = plan
    records = TripGenerator().records(1..<100_001)
    peers = try GRDBContender.fetchers(folder, records)
    container = try ModelStore.open(folder, .relaxed)
    let context = ModelContext(container)
    for record in records { context.insert(Trip(record)) }
    try context.save()
  }

  func run(_ report: Report) throws {
    report.add(try fetchAll())
    report.add(try fetchTwo())
    report.add(try measureMemory())
  }

  /// Fetches all trips as objects and reads every attribute of each.
  private func fetchAll() throws -> [Standing] {
    try compare(
      .fetchAll,
      least: 1_000_000,
      expected: records.reduce(0) { $0 + $1.checksum },
      peers.all + [
        Fetching(contender: .classes, settings: "objects of a plain class made from values") {
          records.map(PlainTrip.init).reduce(0) { $0 + $1.checksum }
        },
        Fetching(contender: .models, settings: "a new ModelContext, fetch(FetchDescriptor())") {
          try ModelContext(container).fetch(FetchDescriptor<Trip>())
            .reduce(0) { $0 + $1.checksum }
        },
      ]
    )
  }

  /// Fetches all trips and reads two attributes, a text and a number.
  ///
  /// GRDB selects the two columns, as its documentation advises; with models there is nothing to say,
  /// because an attribute is decoded when it is read.
  private func fetchTwo() throws -> [Standing] {
    try compare(
      .fetchTwo,
      least: 3_000_000,
      expected: records.reduce(0) { $0 + $1.destination.utf8.count + Int($1.rating) },
      peers.two + [
        Fetching(contender: .models, settings: "a new ModelContext, fetch(FetchDescriptor())") {
          try ModelContext(container).fetch(FetchDescriptor<Trip>())
            .reduce(0) { $0 + $1.destination.utf8.count + Int($1.rating) }
        }
      ]
    )
  }

  private func compare(
    _ workload: Workload,
    least: Double,
    expected: Int,
    _ fetchings: [Fetching]
  ) throws -> [Standing] {
    let entrants = fetchings.map { fetching in
      Entrant(
        workload,
        fetching.contender,
        settings: fetching.settings,
        comparedWith: fetching.contender == .grdb ? nil : .init(workload, .grdb),
        targets: fetching.contender == .models ? [Target(.rowsPerSecond, .atLeast(least))] : [],
        rows: records.count,
        expected: expected,
        answer: fetching.fetch
      )
    }
    return try RoundRobin(rounds: plan.choose(quick: 5, full: 11), entrants).run()
  }
}
