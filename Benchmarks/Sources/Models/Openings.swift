import Foundation
import GRDBPeer
import Harness
import JSONStore
import SwiftData
import Workloads

/// From nothing to the first object, in stores of 100,000 trips that were let go before.
struct Openings {
  let plan: Plan

  func run(_ report: Report) throws {
    try withFolder(plan, "openings") { folder in
      let records = TripGenerator().records(1..<100_001)
      let file = folder.appending(path: "trips.json")
      let json = { JSONStoreConfiguration(name: "trips", url: file) }
      let log = { ModelStore.configuration(folder, .relaxed) }
      try fill(json(), records)
      try fill(log(), records)
      let openings =
        try GRDBContender.openings(folder, records) + [
          Fetching(contender: .json, settings: "JSONStore, 100,000 objects, one fetched") {
            try readFirst(json())
          },
          Fetching(
            contender: .models,
            settings: "\(ModelStore.settings(.relaxed)), 100,000 objects, one fetched"
          ) {
            try readFirst(log())
          },
        ]
      report.add(try compare(openings, Set(records.map(\.checksum))))
    }
  }

  private func compare(_ openings: [Fetching], _ expected: Set<Int>) throws -> [Standing] {
    let entrants = openings.map { opening in
      Entrant(
        .openClean,
        opening.contender,
        settings: opening.settings,
        comparedWith: opening.contender == .grdb ? nil : .init(.openClean, .grdb)
      ) {
        var found = 0
        let sample = try timeMilliseconds { found = try opening.fetch() }
        // The store decides which object comes first; but it must be one of ours.
        try WrongAnswer.check(expected.contains(found) ? 1 : 0, is: 1, opening.contender)
        return sample
      }
    }
    return try RoundRobin(rounds: plan.choose(quick: 3, full: 9), entrants).run()
  }

  private func fill(
    _ configuration: some DataStoreConfiguration,
    _ records: [TripRecord]
  ) throws {
    let context = ModelContext(try container(configuration))
    for record in records { context.insert(Trip(record)) }
    try context.save()
  }

  private func readFirst(_ configuration: some DataStoreConfiguration) throws -> Int {
    var descriptor = FetchDescriptor<Trip>()
    descriptor.fetchLimit = 1
    return try ModelContext(container(configuration)).fetch(descriptor)
      .reduce(0) { $0 + $1.checksum }
  }

  private func container(
    _ configuration: some DataStoreConfiguration
  ) throws -> ModelContainer {
    try ModelContainer(for: Schema([Trip.self]), configurations: [configuration])
  }
}
