import Foundation
import LogEngine
import SwiftData
import Testing

@testable import LogStore

// Relationships gain an inverse when there are rows already.

private enum Loose: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Trip.self, Leg.self, Note.self, Tag.self] }

  @Model final class Trip {
    var name = ""
    init(_ name: String) { self.name = name }
  }
  @Model final class Leg {
    var title = ""
    var trip: Trip?
    var guide: Trip?
    init(_ title: String, _ trip: Trip?) {
      self.title = title
      self.trip = trip
    }
  }
  @Model final class Note {
    var text = ""
    var tags: [Tag] = []
    init(_ text: String, _ tags: [Tag]) {
      self.text = text
      self.tags = tags
    }
  }
  @Model final class Tag {
    var name = ""
    init(_ name: String) { self.name = name }
  }
}

private enum Joined: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Trip.self, Leg.self, Note.self, Tag.self] }

  @Model final class Trip {
    var name = ""
    @Relationship(inverse: \Leg.trip) var legs: [Leg] = []
    @Relationship(inverse: \Leg.guide) var guided: Leg?
    init(_ name: String) { self.name = name }
  }
  @Model final class Leg {
    var title = ""
    var trip: Trip?
    var guide: Trip?
    init(_ title: String) { self.title = title }
  }
  @Model final class Note {
    var text = ""
    var tags: [Tag] = []
    init(_ text: String) { self.text = text }
  }
  @Model final class Tag {
    var name = ""
    @Relationship(inverse: \Note.tags) var notes: [Note] = []
    init(_ name: String) { self.name = name }
  }
}

private enum JoinedPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Loose.self, Joined.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Loose.self, toVersion: Joined.self)]
  }
}

@Suite struct `A relationship of rows that are there already` {
  private let folder: TemporaryFolder
  private var url: URL { folder.url.appending(path: "trips.store") }

  init() throws { folder = try TemporaryFolder() }

  private func open(
    _ schema: Schema,
    _ plan: (any SchemaMigrationPlan.Type)? = nil
  ) throws -> ModelContext {
    let configuration = LogStoreConfiguration(url: url)
    return ModelContext(
      try ModelContainer(for: schema, migrationPlan: plan, configurations: [configuration])
    )
  }

  /// Makes the store one that says nothing of inverses, as older libraries do.
  private func forgetInverses() throws {
    let engine = try StorageEngine.open(at: url.path)
    let keys = engine.catalogue.metadata.keys.filter { $0.hasPrefix("inverse.") }
    try engine.apply(keys.map { .setMetadata(key: $0, value: []) })
    try engine.close()
  }

  private func writeLoose() throws {
    let context = try open(Schema(versionedSchema: Loose.self))
    let (trip, gone) = (Loose.Trip("trip"), Loose.Trip("gone"))
    let (tag, removed) = (Loose.Tag("tag"), Loose.Tag("removed"))
    let legs = [Loose.Leg("a", trip), Loose.Leg("b", gone), Loose.Leg("c", nil)]
    for leg in legs { context.insert(leg) }
    legs[0].guide = trip
    legs[1].guide = trip
    context.insert(Loose.Note("1", [removed, tag]))
    context.insert(Loose.Note("2", [tag]))
    context.insert(Loose.Note("3", []))
    try context.save()
    context.delete(gone)
    context.delete(removed)
    try context.save()
  }

  @Test(arguments: [false, true], [false, true])
  func `that gains an inverse loses what is gone, and is told at its other end`(
    hasPlan: Bool,
    isOlder: Bool
  ) throws {
    try writeLoose()
    // Without a plan, an older library's store does not say what it was written with.
    if isOlder, !hasPlan { return }
    if isOlder { try forgetInverses() }
    let joined = Schema(versionedSchema: Joined.self)
    for _ in 0..<2 {
      let context = try open(joined, hasPlan ? JoinedPlan.self : nil)
      let legs = try context.fetch(FetchDescriptor<Joined.Leg>(sortBy: [SortDescriptor(\.title)]))
      #expect(legs.map(\.trip?.name) == ["trip", nil, nil])
      let without = FetchDescriptor<Joined.Leg>(predicate: #Predicate { $0.trip == nil })
      #expect(try context.fetchCount(without) == 2)
      let trip = try #require(try context.fetch(FetchDescriptor<Joined.Trip>()).first)
      #expect(trip.legs.map(\.title) == ["a"])
      #expect(trip.guided.map { $0.guide === trip } == true)
      #expect(legs.count { $0.guide != nil } == 1)
      let notes = try context.fetch(FetchDescriptor<Joined.Note>(sortBy: [SortDescriptor(\.text)]))
      #expect(notes.map { $0.tags.map(\.name) } == [["tag"], ["tag"], []])
      let tag = try #require(try context.fetch(FetchDescriptor<Joined.Tag>()).first)
      #expect(Set(tag.notes.map(\.text)) == ["1", "2"])
      #expect(try context.container.storeInvariantViolations() == [])
    }
    let context = try open(joined, hasPlan ? JoinedPlan.self : nil)
    for tag in try context.fetch(FetchDescriptor<Joined.Tag>()) { context.delete(tag) }
    try context.save()
    let notes = try ModelContext(context.container).fetch(FetchDescriptor<Joined.Note>())
    #expect(notes.allSatisfy { $0.tags.isEmpty })
  }
}
