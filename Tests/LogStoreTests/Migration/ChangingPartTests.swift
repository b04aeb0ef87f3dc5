import Foundation
import LogEngine
import LogStore
import SwiftData
import Testing

private enum Older: VersionedSchema {
  static let versionIdentifier = Schema.Version(0, 9, 0)
  static var models: [any PersistentModel.Type] { [Truck.self, Wheel.self, Extra.self] }

  @Model final class Truck {
    var old = 1
    init() {}
  }
  @Model final class Wheel {
    var old = 1
    init() {}
  }
  @Model final class Extra {
    var old = 1
    init() {}
  }
}

private enum Newer: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Truck.self, Wheel.self, Extra.self] }

  @Model final class Truck {
    var number: Int
    init(_ number: Int) { self.number = number }
  }
  @Model final class Wheel {
    var number: Int
    init(_ number: Int) { self.number = number }
  }
  @Model final class Extra {
    var number: Int
    init(_ number: Int) { self.number = number }
  }
}

private enum PartPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Older.self, Newer.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Older.self, toVersion: Newer.self)]
  }
}

@Suite struct `A store that keeps now these and now those models of a plan` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func url(_ number: Int) -> URL { folder.url.appending(path: "\(number)") }

  private func open(_ stores: [any PersistentModel.Type]...) throws -> ModelContext {
    let configurations = stores.enumerated().map { number, models in
      LogStoreConfiguration("\(number)", schema: Schema(models), url: url(number))
    }
    return ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: Newer.self),
        migrationPlan: PartPlan.self,
        configurations: configurations
      )
    )
  }

  private func catalogue(_ number: Int) throws -> Catalogue {
    let engine = try StorageEngine.open(at: url(number).path)
    defer { try? engine.close() }
    return engine.catalogue
  }

  /// Makes a store one of a library that did not write down with which entities.
  private func forgetEntities() throws {
    let engine = try StorageEngine.open(at: url(0).path)
    try engine.apply([.setMetadata(key: "schema.entities", value: [])])
    try engine.close()
  }

  @Test(arguments: [true, false])
  func `is known in any order of them`(forgets: Bool) throws {
    for round in 0..<3 {
      do {
        let context = try open([Newer.Truck.self])
        #expect(try context.fetchCount(FetchDescriptor<Newer.Truck>()) == round)
        context.insert(Newer.Truck(round))
        try context.save()
      }
      if forgets { try forgetEntities() }
      do {
        let context = try open([Newer.Truck.self, Newer.Extra.self])
        #expect(try context.fetchCount(FetchDescriptor<Newer.Extra>()) == round)
        context.insert(Newer.Extra(round))
        try context.save()
      }
      if forgets { try forgetEntities() }
      do {
        let context = try open([Newer.Wheel.self, Newer.Extra.self])
        #expect(try context.fetchCount(FetchDescriptor<Newer.Extra>()) == round + 1)
      }
      if forgets { try forgetEntities() }
    }
  }

  @Test func `opens beside another that it gives a model to and takes it from`() throws {
    for round in 0..<3 {
      do {
        let context = try open([Newer.Truck.self], [Newer.Wheel.self, Newer.Extra.self])
        #expect(try context.fetchCount(FetchDescriptor<Newer.Extra>()) == round)
        context.insert(Newer.Extra(round))
        try context.save()
      }
      do {
        let context = try open([Newer.Truck.self, Newer.Extra.self], [Newer.Wheel.self])
        #expect(try context.fetchCount(FetchDescriptor<Newer.Extra>()) == round)
        context.insert(Newer.Extra(round))
        try context.save()
      }
    }
  }

  @Test func `is as it was if the opening of another is refused`() throws {
    _ = try open([Newer.Truck.self], [Newer.Wheel.self])
    do {
      // Models that are in no version of the plan.
      let engine = try StorageEngine.open(at: url(1).path)
      let version = Array("1.0.0 (0123456789abcdef)".utf8)
      try engine.apply([.setMetadata(key: "schema.version", value: version)])
      try engine.close()
    }
    let before = try catalogue(0)
    let error = #expect(throws: SwiftDataError.self) {
      try open([Newer.Truck.self, Newer.Extra.self], [Newer.Wheel.self])
    }
    #expect(error == .unknownDataStoreSchema)
    #expect(try catalogue(0) == before)
  }
}
