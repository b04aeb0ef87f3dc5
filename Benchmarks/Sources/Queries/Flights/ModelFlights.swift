import Foundation
import SwiftData
import Workloads

/// A flight as a model.
@Model
final class Flight {
  var carrier: String
  var number: Int64
  var origin: String
  var destination: String
  var tailNumber: String?
  var scheduled: Double
  var departureDelay: Int64?
  var arrivalDelay: Int64?
  var distance: Int64

  init(_ flight: FlightRecord) {
    carrier = flight.carrier
    number = flight.number
    origin = flight.origin
    destination = flight.destination
    tailNumber = flight.tailNumber
    scheduled = flight.scheduled
    departureDelay = flight.departureDelay
    arrivalDelay = flight.arrivalDelay
    distance = flight.distance
  }
}

/// Flights as models in a LogStore: saved in one context, asked for in a new one each time.
final class ModelFlights: FlightStore {
  static let settings =
    "ModelContext on LogStore, .relaxed; delays: fetch, then a loop over objects"

  private let container: ModelContainer

  init(_ folder: URL) throws {
    container = try ModelContainer(
      for: Schema([Flight.self]),
      configurations: [LogStoreConfiguration(url: folder, durability: .relaxed)]
    )
  }

  func save(_ flights: ArraySlice<FlightRecord>) throws {
    let context = ModelContext(container)
    for flight in flights { context.insert(Flight(flight)) }
    try context.save()
  }

  func countLate(origin: String, minutes: Int64) throws -> Int {
    try ModelContext(container).fetchCount(
      FetchDescriptor<Flight>(
        predicate: #Predicate { $0.origin == origin && ($0.departureDelay ?? 0) > minutes }
      )
    )
  }

  func delays() throws -> DelayTally {
    let isKnown = #Predicate<Flight> { $0.arrivalDelay != nil }
    var tally = DelayTally()
    for flight in try ModelContext(container).fetch(FetchDescriptor(predicate: isKnown)) {
      if let delay = flight.arrivalDelay { tally.add(flight.carrier, minutes: delay) }
    }
    return tally
  }

  func close() throws {}
}
