import Foundation
import SwiftData
import Testing

@Model final class RouteAirport {
  var icao = ""
  init(_ icao: String) { self.icao = icao }
}

@Model final class RouteAirline {
  var code = ""
  init(_ code: String) { self.code = code }
}

@Model final class RouteFlight {
  var number = 0
  var origin: RouteAirport?
  var destination: RouteAirport?
  var airline: RouteAirline?
  var left: Date?
  var arrived: Date?
  init(_ number: Int) { self.number = number }
}

/// As apps filter lists: one condition after the other, each of an optional model's property.
@Suite struct `A predicate of many conditions` {
  private let context: ModelContext

  init() throws {
    let container = try ModelContainer(
      for: RouteFlight.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
    let airports = ["ENGM", "ESSA"].map { RouteAirport($0) }
    let airlines = ["SK", "DY"].map { RouteAirline($0) }
    for number in 0..<32 {
      let flight = RouteFlight(number)
      context.insert(flight)
      flight.origin = number & 16 == 0 ? airports[0] : nil
      flight.destination = airports[number & 1]
      flight.airline = airlines[number >> 1 & 1]
      flight.left = number & 4 == 0 ? nil : .now
      flight.arrived = number & 8 == 0 ? nil : .now
    }
    try context.save()
  }

  private func numbers(_ predicate: Predicate<RouteFlight>) throws -> [Int] {
    try context.fetch(FetchDescriptor(predicate: predicate)).map(\.number).sorted()
  }

  /// In one expression, the compiler gave up on it.
  @Test func `compiles, and holds where all of them do`() throws {
    let (from, to, code) = ("ENGM", "ESSA", "DY")
    #expect(
      try numbers(
        #Predicate {
          $0.origin?.icao == from && $0.destination?.icao == to && $0.airline?.code == code
            && $0.left == nil && $0.arrived != nil
        }
      ) == [11]
    )
  }

  @Test func `compiles with alternatives in brackets, too`() throws {
    let (from, to, code) = ("ESSA", "ENGM", "SK")
    #expect(
      try numbers(
        #Predicate { flight in
          (flight.origin?.icao == from || flight.destination?.icao == to)
            && (flight.airline?.code == code || flight.airline?.code != code && flight.left != nil)
            && !(flight.arrived != nil && flight.number > 16) && flight.number % 2 == 0
        }
      ) == [0, 4, 6, 8, 12, 14, 16, 20, 22]
    )
  }
}
