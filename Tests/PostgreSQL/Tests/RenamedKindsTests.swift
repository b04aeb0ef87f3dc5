import Foundation
import LogStore
import ModelRuntime
import PostgresStore
import Testing

private struct Spot: Codable, Equatable {
  var x: Double
  var tags: [String]
}

private enum Former: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(1, 0, 0) }
  static var models: [any PersistentModel.Type] {
    [Vehicle.self, Truck.self, Driver.self, Licence.self]
  }

  @Model class Vehicle {
    @Attribute(.unique) var plate: String
    var spot: Spot
    var other: Spot?
    @Attribute(.externalStorage) var photo: Data?
    var price: Decimal
    var built: Date
    var drivers: [Driver] = []
    var spare: [Driver] = []

    init(_ plate: String, _ number: Int) {
      self.plate = plate
      spot = Spot(x: Double(number), tags: ["spot \(number)"])
      other = number == 0 ? nil : Spot(x: -Double(number), tags: ["other"])
      photo = Data(repeating: UInt8(number), count: 300_000)
      price = Decimal(number) / 4
      built = Date(timeIntervalSinceReferenceDate: Double(number))
    }
  }

  @Model final class Truck: Vehicle {
    var load: Int
    var trailer: String?

    init(_ plate: String, _ number: Int, load: Int) {
      self.load = load
      trailer = "trailer \(number)"
      super.init(plate, number)
    }
  }

  @Model final class Driver {
    var name: String
    @Relationship(inverse: \Vehicle.drivers) var vehicles: [Vehicle] = []
    @Relationship(deleteRule: .cascade, inverse: \Licence.driver) var licence: Licence?
    init(_ name: String) { self.name = name }
  }

  @Model final class Licence {
    var number: Int
    var driver: Driver?
    init(_ number: Int) { self.number = number }
  }
}

private enum Latter: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(2, 0, 0) }
  static var models: [any PersistentModel.Type] {
    [Vehicle.self, Truck.self, Driver.self, Licence.self]
  }

  @Model class Vehicle {
    @Attribute(.unique, originalName: "plate") var sign: String
    @Attribute(originalName: "other") var spot: Spot?
    @Attribute(originalName: "spot") var place: Spot
    @Attribute(.externalStorage, originalName: "photo") var picture: Data?
    @Attribute(originalName: "price") var cost: Decimal
    @Attribute(originalName: "built") var made: Date
    @Relationship(originalName: "spare") var drivers: [Driver] = []
    @Relationship(originalName: "drivers") var staff: [Driver] = []

    init(_ sign: String) {
      self.sign = sign
      place = Spot(x: 0, tags: [])
      cost = 0
      made = .now
    }
  }

  @Model final class Truck: Vehicle {
    @Attribute(originalName: "load") var weight: Int
    @Attribute(originalName: "trailer") var plate: String?

    init(_ sign: String, weight: Int) {
      self.weight = weight
      super.init(sign)
    }
  }

  @Model final class Driver {
    @Attribute(originalName: "name") var title: String
    @Relationship(originalName: "vehicles", inverse: \Vehicle.staff) var fleet: [Vehicle] = []
    @Relationship(deleteRule: .cascade, originalName: "licence", inverse: \Licence.holder)
    var permit: Licence?
    init(_ title: String) { self.title = title }
  }

  @Model final class Licence {
    var number: Int
    @Relationship(originalName: "driver") var holder: Driver?
    init(_ number: Int) { self.number = number }
  }
}

private enum KindPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Former.self, Latter.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Former.self, toVersion: Latter.self)]
  }
}

private enum ChainBefore {
  @Model final class Link {
    var a: Int
    var b: Int
    var x: Int
    var y: Int
    init(_ number: Int) { (a, b, x, y) = (number, number * 10, number * 100, number * 1000) }
  }
}

private enum ChainAfter {
  @Model final class Link {
    @Attribute(originalName: "a") var b: Int = -1
    @Attribute(originalName: "b") var c: Int = -2
    @Attribute(originalName: "y") var z: Int = -3
    @Attribute(originalName: "x") var y: Int = -4
    init() {}
  }
}

@Suite struct `Renamed properties of each kind` {
  private func open(
    _ kind: StoreKind,
    _ namespace: TestNamespace,
    _ schema: Schema,
    plan: (any SchemaMigrationPlan.Type)? = KindPlan.self
  ) throws -> ModelContext {
    let folder = FileManager.default.temporaryDirectory.appending(path: namespace.name)
    let configuration: any DataStoreConfiguration =
      kind == .log ? LogStoreConfiguration(url: folder) : namespace.configuration
    return ModelContext(
      try ModelContainer(for: schema, migrationPlan: plan, configurations: [configuration])
    )
  }

  @Test(arguments: StoreKind.allCases, [true, false])
  func `keep their values`(kind: StoreKind, isPlanned: Bool) throws {
    let namespace = try TestNamespace()
    let plan: (any SchemaMigrationPlan.Type)? = isPlanned ? KindPlan.self : nil
    let before = try open(kind, namespace, Schema(versionedSchema: Former.self), plan: plan)
    let drivers = ["ann", "bob"].map { Former.Driver($0) }
    for driver in drivers { before.insert(driver) }
    drivers[0].licence = Former.Licence(77)
    for number in 0..<4 {
      let vehicle =
        number % 2 == 0
        ? Former.Vehicle("plate \(number)", number)
        : Former.Truck("plate \(number)", number, load: number * 100)
      before.insert(vehicle)
      vehicle.drivers = drivers.reversed()
      vehicle.spare = [drivers[number % 2]]
    }
    try before.save()

    for _ in 0..<2 {
      let after = try open(kind, namespace, Schema(versionedSchema: Latter.self), plan: plan)
      let all = try after.fetch(
        FetchDescriptor<Latter.Vehicle>(sortBy: [SortDescriptor(\.sign)])
      )
      #expect(all.map(\.sign) == (0..<4).map { "plate \($0)" })
      #expect(all.map(\.place) == (0..<4).map { Spot(x: Double($0), tags: ["spot \($0)"]) })
      #expect(all.map(\.picture?.count) == Array(repeating: 300_000, count: 4))
      #expect(all.map { $0.picture?.last } == [0, 1, 2, 3])
      #expect(all.map(\.cost) == [0, 0.25, 0.5, 0.75])
      #expect(all.map(\.made.timeIntervalSinceReferenceDate) == [0, 1, 2, 3])
      if isPlanned {
        #expect(all.map { $0.spot?.x } == [nil, -1, -2, -3])
        #expect(
          all.map { $0.staff.map(\.title).sorted() } == Array(repeating: ["ann", "bob"], count: 4)
        )
        #expect(all.map { $0.drivers.map(\.title) } == [["ann"], ["bob"], ["ann"], ["bob"]])
      }
      let trucks = all.compactMap { $0 as? Latter.Truck }
      #expect(trucks.map(\.weight) == [100, 300])
      // Without a plan, a log gives a name that its models had to nobody else.
      if isPlanned || kind == .server {
        #expect(trucks.map(\.plate) == ["trailer 1", "trailer 3"])
      }
      let people = try after.fetch(
        FetchDescriptor<Latter.Driver>(sortBy: [SortDescriptor(\.title)])
      )
      #expect(people.map { $0.permit?.number } == [77, nil])
      if isPlanned { #expect(people.map { $0.fleet.count } == [4, 4]) }
      let licence = try after.fetch(FetchDescriptor<Latter.Licence>())
      #expect(licence.map { $0.holder?.title } == ["ann"])
    }
    let after = try open(kind, namespace, Schema(versionedSchema: Latter.self), plan: plan)
    after.insert(Latter.Vehicle("plate 0"))
    after.insert(Latter.Truck("plate 9", weight: 5))
    try after.save()
    #expect(try after.fetchCount(FetchDescriptor<Latter.Vehicle>()) == 5)
    let people = try after.fetch(FetchDescriptor<Latter.Driver>(sortBy: [SortDescriptor(\.title)]))
    after.delete(people[0])
    try after.save()
    #expect(try after.fetchCount(FetchDescriptor<Latter.Licence>()) == 0)
  }

  @Test func `move up in a chain without a plan`() throws {
    let namespace = try TestNamespace()
    let before = try open(.server, namespace, Schema([ChainBefore.Link.self]), plan: nil)
    for number in 1...3 { before.insert(ChainBefore.Link(number)) }
    try before.save()
    for _ in 0..<2 {
      let after = try open(.server, namespace, Schema([ChainAfter.Link.self]), plan: nil)
      let links = try after.fetch(FetchDescriptor<ChainAfter.Link>(sortBy: [SortDescriptor(\.b)]))
      #expect(links.map(\.b) == [1, 2, 3])
      #expect(links.map(\.c) == [10, 20, 30])
      #expect(links.map(\.y) == [100, 200, 300])
      #expect(links.map(\.z) == [1000, 2000, 3000])
    }
  }
}
