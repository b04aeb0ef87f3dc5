import Foundation
import SwiftData

/// Trips whose identifiers were written down, with what they were then.
struct KeptTrips: Codable {
  enum Word: String { case keep, check }

  private struct Entry: Codable {
    let identifier: PersistentIdentifier
    let name: String
    let distance: Int
  }

  private let entries: [Entry]

  /// How many trips are kept, at most.
  private static let limit = 1000

  /// Writes down trips, or looks for those that were.
  ///
  /// Ends the process with 4 if one is missing or another one.
  static func run(_ word: Word, _ container: ModelContainer, _ file: URL) throws {
    let context = ModelContext(container)
    switch word {
    case .keep:
      // The writer deletes trips of its own.
      let lasting = FetchDescriptor<Trip>(predicate: #Predicate { !$0.name.starts(with: "FW ") })
      let trips = try context.fetch(lasting)
      let step = max(1, trips.count / limit)
      let entries = stride(from: 0, to: trips.count, by: step).map {
        Entry(
          identifier: trips[$0].persistentModelID,
          name: trips[$0].name,
          distance: trips[$0].distance
        )
      }
      try JSONEncoder().encode(KeptTrips(entries: entries)).write(to: file)
    case .check:
      let kept = try JSONDecoder().decode(KeptTrips.self, from: Data(contentsOf: file)).entries
      for entry in kept {
        let trip = context.model(for: entry.identifier) as? Trip
        guard let trip, trip.name == entry.name, trip.distance == entry.distance else {
          print("error: \(entry.identifier) is not \(entry.name)")
          exit(4)
        }
      }
      guard !kept.isEmpty else { exit(4) }
      print("\(kept.count) identifiers are valid")
    }
  }
}
