import SwiftData

/// One figure of the store beside the same figure of the CSV.
struct Check: CustomStringConvertible {
  let what: String
  let expected: Int
  let found: Int

  var holds: Bool { expected == found }
  var description: String { "\(what): expected \(expected), found \(found)" }
}

extension TripRun {
  /// Compares the store with the CSV: counts, contents and relationships.
  func checks(in container: ModelContainer, query: QueryReport) throws -> [Check] {
    try withContext(of: container) { context, _ in try checks(in: context, query: query) }
  }

  private func checks(in context: ModelContext, query: QueryReport) throws -> [Check] {
    let departed = timetable.flights.filter { !$0.isCancelled }
    let plans = timetable.flights.indices.filter { index in
      Self.hasPlans(index) && !timetable.flights[index].isCancelled
    }
    func count<Model: PersistentModel>(_: Model.Type) throws -> Int {
      try context.fetchCount(FetchDescriptor<Model>())
    }
    let late = departed.filter { flight in
      flight.identity.origin == Self.queriedAirport
        && (flight.departureDelay ?? 0) > Self.queriedDelay
    }
    let worst = late.compactMap(\.departureDelay).sorted(by: >).prefix(Self.queriedLimit)
    let delays = try context.fetch(FetchDescriptor<Trip>()).map { $0.departureDelay ?? 0 }
    return [
      Check(what: "trips", expected: departed.count, found: try count(Trip.self)),
      Check(
        what: "minutes of delay in all trips",
        expected: departed.reduce(0) { $0 + ($1.departureDelay ?? 0) },
        found: delays.reduce(0, +)
      ),
      Check(what: "airlines", expected: timetable.airlines.count, found: try count(Airline.self)),
      Check(what: "airports", expected: timetable.airports.count, found: try count(Airport.self)),
      Check(what: "planes", expected: timetable.planes.count, found: try count(Plane.self)),
      Check(
        what: "things to do",
        expected: plans.count * Self.planCount,
        found: try count(BucketListItem.self)
      ),
      Check(
        what: "places to stay",
        expected: plans.count,
        found: try count(LivingAccommodation.self)
      ),
      Check(what: "late departures found", expected: late.count, found: query.matchCount),
      Check(
        what: "minutes of the worst delays found",
        expected: worst.reduce(0, +),
        found: query.trips.reduce(0) { $0 + $1.delay }
      ),
      try checkAirlines(departed, context),
    ]
  }

  /// Counts the airlines whose trips, followed from the airline, are as many as in the CSV.
  private func checkAirlines(_ departed: [Flight], _ context: ModelContext) throws -> Check {
    let expected = departed.reduce(into: [:]) { $0[$1.carrier, default: 0] += 1 }
    let agreeing = try context.fetch(FetchDescriptor<Airline>()).filter { airline in
      airline.trips.count == expected[airline.code, default: 0]
    }
    return Check(
      what: "airlines with the right number of trips",
      expected: timetable.airlines.count,
      found: agreeing.count
    )
  }
}
