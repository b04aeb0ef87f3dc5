import Foundation
import SwiftData

/// The models of these tests, apart from those of others.
enum Deriving {
  @Model
  class Journey {
    var name: String
    var notes: String?
    @Relationship(deleteRule: .cascade, inverse: \Cost.trip) var expenses: [Cost] = []
    @Relationship(inverse: \Escort.trips) var guides: [Escort] = []
    @Derived(.count(\Journey.expenses)) var expenseCount: Int
    @Derived(.sum(of: \Cost.amount, over: \Journey.expenses)) var total: Int
    @Derived(.sum(of: \Cost.tax, over: \Journey.expenses)) var tax: Int8
    @Derived(.sum(of: \Cost.weight, over: \Journey.expenses)) var weight: Double
    @Derived(.count(\Journey.guides)) var guideCount: Int
    @Derived(.canonical(\Journey.name)) var searchName: String
    @Derived(.canonical(\Journey.notes)) var searchNotes: String?
    @Derived(.modificationDate) var lastModified: Date?
    #Index<Journey>([\.expenseCount], [\.searchName])

    init(_ name: String, notes: String? = nil) {
      self.name = name
      self.notes = notes
    }
  }

  @Model
  final class Seafaring: Journey {
    var ship: String

    init(_ name: String, ship: String) {
      self.ship = ship
      super.init(name)
    }
  }

  @Model
  final class Cost {
    var amount: Int
    var tax: Int8?
    var weight: Double
    var trip: Journey?

    init(_ amount: Int, tax: Int8? = nil, weight: Double = 0, of trip: Journey? = nil) {
      self.amount = amount
      self.tax = tax
      self.weight = weight
      self.trip = trip
    }
  }

  @Model
  final class Escort {
    #Unique<Escort>([\.name])
    var name: String
    var trips: [Journey] = []
    @Derived(.count(\Escort.trips)) var tripCount: Int
    @Derived(.canonical(\Escort.name)) var searchName: String

    init(_ name: String) { self.name = name }
  }

  @Model
  final class Crate {
    @Relationship(inverse: \Bottle.crate) var bottles: [Bottle] = []
    @Derived(.sum(of: \Bottle.weight, over: \Crate.bottles)) var weight: Double
    @Derived(.sum(of: \Bottle.price, over: \Crate.bottles)) var price: Double

    init() {}
  }

  @Model
  final class Bottle {
    var weight: Double
    var price: Double
    var crate: Crate?

    init(weight: Double, price: Double) {
      self.weight = weight
      self.price = price
    }
  }

  static let types: [any PersistentModel.Type] = [
    Journey.self, Seafaring.self, Cost.self, Escort.self,
  ]

  static func container() throws -> ModelContainer {
    try ModelContainer(
      for: Schema(types),
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
  }
}
