import Foundation
import LogStore
import SwiftData
import Testing

private enum Full {
  @Model final class Parcel {
    var number: Int
    var label: String = "default"
    var weight: Int = 3
    @Attribute(.externalStorage) var scan: Data?
    var depot: Depot?
    var stops: [Depot] = []
    @Relationship(inverse: \Depot.parcels) var depots: [Depot] = []
    init(_ number: Int) { self.number = number }
  }
  @Model final class Depot {
    var number: Int
    var parcels: [Parcel] = []
    @Relationship(inverse: \Parcel.depot) var held: [Parcel] = []
    init(_ number: Int) { self.number = number }
  }
}

private enum Bare {
  @Model final class Parcel {
    var number: Int
    init(_ number: Int) { self.number = number }
  }
}

@Suite struct `What the models of a program lack` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(_ models: any PersistentModel.Type...) throws -> ModelContainer {
    let schema = Schema(models)
    var configuration = LogStoreConfiguration(
      schema: schema,
      url: folder.url.appending(path: "parcels.store")
    )
    configuration.externalStorageThreshold = 100
    return try ModelContainer(for: schema, configurations: configuration)
  }

  private func scan(_ number: Int) -> Data { Data(repeating: UInt8(number), count: 5000) }

  @Test(arguments: [true, false])
  func `stays in the rows that it saves`(compacts: Bool) throws {
    do {
      let container = try open(Full.Parcel.self, Full.Depot.self)
      let context = ModelContext(container)
      for number in 0..<4 {
        let parcel = Full.Parcel(number)
        let depot = Full.Depot(number)
        context.insert(parcel)
        context.insert(depot)
        parcel.label = "label \(number)"
        parcel.weight = number
        parcel.scan = scan(number)
        parcel.depot = depot
        parcel.stops = [depot]
        parcel.depots = [depot]
      }
      try context.save()
      if compacts { for store in container.stores(of: LogStore.self) { _ = try store.compact() } }
    }
    for round in 1..<3 {
      let container = try open(Bare.Parcel.self)
      let context = ModelContext(container)
      var parcels = try context.fetch(FetchDescriptor<Bare.Parcel>(sortBy: [.init(\.number)]))
      parcels[1].number += 10
      parcels[2].number += 10
      try context.save()
      parcels = try context.fetch(FetchDescriptor<Bare.Parcel>(sortBy: [.init(\.number)]))
      // The rows are in another layout by now.
      parcels[2].number += 10
      parcels[3].number += 10
      if round == 1 { context.insert(Bare.Parcel(100)) }
      try context.save()
      if compacts { for store in container.stores(of: LogStore.self) { _ = try store.compact() } }
    }
    let context = ModelContext(try open(Full.Parcel.self, Full.Depot.self))
    let parcels = try context.fetch(FetchDescriptor<Full.Parcel>())
      .sorted { ($0.depot?.number ?? 9) < ($1.depot?.number ?? 9) }
    #expect(parcels.map(\.label) == (0..<4).map { "label \($0)" } + ["default"])
    #expect(parcels.map(\.weight) == [0, 1, 2, 3, 3])
    #expect(parcels.map(\.scan) == (0..<4).map(scan) + [nil])
    #expect(parcels.map { $0.depot?.number } == [0, 1, 2, 3, nil])
    #expect(parcels.map { $0.stops.map(\.number) } == [[0], [1], [2], [3], []])
    #expect(parcels.map { $0.depots.map(\.number) } == [[0], [1], [2], [3], []])
    let depots = try context.fetch(FetchDescriptor<Full.Depot>(sortBy: [.init(\.number)]))
    #expect(depots.map { $0.parcels.map(\.label) } == (0..<4).map { ["label \($0)"] })
    #expect(depots.map { $0.held.map(\.label) } == (0..<4).map { ["label \($0)"] })
  }

  @Test func `agrees with its other ends when it is there again, without models deleted meanwhile`()
    throws
  {
    do {
      let context = ModelContext(try open(Full.Parcel.self, Full.Depot.self))
      for number in 1...3 {
        let parcel = Full.Parcel(number)
        let depot = Full.Depot(number)
        context.insert(parcel)
        context.insert(depot)
        parcel.depot = depot
        parcel.stops = [depot]
        parcel.depots = [depot]
      }
      try context.save()
    }
    do {
      let context = ModelContext(try open(Bare.Parcel.self))
      let parcels = try context.fetch(FetchDescriptor<Bare.Parcel>(sortBy: [.init(\.number)]))
      context.delete(parcels[0])
      parcels[1].number = 22
      try context.save()
    }
    for _ in 0..<2 {
      let context = ModelContext(try open(Full.Parcel.self, Full.Depot.self))
      let depots = try context.fetch(FetchDescriptor<Full.Depot>(sortBy: [.init(\.number)]))
      #expect(depots.map { $0.parcels.map(\.number) } == [[], [22], [3]])
      #expect(depots.map { $0.held.map(\.number) } == [[], [22], [3]])
      let parcels = try context.fetch(FetchDescriptor<Full.Parcel>(sortBy: [.init(\.number)]))
      #expect(parcels.map { $0.depots.map(\.number) } == [[3], [2]])
      let listed = try context.fetchCount(
        FetchDescriptor<Full.Depot>(predicate: #Predicate { !$0.parcels.isEmpty })
      )
      #expect(listed == 2)
    }
  }
}
