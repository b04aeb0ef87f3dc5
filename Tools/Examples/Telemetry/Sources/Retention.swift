import Logging
import ServiceLifecycle
import SwiftData

/// Removes readings that are too old, now and every hour, until the service stops.
struct Retention: Service {
  let ingestor: Ingestor
  let days: Int
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        do {
          let count = try await ingestor.removeReadings(before: .now - Double(days) * 86_400)
          if count > 0 { logger.info("removed \(count) readings older than \(days) days") }
        } catch {
          logger.error("could not remove old readings: \(error)")
        }
        // Cancellation ends the wait; the loop sees it.
        try? await Task.sleep(for: .seconds(3600))
      }
    }
  }
}
