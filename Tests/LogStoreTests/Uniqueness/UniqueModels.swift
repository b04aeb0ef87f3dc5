import LogStore
import SwiftData

@Model final class Account {
  @Attribute(.unique) var number: Int
  var name: String = ""
  var note: String?
  var bank: Bank?
  @Relationship(inverse: \Tag.accounts) var tags: [Tag] = []
  @Relationship(inverse: \Marker.accounts) var markers: [Marker] = []
  @Relationship(deleteRule: .cascade, inverse: \Entry.account) var entries: [Entry] = []
  @Relationship(inverse: \Card.account) var card: Card?

  init(_ number: Int, _ name: String = "") {
    self.number = number
    self.name = name
  }
}

@Model final class Bank {
  var name: String
  var accounts: [Account] = []

  init(_ name: String) { self.name = name }
}

@Model final class Tag {
  var text: String
  var accounts: [Account] = []

  init(_ text: String) { self.text = text }
}

@Model final class Marker {
  @Attribute(.unique) var text: String
  var accounts: [Account] = []

  init(_ text: String) { self.text = text }
}

@Model final class Entry {
  var amount: Int
  var account: Account?

  init(_ amount: Int) { self.amount = amount }
}

@Model final class Card {
  var digits: String
  var account: Account?

  init(_ digits: String) { self.digits = digits }
}

/// Refers to an account that knows nothing of it.
@Model final class Note {
  var text: String
  @Relationship(inverse: nil) var about: Account?

  init(_ text: String, about: Account?) {
    self.text = text
    self.about = about
  }
}

@Model final class Flight {
  #Unique<Flight>([\.carrier, \.number, \.day], [\.code])
  var carrier: String
  var number: Int
  var day: Date?
  var code: String?
  var gate: String = ""

  init(_ carrier: String, _ number: Int, day: Date? = nil, code: String? = nil) {
    self.carrier = carrier
    self.number = number
    self.day = day
    self.code = code
  }
}

@available(macOS 26, iOS 26, *)
@Model class Vehicle {
  @Attribute(.unique) var plate: String
  var color: String = ""

  init(plate: String) { self.plate = plate }
}

@available(macOS 26, iOS 26, *)
@Model final class Truck: Vehicle {
  #Unique<Truck>([\.color, \.axles])
  var axles: Int = 0

  init(plate: String, axles: Int, color: String = "") {
    super.init(plate: plate)
    self.axles = axles
    self.color = color
  }
}

@Model final class Seat {
  #Unique<Seat>([\.row, \.theatre])
  var row: Int
  var theatre: Theatre?
  var label: String = ""

  init(_ row: Int, in theatre: Theatre?) {
    self.row = row
    self.theatre = theatre
  }
}

@Model final class Manager {
  @Attribute(.unique) var theatre: Theatre?
  var label: String

  init(_ label: String, of theatre: Theatre?) {
    self.label = label
    self.theatre = theatre
  }
}

@Model final class KeyBox {
  @Relationship(.unique) var keys: [Manager] = []
  @Attribute(.unique) var spare: [Manager]?
  var number: Int

  init(_ number: Int) { self.number = number }
}

@Model final class Theatre {
  var name: String
  @Relationship(inverse: \Seat.theatre) var seats: [Seat] = []

  init(_ name: String) { self.name = name }
}

let uniqueSchema = Schema([
  Account.self, Note.self, Flight.self, Vehicle.self, Truck.self, Seat.self,
  Manager.self, KeyBox.self,
])

/// A context of a new store in memory.
func makeUniqueContext(_ policy: UniquenessPolicy = .upsert) throws -> ModelContext {
  var configuration = ModelConfiguration(isStoredInMemoryOnly: true)
  configuration.uniquenessPolicy = policy
  return ModelContext(
    try ModelContainer(for: uniqueSchema, configurations: [configuration])
  )
}
