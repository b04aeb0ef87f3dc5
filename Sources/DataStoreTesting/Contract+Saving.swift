import Foundation
import ModelRuntime

extension DataStoreContract {
  /// Saves are whole, and last.
  static let saving: [Clause] = [
    Clause("A store gives inserted models permanent identifiers of its own", of: .saving) { stage in
      let context = try stage.open()
      let first = Item("first")
      let second = Item("second")
      context.insert(first)
      context.insert(second)
      try context.save()
      try expect(first.persistentModelID.isTemporary, false, "isTemporary after saving")
      try expect(
        first.persistentModelID == second.persistentModelID,
        false,
        "identifiers are equal"
      )
      let found = try require(
        ModelContext(context.container).model(for: first.persistentModelID) as? Item,
        "the item"
      )
      try expect(found.name, "first", "the name found by identifier")
    },
    Clause("A store keeps an identifier's meaning over another opening", of: .saving) { stage in
      let archive = try
        ({ () throws -> Data in
          let context = try stage.open()
          let item = Item("kept")
          context.insert(item)
          context.insert(Item("other"))
          try context.save()
          return try JSONEncoder().encode(item.persistentModelID)
        })()
      let context = try stage.open()
      let identifier = try JSONDecoder().decode(PersistentIdentifier.self, from: archive)
      let item = try require(context.model(for: identifier) as? Item, "the item")
      try expect(item.name, "kept", "the name found by identifier")
    },
    Clause("A store writes the changed properties and leaves the others", of: .saving) { stage in
      try stage.steps(
        { context in
          let item = Item("before", count: 1)
          item.tags = ["kept"]
          context.insert(item)
          try context.save()
        },
        { context in
          let item = try require(try context.fetch(FetchDescriptor<Item>()).first, "the item")
          item.name = "after"
          try context.save()
          item.count = 2
          try context.save()
        },
        { context in
          let item = try require(try context.fetch(FetchDescriptor<Item>()).first, "the item")
          try expect(item.name, "after", "the changed name")
          try expect(item.count, 2, "the changed count")
          try expect(item.tags, ["kept"], "the untouched tags")
        }
      )
    },
    Clause("A store forgets deleted models for good", of: .saving) { stage in
      try stage.steps(
        { context in
          for count in 0..<10 { context.insert(Item("\(count)", count: count)) }
          try context.save()
        },
        { context in
          let odd = FetchDescriptor<Item>(predicate: #Predicate { $0.count % 2 == 1 })
          for item in try context.fetch(odd) { context.delete(item) }
          try context.save()
          try expect(try context.fetchCount(FetchDescriptor<Item>()), 5, "count after deleting")
        },
        { context in
          let left = try context.fetch(FetchDescriptor<Item>(sortBy: [SortDescriptor(\.count)]))
          try expect(left.map(\.count), [0, 2, 4, 6, 8], "what is left")
        }
      )
    },
    Clause("A store takes inserts, updates and deletes in one save", of: .saving) { stage in
      try stage.steps(
        { context in
          for name in ["a", "b"] { context.insert(Item(name)) }
          try context.save()
          let items = try context.fetch(FetchDescriptor<Item>(sortBy: [SortDescriptor(\.name)]))
          items[0].name = "A"
          context.delete(items[1])
          context.insert(Item("c"))
          try context.save()
        },
        { context in
          let names = try context.fetch(FetchDescriptor<Item>()).map(\.name).sorted()
          try expect(names, ["A", "c"], "what is there")
        }
      )
    },
    Clause("A store refuses changes of a model that another context has deleted", of: .saving) {
      stage in
      let context = try stage.open()
      let item = Item("there")
      context.insert(item)
      context.insert(Item("beside"))
      try context.save()
      let other = ModelContext(context.container)
      try other.delete(model: Item.self, where: #Predicate { $0.name == "there" })
      try other.save()
      item.name = "changed"
      var refusal: SwiftDataError?
      do { try context.save() } catch let error as SwiftDataError { refusal = error }
      try expect(refusal, .modelValidationFailure, "the error of the save")
      try expect(context.hasChanges, true, "whether the change is pending")
      context.rollback()
      let names = try ModelContext(context.container).fetch(FetchDescriptor<Item>()).map(\.name)
      try expect(names, ["beside"], "what is there")
    },
    Clause("A store shows one context what another has saved", of: .saving) { stage in
      let writer = try stage.open()
      let reader = ModelContext(writer.container)
      writer.insert(Item("seen"))
      try expect(try reader.fetchCount(FetchDescriptor<Item>()), 0, "count before the save")
      try writer.save()
      try expect(try reader.fetch(FetchDescriptor<Item>()).map(\.name), ["seen"], "after the save")
    },
  ]
}
