import SwiftData

@Model
final class Departure {
  #Unique<Departure>([\.number])
  var number: Int
  var destination: String
  var due: Date
  var delay = 0

  init(_ number: Int, to destination: String, due: Date) {
    self.number = number
    self.destination = destination
    self.due = due
  }
}

extension Departure {
  /// The departures in a store that several processes write to.
  static func container(at url: URL) throws -> ModelContainer {
    var configuration = LogStoreConfiguration(url: url, durability: .relaxed)
    configuration.writers = .severalProcesses
    return try ModelContainer(for: Departure.self, configurations: configuration)
  }

  static func find(_ number: Int, in context: ModelContext) throws -> Departure {
    let descriptor = FetchDescriptor<Departure>(predicate: #Predicate { $0.number == number })
    guard let found = try context.fetch(descriptor).first else { throw NoSuchDeparture(number) }
    return found
  }
}

struct NoSuchDeparture: Error, CustomStringConvertible {
  let number: Int
  init(_ number: Int) { self.number = number }
  var description: String { "there is no departure \(number)" }
}
