import Foundation
import ModelRuntime
import PostgresStore
import Testing

private enum Former: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self] }

  @Model final class Item {
    var note: String
    var title: String = "untitled"
    var rank: Int?
    var count: Int
    init(_ note: String, title: String, count: Int) {
      (self.note, self.title, rank, self.count) = (note, title, count, count)
    }
  }
}

private enum Latter: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self] }

  @Model final class Item {
    @Attribute(originalName: "note") var message: String
    @Attribute(originalName: "title") var name: String = "nameless"
    @Attribute(originalName: "rank") var place: Int?
    var count: Int
    init(_ message: String, name: String, count: Int) {
      (self.message, self.name, place, self.count) = (message, name, count, count)
    }
  }
}

private enum Plan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Former.self, Latter.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Former.self, toVersion: Latter.self)]
  }
}

@Suite struct `A store that an older version has taken back` {
  private struct Facts: Hashable {
    var message: String
    var name: String
    var place: Int?
    var count: Int
  }

  private func facts(_ place: StorePlace) throws -> [Facts] {
    try place.open(Latter.self, plan: Plan.self)
      .fetch(FetchDescriptor<Latter.Item>(sortBy: [SortDescriptor(\.count)]))
      .map { Facts(message: $0.message, name: $0.name, place: $0.place, count: $0.count) }
  }

  @Test(arguments: StoreKind.allCases, [true, false])
  func `shows renamed properties again, but where the older version has saved`(
    kind: StoreKind,
    isPlanned: Bool
  ) throws {
    let place = try StorePlace(kind)
    do {
      let first = try place.open(Former.self, plan: Plan.self)
      for number in 0..<3 {
        first.insert(Former.Item("note \(number)", title: "title \(number)", count: number))
      }
      try first.save()
    }
    var expected = (0..<3).map {
      Facts(message: "note \($0)", name: "title \($0)", place: $0, count: $0)
    }
    #expect(try facts(place) == expected)
    let plan: (any SchemaMigrationPlan.Type)? = isPlanned ? Plan.self : nil
    for round in 0..<2 {
      do {
        let older = try place.open(Former.self, plan: plan, newerStores: .takeBack)
        let items = try older.fetch(
          FetchDescriptor<Former.Item>(sortBy: [SortDescriptor(\.count)])
        )
        // A LogStore finds what was renamed; on a server it begins anew, as it does with a new property.
        let known = ["title 0", round == 0 ? "title 1" : "other", "title 2"]
        let titles = kind == .log ? known : Array(repeating: "untitled", count: 3)
        #expect(items.prefix(3).map(\.title) == titles)
        (items[1].note, items[1].title, items[1].rank) = ("changed \(round)", "other", 9)
        older.insert(Former.Item("late", title: "untitled", count: 10 + round))
        try older.save()
      }
      expected[1] = Facts(message: "changed \(round)", name: "other", place: 9, count: 1)
      expected.append(
        Facts(message: "late", name: "untitled", place: 10 + round, count: 10 + round)
      )
      #expect(try facts(place) == expected)
      do {
        // What the newer version saves afterwards is not overwritten the next time.
        let newer = try place.open(Latter.self, plan: Plan.self)
        let item = try newer.fetch(
          FetchDescriptor<Latter.Item>(predicate: #Predicate { $0.count == 1 })
        ).first
        item?.message = "newer \(round)"
        try newer.save()
        expected[1].message = "newer \(round)"
        #expect(try facts(place) == expected)
      }
    }
  }
}
