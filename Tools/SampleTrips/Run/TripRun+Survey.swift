import SwiftData
import Terminal

/// The trips that a store held before the run, and the flights left to import.
struct StoredTrips {
  let tripCount: Int
  /// The flights to import, by their place in the timetable.
  let missing: [Int]
}

extension TripRun {
  /// Compares what the store holds with the timetable, so that a run that was killed is continued.
  func survey(_ container: ModelContainer) throws -> StoredTrips {
    try withContext(of: container) { context, _ in try survey(context) }
  }

  private func survey(_ context: ModelContext) throws -> StoredTrips {
    let trips = try context.fetch(FetchDescriptor<Trip>())
    guard !trips.isEmpty else {
      return StoredTrips(tripCount: 0, missing: Array(timetable.flights.indices))
    }
    var departed: [FlightIdentity: Bool] = [:]
    for trip in trips { departed[trip.identity] = trip.actualDeparture != nil }
    try refuseStrangers(among: departed)

    // Cancelled flights are deleted when every other has departed: then they are not missing.
    let wasReplayed = timetable.flights.allSatisfy { flight in
      flight.isCancelled || departed[flight.identity] == true
    }
    let missing = timetable.flights.indices.filter { index in
      departed[timetable.flights[index].identity] == nil && !wasReplayed
    }
    return StoredTrips(tripCount: trips.count, missing: missing)
  }

  /// Trips of another file would make every count wrong, and their cancelled ones would be deleted.
  private func refuseStrangers(among stored: [FlightIdentity: Bool]) throws {
    let known = Set(timetable.flights.map(\.identity))
    let strangers = stored.keys.filter { !known.contains($0) }
    guard let stranger = strangers.min(by: { ($0.day, $0.name) < ($1.day, $1.name) }) else {
      return
    }
    throw ToolError(
      "the store holds trips of another file",
      place: setup.place.name,
      expected: "only flights of the CSV file",
      found: "\(strangers.count.grouped) others, such as \(stranger.name) from \(stranger.origin)",
      advice: "give the --csv it was made from, or another --url"
    )
  }
}

extension Trip {
  /// The flight the trip was made from.
  var identity: FlightIdentity {
    FlightIdentity(name: name, origin: origin?.code ?? "", day: startDate)
  }
}
