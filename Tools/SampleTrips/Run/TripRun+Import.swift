import SwiftData

extension TripRun {
  /// Imports flights, named by their place in the timetable, as trips that have not departed yet.
  func importTrips(_ missing: [Int], into container: ModelContainer) throws -> PhaseReport {
    try withContext(of: container) { try importTrips(missing, in: $0, $1) }
  }

  private func importTrips(
    _ missing: [Int],
    in context: ModelContext,
    _ reference: ReferenceData
  ) throws -> PhaseReport {
    let clocks = ArrivalClocks(timetable.airports)
    var phase = try Phase("import", total: missing.count, in: context, of: self)
    phase.tripsHeld = try context.fetchCount(FetchDescriptor<Trip>())
    for indices in missing.batches(of: batch) {
      for index in indices {
        let flight = timetable.flights[index]
        let trip = makeTrip(flight, reference, clocks)
        if Self.hasPlans(index) { addPlans(to: trip) }
        context.insert(trip)
      }
      phase.tripsHeld += indices.count
      try phase.save(indices.count)
    }
    return try phase.finish()
  }

  private func makeTrip(
    _ flight: Flight,
    _ reference: ReferenceData,
    _ clocks: ArrivalClocks
  ) -> Trip {
    let arrival = reference.airports[flight.destination]
    let trip = Trip(
      name: flight.identity.name,
      destination: arrival?.name ?? flight.destination,
      startDate: flight.identity.day,
      endDate: clocks.arrival(of: flight),
      flightNumber: flight.number,
      distance: flight.distance,
      scheduledDeparture: flight.scheduledDeparture
    )
    trip.airline = reference.airlines[flight.carrier]
    trip.origin = reference.airports[flight.identity.origin]
    trip.arrivalAirport = arrival
    trip.plane = flight.tailNumber.flatMap { reference.planes[$0] }
    return trip
  }

  /// Whether a traveller has plans for a flight: one in a hundred does.
  ///
  /// The flights are real, the plans are not: they are here for the cascade that deletes them.
  static func hasPlans(_ index: Int) -> Bool { index % 100 == 0 }

  static let planCount = 2

  private func addPlans(to trip: Trip) {
    trip.bucketList = [
      BucketListItem(title: "Arrive", details: "Find the way out of \(trip.destination)"),
      BucketListItem(title: "See the town", details: "On foot, if it does not rain"),
    ]
    trip.livingAccommodation = LivingAccommodation(address: trip.destination, placeName: "Hotel")
  }
}
