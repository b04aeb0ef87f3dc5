import Foundation
import ModelRuntime

extension DataStoreContract {
  /// The clauses about migration: the schema grows, and the store continues.
  static let migration: [Clause] = [
    Clause("A store opens under a newer version of its schema", of: .migration) { stage in
      let old = ModelContext(
        try ModelContainer(
          for: Schema(versionedSchema: OldCrates.self),
          migrationPlan: CratePlan.self,
          configurations: [stage.configuration()]
        )
      )
      for number in 0..<10 { old.insert(OldCrates.Crate(number)) }
      try old.save()
      if let store = try stage.store(of: old) as? any DataStoreClosing { try store.close() }
      for round in 0..<2 {
        let context = ModelContext(
          try ModelContainer(
            for: Schema(versionedSchema: NewCrates.self),
            migrationPlan: CratePlan.self,
            configurations: [stage.configuration()]
          )
        )
        let all = FetchDescriptor<NewCrates.Crate>(sortBy: [SortDescriptor(\.number)])
        let crates = try context.fetch(all)
        try expect(crates.map(\.number), Array(0..<10), "the numbers from before")
        try expect(crates.map(\.size), crates.map { round * $0.number + 7 }, "the sizes")
        for crate in crates { crate.size += crate.number }
        try context.save()
        if let store = try stage.store(of: context) as? any DataStoreClosing { try store.close() }
      }
    }
  ]
}

enum OldCrates: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Crate.self] }

  @Model final class Crate {
    var number: Int
    init(_ number: Int) { self.number = number }
  }
}

enum NewCrates: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Crate.self] }

  @Model final class Crate {
    var number: Int
    var size: Int = 7
    init(_ number: Int) { self.number = number }
  }
}

enum CratePlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [OldCrates.self, NewCrates.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: OldCrates.self, toVersion: NewCrates.self)]
  }
}
