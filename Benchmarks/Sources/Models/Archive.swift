import Foundation
import Harness
import JSONStore
import SwiftData
import Workloads

/// Saving one changed property in a store of 100,000 trips.
///
/// One store writes its file anew each time, the other appends the change to a log; both survive the end
/// of the process.
struct Archive {
  let plan: Plan

  func run(_ report: Report) throws {
    try withFolder(plan, "archive") { folder in
      let file = folder.appending(path: "trips.json")
      let json = try filledContext(JSONStoreConfiguration(name: "trips", url: file))
      let models = try filledContext(ModelStore.configuration(folder, .relaxed))
      let standings = try RoundRobin(
        rounds: plan.choose(quick: 3, full: 9),
        [
          Entrant(
            .jsonSave,
            .json,
            settings: "JSONStore, the file written anew",
            run: { try saveOne(json) }
          ),
          Entrant(
            .jsonSave,
            .models,
            settings: ModelStore.settings(.relaxed),
            comparedWith: .init(.jsonSave, .json),
            run: { try saveOne(models) }
          ),
        ]
      ).run()
      report.add(standings)
    }
  }

  private func filledContext(_ configuration: some DataStoreConfiguration) throws -> Filled {
    let container = try ModelContainer(for: Schema([Trip.self]), configurations: [configuration])
    let context = ModelContext(container)
    let trips = TripGenerator().records(1..<100_001).map(Trip.init)
    for trip in trips { context.insert(trip) }
    try context.save()
    return Filled(context: context, trips: trips)
  }

  private func saveOne(_ filled: Filled) throws -> Sample {
    filled.trips[50_000].rating += 1
    let before = writtenBytes()
    var sample = try timeMilliseconds { try filled.context.save() }
    sample.figures[.bytesPerRow] = Double(writtenBytes() - before)
    return sample
  }

  private struct Filled {
    let context: ModelContext
    let trips: [Trip]
  }
}
