import Foundation
import ModelRuntime

extension DataStoreContract {
  /// Values come back as they were.
  static let values: [Clause] = [
    Clause("A store gives back every kind of value as it was saved", of: .values) { stage in
      let code = UUID()
      try stage.steps(
        { context in
          let item = Item("Ж́ 🧭", count: .min)
          item.weight = -0.1
          item.isNew = true
          item.made = Date(timeIntervalSinceReferenceDate: 123_456_789.25)
          item.code = code
          item.picture = Data([0, 255, 10, 0])
          item.link = URL(string: "https://example.org/a?b=c#d")
          item.grade = .high
          item.tags = ["", "two", "two"]
          item.place = Place(street: "Main", number: 5)
          context.insert(item)
          try context.save()
        },
        { context in
          let item = try require(try context.fetch(FetchDescriptor<Item>()).first, "the item")
          try expect(item.name, "Ж́ 🧭", "text")
          try expect(item.count, .min, "integer")
          try expect(item.weight, -0.1, "double")
          try expect(item.isNew, true, "bool")
          try expect(item.made, Date(timeIntervalSinceReferenceDate: 123_456_789.25), "date")
          try expect(item.code, code, "UUID")
          try expect(item.picture, Data([0, 255, 10, 0]), "data")
          try expect(item.link, URL(string: "https://example.org/a?b=c#d"), "URL")
          try expect(item.grade, .high, "enumeration")
          try expect(item.tags, ["", "two", "two"], "array")
          try expect(item.place, Place(street: "Main", number: 5), "structure")
        }
      )
    },
    Clause("A store tells nil from empty", of: .values) { stage in
      try stage.steps(
        { context in
          let none = Item("none")
          let empty = Item("empty")
          empty.picture = Data()
          context.insert(none)
          context.insert(empty)
          try context.save()
        },
        { context in
          let items = try context.fetch(FetchDescriptor<Item>(sortBy: [SortDescriptor(\.name)]))
          try expect(items.map(\.picture), [Data(), nil], "pictures")
          try expect(items.map(\.weight), [nil, nil], "weights")
        }
      )
    },
    Clause("A store keeps a value of a megabyte", of: .values) { stage in
      let picture = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
      let name = String(repeating: "long ", count: 40_000)
      try stage.steps(
        { context in
          let item = Item(name)
          item.picture = picture
          context.insert(item)
          try context.save()
        },
        { context in
          let item = try require(try context.fetch(FetchDescriptor<Item>()).first, "the item")
          try expect(item.picture == picture, true, "the picture is the same")
          try expect(item.name == name, true, "the name is the same")
        }
      )
    },
  ]
}
