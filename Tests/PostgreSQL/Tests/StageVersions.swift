import Foundation
import ModelRuntime

// The versions of hikers, whose names become unique, and whose loads are measured otherwise, by code.

enum HikersV1: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Hiker.self, Hike.self, Hut.self] }

  @Model final class Hiker {
    @Attribute(.preserveValueOnDeletion) var name: String
    /// In kilograms.
    var load: Int
    @Relationship(deleteRule: .cascade, inverse: \Hike.hiker) var hikes: [Hike] = []
    @Relationship(inverse: \Hut.guests) var huts: [Hut] = []

    init(_ name: String, load: Int = 0) {
      self.name = name
      self.load = load
    }
  }

  @Model final class Hike {
    var title: String
    var hiker: Hiker?
    init(_ title: String) { self.title = title }
  }

  @Model final class Hut {
    var title: String
    var guests: [Hiker] = []
    init(_ title: String) { self.title = title }
  }
}

enum HikersV2: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Hiker.self, Hike.self, Hut.self] }

  @Model final class Hiker {
    @Attribute(.unique) var name: String
    var load: Int
    @Relationship(deleteRule: .cascade, inverse: \Hike.hiker) var hikes: [Hike] = []
    @Relationship(inverse: \Hut.guests) var huts: [Hut] = []

    init(_ name: String, load: Int = 0) {
      self.name = name
      self.load = load
    }
  }

  @Model final class Hike {
    var title: String
    var hiker: Hiker?
    init(_ title: String) { self.title = title }
  }

  @Model final class Hut {
    var title: String
    var guests: [Hiker] = []
    init(_ title: String) { self.title = title }
  }
}

enum HikersV3: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(3, 0, 0) }
  static var models: [any PersistentModel.Type] { [Hiker.self, Hike.self, Hut.self] }

  @Model final class Hiker {
    @Attribute(.unique) var name: String
    /// In pounds, said with their unit.
    var load: String
    /// The parts of the name; both have to be there.
    var first: String
    var last: String
    @Relationship(deleteRule: .cascade, inverse: \Hike.hiker) var hikes: [Hike] = []
    @Relationship(inverse: \Hut.guests) var huts: [Hut] = []

    init(_ name: String) {
      self.name = name
      load = ""
      first = ""
      last = ""
    }
  }

  @Model final class Hike {
    @Attribute(originalName: "title") var name: String
    var hiker: Hiker?
    init(_ name: String) { self.name = name }
  }

  @Model final class Hut {
    var title: String
    var guests: [Hiker] = []
    init(_ title: String) { self.title = title }
  }
}

/// The stages between the versions, with what a test has them do besides.
enum HikersPlan: SchemaMigrationPlan {
  /// What each piece of code does at its end, by its number.
  @TaskLocal static var hook: @Sendable (Int, ModelContext) throws -> Void = { _, _ in }

  static var schemas: [any VersionedSchema.Type] { [HikersV1.self, HikersV2.self, HikersV3.self] }
  static var stages: [MigrationStage] { [first, second] }

  /// Of hikers of one name, the first gets the hikes and huts of the others.
  static var first: MigrationStage {
    .custom(
      fromVersion: HikersV1.self,
      toVersion: HikersV2.self,
      willMigrate: { context in
        var kept: [String: HikersV1.Hiker] = [:]
        let byLoad = FetchDescriptor<HikersV1.Hiker>(sortBy: [SortDescriptor(\.load)])
        for hiker in try context.fetch(byLoad) {
          guard let first = kept[hiker.name] else {
            kept[hiker.name] = hiker
            continue
          }
          for hike in hiker.hikes { hike.hiker = first }
          first.huts += hiker.huts.filter { !first.huts.contains($0) }
          hiker.huts = []
          context.delete(hiker)
          try context.save()
        }
        try hook(0, context)
      },
      didMigrate: { try hook(1, $0) }
    )
  }

  static var second: MigrationStage {
    let loads = Loads()
    return .custom(
      fromVersion: HikersV2.self,
      toVersion: HikersV3.self,
      willMigrate: { context in
        for hiker in try context.fetch(FetchDescriptor<HikersV2.Hiker>()) {
          loads.byHiker[hiker.persistentModelID] = hiker.load
        }
        try hook(2, context)
      },
      didMigrate: { context in
        for hiker in try context.fetch(FetchDescriptor<HikersV3.Hiker>()) {
          let kilograms = loads.byHiker[hiker.persistentModelID] ?? 0
          hiker.load = "\(kilograms * 22 / 10) lb"
          let parts = hiker.name.split(separator: " ")
          hiker.first = String(parts.first ?? "")
          hiker.last = String(parts.last ?? "")
        }
        try hook(3, context)
      }
    )
  }

  /// What one piece of code hands to the next.
  private final class Loads: @unchecked Sendable {
    var byHiker: [PersistentIdentifier: Int] = [:]
  }
}
