import FaultProxy
import Foundation
import ModelRuntime
import PostgresStore

/// Measures how long after a save a list in another process shows what was saved.
struct Latency {
  let seed: UInt64
  let saves: Int

  private static let namespace = "latency"

  /// - Returns: The delays, in microseconds, in order.
  /// - Throws: What keeps the server or the process from working.
  func measure() throws -> [Int] {
    let server = try FaultyServer()
    defer { server.remove() }
    let context = ModelContext(try Latency.container(server.url))
    let other = try OtherProcess("show", server.url, "\(saves)")
    try other.tell("go")
    var random = SplitMix(seed)
    for _ in 0..<saves {
      // Further apart than rings of the bell, so that each save is heard of by itself; and never in step with them.
      usleep(UInt32.random(in: 25_000...60_000, using: &random))
      context.insert(Reading(time: Latency.now()))
      try context.save()
    }
    return try other.finish().compactMap { Int($0) }.sorted()
  }

  private static func container(_ url: String) throws -> ModelContainer {
    try ModelContainer(
      for: CampaignModels.schema,
      configurations: [PostgresStoreConfiguration(url: url, namespace: namespace)]
    )
  }

  /// What the other process does: it prints the delay of each save that its list shows.
  @MainActor static func show(_ url: String, count: Int) async throws {
    let container = try container(url)
    let readings = try ResultsObserver<Reading, Never>(
      sortBy: [SortDescriptor(\.time)],
      modelContext: container.mainContext
    )
    _ = OtherProcess.waitForStart()
    var last = 0
    for await change in readings.changes {
      let time = change.results.last?.time ?? 0
      if time > last { OtherProcess.say("\(now() - time)") }
      last = time
      if change.results.count == count { break }
    }
  }

  /// Microseconds; all processes of a machine have the same clock.
  private static func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
  }
}
