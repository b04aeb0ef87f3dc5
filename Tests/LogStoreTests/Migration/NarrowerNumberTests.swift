import Foundation
import LogEngine
import LogStore
import SwiftData
import Testing

private enum Widest: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Sample.self] }

  @Model final class Sample {
    var count: Int = 0
    init(_ count: Int) { self.count = count }
  }
}

private enum Narrow: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Sample.self] }

  @Model final class Sample {
    var count: Int8 = 7
    init() {}
  }
}

private enum SameNumbers: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Sample.self] }

  @Model final class Sample {
    var count: Int64 = 0
    init() {}
  }
}

private enum Lacking: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Sample.self] }

  @Model final class Sample {
    var count: Int?
    init(_ count: Int?) { self.count = count }
  }
}

private enum Unsigned: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Sample.self] }

  @Model final class Sample {
    var count: UInt = 0
    init() {}
  }
}

private enum Renamed: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Sample.self] }

  @Model final class Sample {
    @Attribute(originalName: "count") var number: Int16 = 0
    init() {}
  }
}

private enum CustomPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Widest.self, Narrow.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: Widest.self,
        toVersion: Narrow.self,
        willMigrate: nil,
        didMigrate: { context in
          try context.fetch(FetchDescriptor<Narrow.Sample>()).first?.count = 1
        }
      )
    ]
  }
}

@Suite struct `A number that gets a narrower type` {
  private let folder: TemporaryFolder
  private var url: URL { folder.url.appending(path: "samples.store") }

  init() throws { folder = try TemporaryFolder() }

  private func open(
    _ version: any VersionedSchema.Type,
    _ plan: (any SchemaMigrationPlan.Type)? = nil,
    allowsSave: Bool = true
  ) throws -> ModelContext {
    let configuration = LogStoreConfiguration(url: url, allowsSave: allowsSave)
    return ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: version),
        migrationPlan: plan,
        configurations: [configuration]
      )
    )
  }

  private func write(_ counts: [Int]) throws {
    let context = try open(Widest.self)
    for count in counts { context.insert(Widest.Sample(count)) }
    try context.save()
  }

  /// Makes the store one that says nothing of its numbers, as older libraries do.
  private func forgetValues() throws {
    let engine = try StorageEngine.open(at: url.path)
    let keys = engine.catalogue.metadata.keys.filter { $0.hasPrefix("values.") }
    try engine.apply(keys.map { .setMetadata(key: $0, value: []) })
    try engine.close()
  }

  @Test(arguments: [
    (Narrow.self as any VersionedSchema.Type, "count", "Int8"),
    (Unsigned.self, "count", "UInt"), (Renamed.self, "number", "Int16"),
  ])
  func `is refused by name without a plan`(
    version: any VersionedSchema.Type,
    property: String,
    type: String
  ) throws {
    try write([300, -1])
    let error = #expect(throws: LogStoreError.self) { try open(version) }
    #expect(
      "\(error, default: "")".contains(
        "Sample.\(property): the store holds Int values, the model declares \(type)"
      )
    )
    let counts = try open(Widest.self).fetch(FetchDescriptor<Widest.Sample>()).map(\.count)
    #expect(Set(counts) == [300, -1])
  }

  @Test func `is the same under the name Int as under Int64, and keeps the one that is stored`()
    throws
  {
    func entries() throws -> [String: [UInt8]] {
      let engine = try StorageEngine.open(at: url.path)
      defer { try? engine.close() }
      return engine.catalogue.metadata.filter { $0.key.hasPrefix("values.") }
    }
    try write([300])
    let stored = try entries()
    #expect(stored.values.map { String(decoding: $0, as: UTF8.self) } == ["numbers Int"])
    let counts = try open(SameNumbers.self).fetch(FetchDescriptor<SameNumbers.Sample>())
      .map(\.count)
    #expect(counts == [300])
    #expect(try entries() == stored)
    _ = try open(Widest.self)
    #expect(try entries() == stored)
  }

  @Test func `is not read by a container that reads only`() throws {
    try write([300])
    #expect(throws: LogStoreError.self) { try open(Narrow.self, allowsSave: false) }
  }

  @Test func `is refused for a value that a store has which does not say their type`() throws {
    try write([3, 300])
    try forgetValues()
    let error = #expect(throws: LogStoreError.self) { try open(Narrow.self) }
    #expect(
      "\(error, default: "")".contains(
        "Sample.count: the store holds 300 among its values, the model declares Int8"
      )
    )
    #expect(try open(Widest.self).fetchCount(FetchDescriptor<Widest.Sample>()) == 2)
  }

  @Test func `is refused for a value of a row from before it had to be there`() throws {
    do {
      let context = try open(Lacking.self)
      for count in [300, nil] { context.insert(Lacking.Sample(count)) }
      try context.save()
    }
    let counts = try open(Widest.self).fetch(FetchDescriptor<Widest.Sample>()).map(\.count)
    #expect(Set(counts) == [300, 0])
    try forgetValues()
    let error = #expect(throws: LogStoreError.self) { try open(Narrow.self) }
    #expect("\(error, default: "")".contains("the store holds 300 among its values"))
  }

  @Test func `keeps the values of a store that does not say their type, if all fit`() throws {
    try write([3, -3])
    try forgetValues()
    let counts = try open(Narrow.self).fetch(FetchDescriptor<Narrow.Sample>()).map(\.count)
    #expect(Set(counts) == [3, -3])
    #expect(throws: (any Error).self) { try open(Widest.self) }
  }

  @Test func `loses its values in a custom stage, which sets new ones`() throws {
    try write([300, 300])
    let counts = try open(Narrow.self, CustomPlan.self)
      .fetch(FetchDescriptor<Narrow.Sample>()).map(\.count)
    #expect(counts.sorted() == [1, 7])
  }
}
