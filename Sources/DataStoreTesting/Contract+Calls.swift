import Foundation
import ModelRuntime

extension DataStoreContract {
  /// The clauses about the number of calls of a store.
  static let calls: [Clause] = [
    Clause("A store is asked once to save, and once at most for each entity", of: .calls) { stage in
      let log = CallLog()
      let counted = Stage { counting(stage.configuration(), log) }
      try fill(try counted.open())

      let context = try counted.open()
      let items = try context.fetch(FetchDescriptor<Item>(sortBy: [SortDescriptor(\.name)]))
      let owners = try context.fetch(FetchDescriptor<Owner>(sortBy: [SortDescriptor(\.name)]))
      for (item, owner) in zip(items, owners.reversed()) { item.owner = owner }
      for item in items { item.count += 1 }
      context.insert(Member("0", name: "again"))
      for number in 100..<110 { context.insert(Member("\(number)", name: "new")) }
      log.clear()
      try context.save()
      try expect(log.current.saves, 1, "calls of save")
      for (entity, count) in log.current.fetches.sorted(by: { $0.key < $1.key }) {
        try expect(count, 1, "calls of fetch for \(entity)")
      }

      for item in items { item.count += 1 }
      log.clear()
      try context.save()
      try expect(log.current.saves, 1, "calls of save for changes of one entity")
      try expect(log.current.fetches.keys.filter { $0 != "Item" }, [], "what was fetched besides")
      try expect(log.current.fetches["Item", default: 0] <= 1, true, "one fetch at most")

      context.insert(Item("new"))
      log.clear()
      try context.save()
      try expect(log.current.fetches.count, 0, "fetches for a new model without unique values")
      log.clear()
      try context.save()
      try expect(log.current.saves, 0, "calls of save without changes")
    }
  ]

  private static func fill(_ context: ModelContext) throws {
    for number in 0..<10 {
      let owner = Owner("\(number)")
      owner.items = (0..<3).map { Item("\(number).\($0)") }
      context.insert(owner)
      context.insert(Member("\(number)", name: "first"))
    }
    try context.save()
  }

  private static func counting(
    _ configuration: any DataStoreConfiguration,
    _ log: CallLog
  ) -> any DataStoreConfiguration {
    func wrap<C: DataStoreConfiguration>(_ base: C) -> any DataStoreConfiguration {
      CountingConfiguration<C.Store>(base: base, log: log)
    }
    return wrap(configuration)
  }
}
