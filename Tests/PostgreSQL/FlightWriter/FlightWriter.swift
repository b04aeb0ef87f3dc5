import Foundation
import PostgresStore
import SwiftData

/// Changes the trips of `SampleTrips` without a pause, until standard input ends.
///
///     FlightWriter STORE [URL NAMESPACE]      in a store, and if a server is named, then once on it
///     FlightWriter URL NAMESPACE              on a server
///     FlightWriter keep PLACE… FILE           writes down identifiers of trips that are there
///     FlightWriter check PLACE… FILE          opens the trips by their identifiers, in a store or on a server
///
/// What a move has to keep up with: each save changes ten trips at random, and inserts or deletes one. It prints "ready"
/// once it saves, and in the end how many saves there were, and how long it was from the last one in the store to the first one
/// on the server.
@main struct FlightWriter {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    if let word = arguments.first.flatMap(KeptTrips.Word.init), (3...4).contains(arguments.count) {
      let place = arguments.dropFirst().dropLast()
      let container = place.count == 2 ? try server(place) : try log(URL(filePath: place[2]))
      return try KeptTrips.run(word, container, URL(filePath: arguments[arguments.endIndex - 1]))
    }
    guard let first = arguments.first, (1...3).contains(arguments.count) else {
      print("usage: FlightWriter STORE [URL NAMESPACE] | URL NAMESPACE")
      exit(2)
    }
    guard fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_NONBLOCK) == 0 else { exit(3) }
    let closing: ContinuousClock.Instant
    do {
      let container =
        arguments.count == 2 ? try server(arguments) : try log(URL(filePath: first))
      var writer = try Self(container)
      var count = 0
      try writer.save()
      FileHandle.standardOutput.write(Data("ready\n".utf8))
      var slowest = Duration.zero
      let start = ContinuousClock.now
      while !hasEnded {
        let before = ContinuousClock.now
        try writer.save()
        slowest = max(slowest, before.duration(to: .now))
        count += 1
      }
      closing = .now
      print(
        "\(count) saves of 11 changes in \(start.duration(to: closing)), the slowest in \(slowest)"
      )
    }
    guard arguments.count == 3 else { return }
    let container = try server(arguments.dropFirst())
    let opened = closing.duration(to: .now)
    let context = ModelContext(container)
    var descriptor = FetchDescriptor<Trip>()
    descriptor.fetchLimit = 1
    try context.fetch(descriptor).first?.departureDelay = 1
    try context.save()
    print("opened on the server after \(opened), saved there after \(closing.duration(to: .now))")
  }

  /// Whether standard input has ended.
  private static var hasEnded: Bool {
    var byte: UInt8 = 0
    return read(0, &byte, 1) == 0
  }

  private static func log(_ url: URL) throws -> ModelContainer {
    let configuration = LogStoreConfiguration(url: url, durability: .full)
    return try ModelContainer(for: schema, configurations: [configuration])
  }

  private static func server(_ arguments: ArraySlice<String>) throws -> ModelContainer {
    let parts = Array(arguments)
    let configuration = PostgresStoreConfiguration(url: parts[0], namespace: parts[1])
    return try ModelContainer(for: schema, configurations: [configuration])
  }

  private static var schema: Schema {
    Schema([
      Trip.self, BucketListItem.self, LivingAccommodation.self, Airline.self, Airport.self,
      Plane.self,
    ])
  }

  private let context: ModelContext
  private let identifiers: [PersistentIdentifier]
  private var own: [Trip] = []
  private var random = SystemRandomNumberGenerator()

  private init(_ container: ModelContainer) throws {
    let context = ModelContext(container)
    self.context = context
    identifiers = try context.fetchIdentifiers(FetchDescriptor<Trip>())
  }

  private mutating func save() throws {
    for _ in 0..<10 {
      guard let identifier = identifiers.randomElement(using: &random),
        let trip = context.model(for: identifier) as? Trip
      else { continue }
      trip.departureDelay = Int.random(in: -20...600, using: &random)
    }
    if own.count > 20, let trip = own.popLast() {
      context.delete(trip)
    } else {
      let trip = Trip(
        name: "FW \(own.count)",
        destination: "Nowhere",
        startDate: .distantPast,
        endDate: .distantPast,
        flightNumber: 1,
        distance: 1,
        scheduledDeparture: .distantPast
      )
      trip.airline = try context.fetch(FetchDescriptor<Airline>()).first
      context.insert(trip)
      own.append(trip)
    }
    try context.save()
  }
}
