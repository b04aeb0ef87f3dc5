import Foundation
import LogStore
import SwiftData
import Testing

// Rows that lack a column of today, and what a predicate on it finds.

private enum First: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model final class Note {
    var number: Int
    var text: String?
    init(_ number: Int) {
      self.number = number
      text = number % 2 == 0 ? nil : "odd"
    }
  }
}

private enum Second: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model final class Note {
    var number: Int
    var text: String = "none"
    var stars: Int = 7
    init(_ number: Int) { self.number = number }
  }
}

private enum Third: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model final class Note {
    var number: Int
    var text: String = "unknown"
    var stars: Int = 8
    init(_ number: Int) { self.number = number }
  }
}

private enum Plan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [First.self, Second.self, Third.self] }
  static var stages: [MigrationStage] {
    [
      .lightweight(fromVersion: First.self, toVersion: Second.self),
      .lightweight(fromVersion: Second.self, toVersion: Third.self),
    ]
  }
}

@Suite struct `A predicate on what rows of older versions lack` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(_ version: any VersionedSchema.Type) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: version),
      migrationPlan: Plan.self,
      configurations: [LogStoreConfiguration(url: folder.url.appending(path: "notes.store"))]
    )
  }

  private func write<M: PersistentModel>(
    _ version: any VersionedSchema.Type,
    _ make: (Int) -> M
  ) throws {
    let context = ModelContext(try open(version))
    for number in 0..<1000 { context.insert(make(number)) }
    try context.save()
  }

  // Enough rows that fetches read columns.
  @Test(arguments: [false, true])
  func `finds the values that reading shows, packed or not`(isPacked: Bool) async throws {
    try write(First.self) { First.Note($0) }
    try write(Second.self) { Second.Note($0) }
    try write(Third.self) { Third.Note($0) }
    let container = try open(Third.self)
    if isPacked { _ = try #require(container.stores(of: LogStore.self).first).compact() }
    let context = ModelContext(container)
    let all = try context.fetch(FetchDescriptor<Third.Note>())
    #expect(all.count == 3000)
    for stars in [0, 7, 8] {
      let count = try context.fetchCount(
        FetchDescriptor<Third.Note>(predicate: #Predicate { $0.stars == stars })
      )
      #expect(count == all.count { $0.stars == stars }, "\(stars) stars")
    }
    for text in ["odd", "none", "unknown", ""] {
      let count = try context.fetchCount(
        FetchDescriptor<Third.Note>(predicate: #Predicate { $0.text == text })
      )
      #expect(count == all.count { $0.text == text }, "\(text)")
    }
    var most = FetchDescriptor<Third.Note>(sortBy: [SortDescriptor(\.stars, order: .reverse)])
    most.fetchLimit = 20
    #expect(try context.fetch(most).allSatisfy { $0.stars == 8 })
    #expect(all.count { $0.stars == 7 } == 2000)
    #expect(all.count { $0.text == "none" } == 1500)
  }

  /// The value of rows from before the property came is the same for all of them.
  @Test(arguments: [false, true])
  func `is answered by columns, as what is measured of them`(isPacked: Bool) async throws {
    try write(First.self) { First.Note($0) }
    try write(Second.self) { Second.Note($0) }
    try write(Third.self) { Third.Note($0) }
    let container = try open(Third.self)
    if isPacked { _ = try #require(container.stores(of: LogStore.self).first).compact() }
    let context = ModelContext(container)
    let values = try context.fetch(FetchDescriptor<Third.Note>()).map(\.stars)
    let (found, plans) = try context.explain {
      let count = try context.fetchCount(
        FetchDescriptor<Third.Note>(predicate: #Predicate { $0.stars < 8 })
      )
      let groups = try context.aggregate(FetchDescriptor<Third.Note>(), by: \.stars, .count)
      let sum = try context.aggregate(FetchDescriptor<Third.Note>(), .sum(\.stars))
      return (count: count, groups: groups, sum: sum)
    }
    #expect(found.count == values.count { $0 < 8 })
    #expect(found.sum == values.reduce(0, +))
    #expect(found.groups.map(\.key).sorted() == [7, 8])
    for group in found.groups {
      #expect(group.values == values.count { $0 == group.key })
    }
    let accesses = plans.flatMap(\.accesses)
    #expect(accesses.count == 3)
    for access in accesses {
      #expect(access.readRowCount == 0 && access.columnRowCount == 3000, "\(access)")
    }
  }
}
