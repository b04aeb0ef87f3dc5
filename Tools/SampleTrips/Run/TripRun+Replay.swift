import SwiftData

extension TripRun {
  /// Lets the days pass: each flight that left learns when, and how late it was.
  ///
  /// Two attributes of a trip change, and of a trip with twenty columns a store that appends deltas
  /// writes those two.
  ///
  /// - Parameters:
  ///   - container: The store.
  ///   - own: The flights; all, if `nil`.
  /// - Returns: The report of the phase.
  /// - Throws: What the store throws.
  func replayDays(
    in container: ModelContainer,
    only own: Set<FlightIdentity>? = nil
  ) throws -> PhaseReport {
    try withContext(of: container) { context, _ in try replayDays(in: context, only: own) }
  }

  private func replayDays(
    in context: ModelContext,
    only own: Set<FlightIdentity>?
  ) throws -> PhaseReport {
    let waiting = try context.fetch(
      FetchDescriptor<Trip>(predicate: #Predicate { $0.actualDeparture == nil })
    )
    let trips = Dictionary(waiting.map { ($0.identity, $0) }) { first, _ in first }
    let departures = timetable.flights.filter { flight in
      !flight.isCancelled && trips[flight.identity] != nil
        && own?.contains(flight.identity) != false
    }
    var phase = try Phase("replay", total: departures.count, in: context, of: self)
    phase.tripsHeld = try context.fetchCount(FetchDescriptor<Trip>())
    for flights in departures.batches(of: batch) {
      for flight in flights {
        guard let trip = trips[flight.identity] else { continue }
        trip.actualDeparture = flight.actualDeparture
        trip.departureDelay = flight.departureDelay
      }
      try phase.save(flights.count)
    }
    return try phase.finish()
  }

  /// Deletes the trips that never departed, and with them what was planned for them.
  func deleteCancelled(in container: ModelContainer) throws -> PhaseReport {
    try withContext(of: container) { context, _ in try deleteCancelled(in: context) }
  }

  private func deleteCancelled(in context: ModelContext) throws -> PhaseReport {
    let cancelled = try context.fetch(
      FetchDescriptor<Trip>(predicate: #Predicate { $0.actualDeparture == nil })
    )
    var phase = try Phase("cancel", total: cancelled.count, in: context, of: self)
    phase.tripsHeld = try context.fetchCount(FetchDescriptor<Trip>())
    for trips in cancelled.batches(of: batch) {
      for trip in trips { context.delete(trip) }
      phase.tripsHeld -= trips.count
      try phase.save(trips.count)
    }
    return try phase.finish()
  }
}
