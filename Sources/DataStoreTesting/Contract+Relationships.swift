import Foundation
import ModelRuntime

extension DataStoreContract {
  /// Models find each other again.
  static let relationships: [Clause] = [
    Clause("A store keeps a graph that was inserted by one of its models", of: .relationships) {
      stage in
      try stage.steps(
        { context in
          let owner = Owner("Ann")
          owner.items = ["c", "a", "b"].map { Item($0) }
          owner.items[0].parts = [Part("2"), Part("1")]
          context.insert(owner)
          try context.save()
        },
        { context in
          let owner = try require(try context.fetch(FetchDescriptor<Owner>()).first, "the owner")
          try expect(owner.items.map(\.name), ["c", "a", "b"], "the items, in order")
          try expect(owner.items[0].parts.map(\.name), ["2", "1"], "the parts, in order")
          try expect(owner.items[0].owner === owner, true, "the way back")
        }
      )
    },
    Clause("A store keeps the order a list was put in", of: .relationships) { stage in
      try stage.steps(
        { context in
          let owner = Owner("Ann")
          owner.items = ["c", "a", "b"].map { Item($0) }
          context.insert(owner)
          try context.save()
          owner.items.append(Item("0"))
          try context.save()
          try expect(owner.items.map(\.name), ["c", "a", "b", "0"], "after appending")
          owner.items.sort { $0.name < $1.name }
          try context.save()
        },
        { context in
          let owner = try require(try context.fetch(FetchDescriptor<Owner>()).first, "the owner")
          try expect(owner.items.map(\.name), ["0", "a", "b", "c"], "after sorting")
          owner.items.insert(Item("z"), at: 0)
          try context.save()
        },
        { context in
          let owner = try require(try context.fetch(FetchDescriptor<Owner>()).first, "the owner")
          try expect(owner.items.map(\.name), ["z", "0", "a", "b", "c"], "after inserting")
        }
      )
    },
    Clause("A store moves a member from one list to another", of: .relationships) { stage in
      try stage.steps(
        { context in
          let ann = Owner("Ann")
          ann.items = [Item("1"), Item("2")]
          context.insert(ann)
          context.insert(Owner("Bob"))
          try context.save()
        },
        { context in
          let owners = try context.fetch(FetchDescriptor<Owner>(sortBy: [SortDescriptor(\.name)]))
          let item = try require(owners[0].items.first, "Ann's item")
          item.owner = owners[1]
          try expect(owners.map { $0.items.map(\.name) }, [["2"], ["1"]], "before saving")
          try context.save()
          try expect(owners.map { $0.items.map(\.name) }, [["2"], ["1"]], "after saving")
        },
        { context in
          let owners = try context.fetch(FetchDescriptor<Owner>(sortBy: [SortDescriptor(\.name)]))
          try expect(owners.map { $0.items.map(\.name) }, [["2"], ["1"]], "after reopening")
        }
      )
    },
    Clause("A store adds members that name an owner to the owner's unread list", of: .relationships)
    { stage in
      try stage.steps(
        { context in
          let ann = Owner("Ann")
          ann.items = [Item("1")]
          context.insert(ann)
          try context.save()
        },
        { context in
          let ann = try require(try context.fetch(FetchDescriptor<Owner>()).first, "the owner")
          for name in ["2", "3"] {
            let item = Item(name)
            context.insert(item)
            item.owner = ann
            try context.save()
          }
        },
        { context in
          let ann = try require(try context.fetch(FetchDescriptor<Owner>()).first, "the owner")
          try expect(ann.items.map(\.name), ["1", "2", "3"], "the items after adding")
          context.delete(try require(try context.fetch(FetchDescriptor<Item>()).first, "an item"))
          try context.save()
        },
        { context in
          let ann = try require(try context.fetch(FetchDescriptor<Owner>()).first, "the owner")
          try expect(ann.items.map(\.name), ["2", "3"], "the items after deleting")
        }
      )
    },
    Clause("A store keeps both sides of a relationship of many to many", of: .relationships) {
      stage in
      try stage.steps(
        { context in
          let red = Label("red")
          let blue = Label("blue")
          let first = Item("1")
          let second = Item("2")
          first.labels = [red, blue]
          second.labels = [red]
          context.insert(first)
          context.insert(second)
          try context.save()
        },
        { context in
          let labels = try context.fetch(FetchDescriptor<Label>(sortBy: [SortDescriptor(\.text)]))
          try expect(
            labels.map { $0.items.map(\.name).sorted() },
            [["1"], ["1", "2"]],
            "items by label"
          )
          labels[1].items = []
          try context.save()
        },
        { context in
          let items = try context.fetch(FetchDescriptor<Item>(sortBy: [SortDescriptor(\.name)]))
          try expect(items.map { $0.labels.map(\.text) }, [["blue"], []], "labels by item")
        }
      )
    },
    Clause("A store deletes with a model what its rule cascades to", of: .relationships) { stage in
      try stage.steps(
        { context in
          let item = Item("whole")
          item.parts = (0..<5).map { Part("\($0)") }
          context.insert(item)
          context.insert(Part("loose"))
          try context.save()
        },
        { context in
          for item in try context.fetch(FetchDescriptor<Item>()) { context.delete(item) }
          try context.save()
        },
        { context in
          let parts = try context.fetch(FetchDescriptor<Part>())
          try expect(parts.map(\.name), ["loose"], "the parts left")
        }
      )
    },
    Clause("A store takes a deleted model out of every relationship", of: .relationships) { stage in
      try stage.steps(
        { context in
          let owner = Owner("Ann")
          owner.items = [Item("1"), Item("2")]
          context.insert(owner)
          try context.save()
        },
        { context in
          let owner = try require(try context.fetch(FetchDescriptor<Owner>()).first, "the owner")
          context.delete(try require(owner.items.first, "the first item"))
          try context.save()
          try expect(owner.items.map(\.name), ["2"], "the items left")
          context.delete(owner)
          try context.save()
        },
        { context in
          let items = try context.fetch(FetchDescriptor<Item>())
          try expect(items.map(\.name), ["2"], "the items left")
          try expect(items.map { $0.owner == nil }, [true], "without an owner")
        }
      )
    },
  ]
}
