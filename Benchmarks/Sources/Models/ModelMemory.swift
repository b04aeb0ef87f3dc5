import Harness
import SwiftData
import Workloads

extension FilledStores {
  /// The heap memory of a registered object whose attributes were not read.
  func measureMemory() throws -> [Standing] {
    // The size of a row of the workload in the row format, on average.
    let rowByteCount = 178.0
    return try RoundRobin(
      rounds: 3,
      [
        Entrant(.modelMemory, .classes, settings: "an object of a plain class; texts not counted") {
          let before = liveHeapBytes()
          let trips = records.map(PlainTrip.init)
          return heapPerObject(trips, since: before)
        },
        Entrant(
          .modelMemory,
          .models,
          settings: "a fetched object and its share of context and row; nothing read",
          comparedWith: .init(.modelMemory, .classes),
          targets: [Target(.bytesPerRow, .atMost(200 + rowByteCount))]
        ) {
          let context = ModelContext(container)
          let before = liveHeapBytes()
          let trips = try context.fetch(FetchDescriptor<Trip>())
          return heapPerObject(trips, since: before)
        },
      ]
    ).run()
  }

  private func heapPerObject(_ objects: [some AnyObject], since before: Int) -> Sample {
    let bytes = liveHeapBytes() - before
    return withExtendedLifetime(objects) {
      Sample([.bytesPerRow: Double(bytes) / Double(objects.count)])
    }
  }
}
