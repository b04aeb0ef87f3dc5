import Foundation
import LogEngine
import LogStore
import SwiftData
import Testing

// The members of a list come to tell of it, or no longer do, when there are rows already.

private enum OwnersLists {
  @Model final class Trip {
    var name = ""
    var legs: [Leg] = []
    init() {}
  }
  @Model final class Leg {
    var title = ""
    init(_ title: String) { self.title = title }
  }
  static let models: [any PersistentModel.Type] = [Trip.self, Leg.self]
}

private enum MembersLists {
  @Model final class Trip {
    var name = ""
    var legs: [Leg] = []
    init() {}
  }
  @Model final class Leg {
    var title = ""
    var trip: Trip?
    init(_ title: String) { self.title = title }
  }
  static let models: [any PersistentModel.Type] = [Trip.self, Leg.self]
}

@Suite struct `A list of rows that are there already` {
  private let folder: TemporaryFolder
  private var url: URL { folder.url.appending(path: "trips.store") }

  init() throws { folder = try TemporaryFolder() }

  private func open(_ models: [any PersistentModel.Type]) throws -> ModelContext {
    let configuration = LogStoreConfiguration(url: url)
    return ModelContext(
      try ModelContainer(for: Schema(models), configurations: [configuration])
    )
  }

  /// Makes the store one that says nothing of inverses, as older libraries do.
  private func forgetInverses() throws {
    let engine = try StorageEngine.open(at: url.path)
    let keys = engine.catalogue.metadata.keys.filter { $0.hasPrefix("inverse.") }
    try engine.apply(keys.map { .setMetadata(key: $0, value: []) })
    try engine.close()
  }

  @Test func `is refused when its members come to tell of it`() throws {
    do {
      let context = try open(OwnersLists.models)
      let trip = OwnersLists.Trip()
      context.insert(trip)
      trip.legs = [OwnersLists.Leg("a"), OwnersLists.Leg("b")]
      try context.save()
    }
    let error = #expect(throws: LogStoreError.self) { try open(MembersLists.models) }
    #expect(
      "\(error, default: "")".contains(
        "Trip.legs: the store keeps the list with its owner, the model with its members, in trip"
      )
    )
    #expect("\(error, default: "")".contains("give the list a new name, or its old inverse"))
    let context = try open(OwnersLists.models)
    #expect(try context.fetch(FetchDescriptor<OwnersLists.Trip>()).map(\.legs.count) == [2])
  }

  @Test func `is refused when its members no longer tell of it`() throws {
    do {
      let context = try open(MembersLists.models)
      let trip = MembersLists.Trip()
      context.insert(trip)
      trip.legs = [MembersLists.Leg("a"), MembersLists.Leg("b")]
      try context.save()
    }
    let error = #expect(throws: LogStoreError.self) { try open(OwnersLists.models) }
    #expect(
      "\(error, default: "")".contains(
        "Trip.legs: the store keeps the list with its members, the model with its owner"
      )
    )
    let context = try open(MembersLists.models)
    #expect(try context.fetch(FetchDescriptor<MembersLists.Trip>()).map(\.legs.count) == [2])
  }

  @Test func `is taken as it is if the store does not say who keeps it`() throws {
    do {
      let context = try open(MembersLists.models)
      context.insert(MembersLists.Trip())
      try context.save()
    }
    try forgetInverses()
    _ = try open(MembersLists.models)
    #expect(throws: LogStoreError.self) { try open(OwnersLists.models) }
  }
}
