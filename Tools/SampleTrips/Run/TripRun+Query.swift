import Foundation
import SwiftData
import Terminal

/// The answer to one question to the store.
struct QueryReport {
  /// The worst delays, in minutes.
  var trips: [(name: String, destination: String, departure: Date, delay: Int)] = []
  var matchCount = 0
  var seconds = 0.0
}

extension TripRun {
  /// The question is which trips from this airport left more than so many minutes late.
  static let queriedAirport = "JFK"
  static let queriedDelay = 60
  static let queriedLimit = 5

  /// Asks the store with a predicate, a sort and a limit.
  func findLongestDelays(in container: ModelContainer) throws -> QueryReport {
    try withContext(of: container) { context, _ in try findLongestDelays(in: context) }
  }

  private func findLongestDelays(in context: ModelContext) throws -> QueryReport {
    let airport = Self.queriedAirport
    let delay = Self.queriedDelay
    var descriptor = FetchDescriptor<Trip>(
      predicate: #Predicate { trip in
        trip.origin?.code == airport && (trip.departureDelay ?? 0) > delay
      },
      sortBy: [SortDescriptor(\.departureDelay, order: .reverse)]
    )
    let clock = ContinuousClock()
    let start = clock.now
    var report = QueryReport()
    report.matchCount = try context.fetch(descriptor).count
    descriptor.fetchLimit = Self.queriedLimit
    report.trips = try context.fetch(descriptor).map { trip in
      (trip.name, trip.destination, trip.scheduledDeparture, trip.departureDelay ?? 0)
    }
    report.seconds = (clock.now - start).seconds
    return report
  }
}
