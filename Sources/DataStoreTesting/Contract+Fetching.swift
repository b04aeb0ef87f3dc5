import Foundation
import ModelRuntime

extension DataStoreContract {
  /// Fetches find what matches, in order.
  static let fetching: [Clause] = [
    Clause("A store answers a predicate, or has the context answer it", of: .fetching) { stage in
      let context = try filled(stage)
      func names(_ predicate: Predicate<Item>) throws -> [String] {
        try context.fetch(
          FetchDescriptor<Item>(predicate: predicate, sortBy: [SortDescriptor(\.count)])
        ).map(\.name)
      }
      try expect(try names(#Predicate { $0.count >= 18 }), ["item 18", "item 19"], ">=")
      try expect(try names(#Predicate { $0.name == "item 3" }), ["item 3"], "==")
      try expect(
        try names(#Predicate { $0.name.contains("1") && $0.count < 12 }),
        ["item 1", "item 10", "item 11"],
        "contains and <"
      )
      try expect(
        try names(#Predicate { $0.weight == nil && $0.count > 16 }),
        ["item 17", "item 19"],
        "nil"
      )
      try expect(try names(#Predicate { ($0.weight ?? 0) > 8.5 }), ["item 18"], "??")
      try expect(
        try names(#Predicate { $0.owner?.name == "odd" && $0.count > 16 }),
        ["item 17", "item 19"],
        "through a relationship"
      )
      let wanted = [2, 5, 99]
      try expect(try names(#Predicate { wanted.contains($0.count) }), ["item 2", "item 5"], "in")
      try expect(try names(#Predicate { $0.isNew == true }), [], "a bool")
    },
    Clause("A store sorts, or has the context sort", of: .fetching) { stage in
      let context = try filled(stage)
      func counts(_ sort: SortDescriptor<Item>...) throws -> [Int] {
        try context.fetch(FetchDescriptor<Item>(sortBy: sort)).prefix(4).map(\.count)
      }
      try expect(try counts(SortDescriptor(\.count, order: .reverse)), [19, 18, 17, 16], "reverse")
      try expect(try counts(SortDescriptor(\.name)), [0, 1, 10, 11], "by text")
      try expect(
        try counts(SortDescriptor(\.weight), SortDescriptor(\.count, order: .reverse)),
        [19, 17, 15, 13],
        "nil first, then the second key"
      )
    },
    Clause("A store cuts to limit and offset after filtering and sorting", of: .fetching) { stage in
      let context = try filled(stage)
      var descriptor = FetchDescriptor<Item>(
        predicate: #Predicate { $0.count > 4 },
        sortBy: [SortDescriptor(\.count)]
      )
      descriptor.fetchOffset = 2
      descriptor.fetchLimit = 3
      try expect(try context.fetch(descriptor).map(\.count), [7, 8, 9], "the page")
      try expect(try context.fetchCount(descriptor), 3, "the page's count")
      descriptor.fetchOffset = 14
      try expect(try context.fetch(descriptor).map(\.count), [19], "the last page")
      descriptor.fetchOffset = 100
      try expect(try context.fetch(descriptor).isEmpty, true, "behind the last page is nothing")
    },
    Clause("A store counts and names what a fetch would find", of: .fetching) { stage in
      let context = try filled(stage)
      let descriptor = FetchDescriptor<Item>(predicate: #Predicate { $0.count < 7 })
      try expect(try context.fetchCount(FetchDescriptor<Item>()), 20, "all")
      try expect(try context.fetchCount(descriptor), 7, "those that match")
      let identifiers = Set(try context.fetchIdentifiers(descriptor))
      let models = Set(try context.fetch(descriptor).map(\.persistentModelID))
      try expect(identifiers == models, true, "the identifiers are those of the models")
    },
    Clause("A store finds models by their identifiers", of: .fetching) { stage in
      let context = try filled(stage)
      let some = try context.fetch(
        FetchDescriptor<Item>(predicate: #Predicate { $0.count == 3 || $0.count == 8 })
      )
      let identifiers = Set(some.map(\.persistentModelID))
      let other = ModelContext(context.container)
      let found = try other.fetch(
        FetchDescriptor<Item>(
          predicate: #Predicate { identifiers.contains($0.persistentModelID) },
          sortBy: [SortDescriptor(\.count)]
        )
      )
      try expect(found.map(\.count), [3, 8], "the items")
    },
    Clause("A store that is empty finds nothing", of: .fetching) { stage in
      let context = try stage.open()
      try expect(try context.fetch(FetchDescriptor<Item>()).isEmpty, true, "nothing is fetched")
      try expect(try context.fetchCount(FetchDescriptor<Owner>()), 0, "the count")
    },
  ]

  /// Twenty items: the even ones weigh half their number, the odd ones have an owner.
  private static func filled(_ stage: Stage) throws -> ModelContext {
    let context = try stage.open()
    let odd = Owner("odd")
    for count in 0..<20 {
      let item = Item("item \(count)", count: count)
      if count % 2 == 0 { item.weight = Double(count) / 2 } else { item.owner = odd }
      context.insert(item)
    }
    try context.save()
    return ModelContext(context.container)
  }
}
