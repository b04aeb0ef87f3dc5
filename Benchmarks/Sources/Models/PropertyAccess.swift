import Foundation
import Harness
import SwiftData
import Workloads

/// Reading and writing one property of objects in memory, ours and a plain class's.
struct PropertyAccess {
  private let plan: Plan
  private let plain: [PlainTrip]
  private let trips: [Trip]
  private let context: ModelContext

  private static let passes = 20

  /// Saves 10,000 objects and keeps them.
  ///
  /// - Parameters:
  ///   - plan: Says how much to measure.
  ///   - folder: The folder of the store.
  /// - Throws: What the store throws.
  init(_ plan: Plan, _ folder: URL) throws {
    self.plan = plan
    let records = TripGenerator().records(1..<10_001)
    plain = records.map(PlainTrip.init)
    trips = records.map(Trip.init)
    context = ModelContext(try ModelStore.open(folder, .relaxed))
    for trip in trips { context.insert(trip) }
    try context.save()
  }

  func run(_ report: Report) throws {
    report.add(
      try compare(
        .propertyGet,
        Target(.nanosecondsPerRow, .difference, .atMost(10)),
        { objects in objects.reduce(0) { $0 &+ $1.rating } },
        { objects in objects.reduce(0) { $0 &+ $1.rating } }
      )
    )
    report.add(
      try compare(
        .propertyGetText,
        Target(.nanosecondsPerRow, .difference, .atMost(10)),
        { objects in objects.reduce(0) { $0 &+ Int64($1.note.utf8.count) } },
        { objects in objects.reduce(0) { $0 &+ Int64($1.note.utf8.count) } }
      )
    )
    report.add(
      try compare(
        .propertySet,
        Target(.nanosecondsPerRow, .atMost(70)),
        { objects in
          for object in objects { object.rating &+= 1 }
          return 0
        },
        { objects in
          for object in objects { object.rating &+= 1 }
          return 0
        }
      )
    )
    context.rollback()
  }

  private func compare(
    _ workload: Workload,
    _ target: Target,
    _ onPlain: @escaping ([PlainTrip]) -> Int64,
    _ onModels: @escaping ([Trip]) -> Int64
  ) throws -> [Standing] {
    try RoundRobin(
      rounds: plan.choose(quick: 9, full: 25),
      [
        Entrant(workload, .classes, settings: "a plain class") { time(plain, onPlain) },
        Entrant(
          workload,
          .models,
          settings: "registered, saved models; nobody observes",
          comparedWith: .init(workload, .classes),
          targets: [target]
        ) {
          time(trips, onModels)
        },
      ]
    ).run()
  }

  private func time<Object>(_ objects: [Object], _ work: ([Object]) -> Int64) -> Sample {
    var answer: Int64 = 0
    let start = monotonicNanoseconds()
    for _ in 0..<Self.passes { answer &+= work(objects) }
    let elapsed = monotonicNanoseconds() - start
    // Whoever looks at the answer keeps the optimizer from dropping the work.
    withExtendedLifetime(answer) {}
    return Sample([.nanosecondsPerRow: Double(elapsed) / Double(Self.passes * objects.count)])
  }
}
