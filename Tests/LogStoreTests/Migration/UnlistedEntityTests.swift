import Foundation
import LogStore
import SwiftData
import Synchronization
import Testing

// A store stops to list an entity, while stages of a plan run, and lists it again.

private enum V1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Room.self, Price.self] }

  @Model final class Room {
    var number: Int
    init(_ number: Int) { self.number = number }
  }
  @Model final class Price {
    var amount: Double
    var low: String = "a"
    var high: String = "b"
    var code: String = "12"
    init(_ amount: Double) { self.amount = amount }
  }
}

private enum V2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Room.self, Price.self] }

  @Model final class Room {
    var number: Int
    var floor: Int = 2
    init(_ number: Int) { self.number = number }
  }
  @Model final class Price {
    var amount: Double
    @Attribute(originalName: "high") var low: String = "a"
    @Attribute(originalName: "low") var high: String = "b"
    var cents: Int = 0
    var code: String = "12"
    init(_ amount: Double) { self.amount = amount }
  }
}

private enum V3: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Room.self, Price.self] }

  @Model final class Room {
    var number: Int
    var floor: Int = 2
    var beds: Int = 3
    init(_ number: Int) { self.number = number }
  }
  @Model final class Price {
    var amount: Double
    @Attribute(originalName: "high") var low: String = "a"
    @Attribute(originalName: "low") var high: String = "b"
    var cents: Int = 0
    var code: Int = 0
    init(_ amount: Double) { self.amount = amount }
  }
}

private enum Custom: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self, V3.self] }
  static let codes = Mutex<[Double: Int]>([:])
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: V1.self,
        toVersion: V2.self,
        willMigrate: nil,
        didMigrate: { context in
          for price in try context.fetch(FetchDescriptor<V2.Price>()) {
            price.cents = Int(price.amount * 100)
          }
        }
      ),
      .custom(
        fromVersion: V2.self,
        toVersion: V3.self,
        willMigrate: { context in
          for price in try context.fetch(FetchDescriptor<V2.Price>()) {
            codes.withLock { $0[price.amount] = Int(price.code) }
          }
        },
        didMigrate: { context in
          for price in try context.fetch(FetchDescriptor<V3.Price>()) {
            price.code = codes.withLock { $0[price.amount] } ?? -1
          }
        }
      ),
    ]
  }
}

private enum Light: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: V1.self, toVersion: V2.self)]
  }
}

@Suite struct `An entity that a store does not list for a while` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Opens the store with a part of the models, and another with the rest.
  private func open(
    _ version: any VersionedSchema.Type,
    _ plan: (any SchemaMigrationPlan.Type)?,
    lists count: Int = 2
  ) throws -> ModelContext {
    let schema = Schema(versionedSchema: version)
    let parts = [version.models.prefix(count), version.models.dropFirst(count)]
    let configurations = parts.enumerated().filter { !$1.isEmpty }.map { number, models in
      LogStoreConfiguration(
        "\(number)",
        schema: Schema(Array(models), version: schema.version),
        url: folder.url.appending(path: "\(number).store"),
        durability: .relaxed
      )
    }
    return ModelContext(
      try ModelContainer(for: schema, migrationPlan: plan, configurations: configurations)
    )
  }

  private func make(_ plan: any SchemaMigrationPlan.Type, amount: Double) throws {
    let context = try open(V1.self, plan)
    let price = V1.Price(amount)
    context.insert(price)
    price.low = "L"
    price.high = "H"
    price.code = "34"
    context.insert(V1.Room(1))
    try context.save()
  }

  enum Way: CaseIterable {
    case whileStage, beforeStage, twoStages, laterStage, bothStages
  }

  @Test(arguments: Way.allCases)
  func `passes through the stages like the others`(way: Way) throws {
    let amount = 12.5 + Double(Way.allCases.firstIndex(of: way) ?? 0)
    try make(Custom.self, amount: amount)
    switch way {
    case .whileStage: _ = try open(V2.self, Custom.self, lists: 1)
    case .beforeStage:
      _ = try open(V1.self, Custom.self, lists: 1)
      _ = try open(V2.self, Custom.self, lists: 1)
    case .twoStages: _ = try open(V3.self, Custom.self, lists: 1)
    case .laterStage:
      _ = try open(V2.self, Custom.self)
      _ = try open(V3.self, Custom.self, lists: 1)
    case .bothStages:
      _ = try open(V2.self, Custom.self, lists: 1)
      _ = try open(V3.self, Custom.self, lists: 1)
    }
    for _ in 0..<2 {
      let context = try open(V3.self, Custom.self)
      let price = try #require(try context.fetch(FetchDescriptor<V3.Price>()).first)
      #expect([price.low, price.high] == ["H", "L"])
      #expect(price.cents == Int(amount * 100))
      #expect(price.code == 34)
      #expect(try context.fetch(FetchDescriptor<V3.Room>()).map(\.beds) == [3])
    }
  }

  @Test(arguments: [1, 2, 3])
  func `has its values under the right names, whichever program left it out`(way: Int) throws {
    try make(Light.self, amount: 1)
    switch way {
    case 1: _ = try open(V2.self, Light.self, lists: 1)
    case 2: _ = try open(V2.self, nil, lists: 1)
    default:
      _ = try open(V1.self, nil, lists: 1)
      _ = try open(V2.self, nil, lists: 1)
    }
    for round in 0..<2 {
      let context = try open(V2.self, round == 0 ? Light.self : nil)
      let price = try #require(try context.fetch(FetchDescriptor<V2.Price>()).first)
      #expect([price.low, price.high] == ["H", "L"])
    }
  }
}
