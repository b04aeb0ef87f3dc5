import Foundation
import Logging
import ServiceLifecycle
import SwiftData
import Synchronization
import Testing

/// Saves until it is asked to stop, and once more.
private final class Worker: Service {
  let container: ModelContainer
  /// Whether the last save, after the stop began, was stored.
  let savedAtLast = Mutex(false)
  let started: AsyncStream<Void>.Continuation

  init(_ container: ModelContainer, started: AsyncStream<Void>.Continuation) {
    self.container = container
    self.started = started
  }

  func run() async throws {
    started.finish()
    try await gracefulShutdown()
    try await container.write { $0.insert(Trip(name: "last")) }
    savedAtLast.withLock { $0 = true }
  }
}

@Suite struct `A container in a service group` {
  @Test func `is closed when the services behind it have ended`() async throws {
    let container = try ModelContainer(
      for: Trip.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let (hasStarted, started) = AsyncStream.makeStream(of: Void.self)
    let worker = Worker(container, started: started)
    let group = ServiceGroup(
      services: [ModelContainerService(container), worker],
      logger: Logger(label: "test")
    )
    let running = Task { try await group.run() }
    for await _ in hasStarted {}
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Trip>()) == 0)
    await group.triggerGracefulShutdown()
    try await running.value
    #expect(worker.savedAtLast.withLock { $0 })
    #expect(throws: SwiftDataError.storeClosed) {
      try ModelContext(container).fetchCount(FetchDescriptor<Trip>())
    }
  }
}
