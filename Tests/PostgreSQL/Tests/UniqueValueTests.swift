import Foundation
import ModelRuntime
import PostgresStore
import Testing

private enum Free: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Vehicle.self, Car.self, Boat.self] }

  @Model class Vehicle {
    var plate: String?
    init(_ plate: String?) { self.plate = plate }
  }

  @Model final class Car: Vehicle {
    var doors: Int = 4
    override init(_ plate: String?) { super.init(plate) }
  }

  @Model final class Boat: Vehicle {
    override init(_ plate: String?) { super.init(plate) }
  }
}

private enum Unique: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Vehicle.self, Car.self, Boat.self] }

  @Model class Vehicle {
    @Attribute(.unique) var plate: String?
    init(_ plate: String?) { self.plate = plate }
  }

  @Model final class Car: Vehicle {
    var doors: Int = 4
    override init(_ plate: String?) { super.init(plate) }
  }

  @Model final class Boat: Vehicle {
    override init(_ plate: String?) { super.init(plate) }
  }
}

private enum Plan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Free.self, Unique.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Free.self, toVersion: Unique.self)]
  }
}

@Model private final class Reading {
  @Attribute(.unique) var value: Double
  var label: String
  init(_ value: Double, _ label: String) { (self.value, self.label) = (value, label) }
}

@Suite struct `Values that have to be unique` {
  @Test(arguments: StoreKind.allCases)
  func `are compared over a class and its subclasses when they become so`(kind: StoreKind) throws {
    let place = try StorePlace(kind)
    do {
      let context = try place.open(Free.self, plan: Plan.self)
      for plate in ["a", "b", nil, nil] { context.insert(Free.Vehicle(plate)) }
      for plate in ["c", nil] { context.insert(Free.Boat(plate)) }
      context.insert(Free.Car("d"))
      context.insert(Free.Car("b"))
      try context.save()
    }
    let error = #expect(throws: SwiftDataError.self) {
      try place.open(Unique.self, plan: Plan.self)
    }
    #expect("\(error, default: "")".contains("have the same plate"))
    do {
      let context = try place.open(Free.self, plan: Plan.self)
      let cars = try context.fetch(FetchDescriptor<Free.Car>())
      for car in cars where car.plate == "b" { car.plate = "e" }
      try context.save()
    }
    let context = try place.open(Unique.self, plan: Plan.self)
    #expect(try context.fetchCount(FetchDescriptor<Unique.Vehicle>()) == 8)
  }

  @Test func `are refused soon if only the server takes them for equal`() throws {
    let namespace = try TestNamespace()
    var configuration = namespace.configuration
    configuration.reconnectBudget = .seconds(5)
    let container = try ModelContainer(
      for: Schema([Reading.self]),
      configurations: [configuration]
    )
    let context = ModelContext(container)
    context.insert(Reading(.nan, "one"))
    context.insert(Reading(1, "number"))
    try context.save()
    context.insert(Reading(.nan, "two"))
    let error = #expect(throws: PostgresStoreError.self) { try context.save() }
    #expect("\(error, default: "")".contains("SQLSTATE 23505"))
    // The others are the update of the model that is there, as always.
    let other = ModelContext(container)
    other.insert(Reading(1, "again"))
    try other.save()
    #expect(try other.fetchCount(FetchDescriptor<Reading>()) == 2)
  }
}
