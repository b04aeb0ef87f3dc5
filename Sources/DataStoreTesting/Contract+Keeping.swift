import Foundation
import ModelRuntime

extension DataStoreContract {
  /// The clauses about keeping: a save is there when the store is opened again, however it was left.
  static let keeping: [Clause] = [
    Clause("A store keeps large values", of: .largeValues) { stage in
      let text = String(repeating: "long and \u{e9}qual ", count: 100_000)
      let data = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 * 31 ^ $0 >> 8) })
      let tags = (0..<10_000).map { "tag \($0)" }
      try stage.steps(
        { context in
          let item = Item(text)
          item.picture = data
          item.tags = tags
          context.insert(item)
          context.insert(Item("small"))
          try context.save()
        },
        { context in
          let items = try context.fetch(FetchDescriptor<Item>(sortBy: [SortDescriptor(\.name)]))
          try expect(items.count, 2, "models")
          try expect(items[0].name == text, true, "the text of \(text.utf8.count) bytes is equal")
          try expect(items[0].picture == data, true, "the data of \(data.count) bytes are equal")
          try expect(items[0].tags == tags, true, "the \(tags.count) tags are equal")
          items[0].name = "short"
          try context.save()
        },
        { context in
          let items = try context.fetch(FetchDescriptor<Item>(sortBy: [SortDescriptor(\.name)]))
          try expect(items.map(\.name), ["short", "small"], "the names")
          try expect(
            items[0].picture == data,
            true,
            "the data are equal after a change beside them"
          )
        }
      )
    },
    Clause("A store that was closed is complete when it is opened again", of: .closing) { stage in
      for round in 0..<3 {
        let context = try stage.open()
        try expect(
          try context.fetchCount(FetchDescriptor<Item>()),
          round * 5,
          "models in round \(round)"
        )
        for count in 0..<5 { context.insert(Item("\(round)", count: count)) }
        try context.save()
        guard let store = try stage.store(of: context) as? any DataStoreClosing else { continue }
        try store.close()
        // Closing again does nothing.
        try store.close()
        let isRefused = (try? context.fetchCount(FetchDescriptor<Item>())) == nil
        try expect(isRefused, true, "a closed store refuses to count")
      }
    },
    Clause(
      "A store whose process was killed has every save that returned, and nothing else",
      of: .recovery
    ) { stage in
      let killed = try require(
        stage.killed,
        "a copy of the store: pass `killed`, or declare recovery unsupported"
      )
      let context = try stage.open()
      for save in 0..<10 {
        for count in 0..<3 { context.insert(Item("\(save)", count: count)) }
        try context.save()
      }
      let first = try context.fetch(FetchDescriptor<Item>(predicate: #Predicate { $0.name == "0" }))
      for item in first { context.delete(item) }
      try context.save()
      context.insert(Item("unsaved"))
      let copy = try killed()
      // The store is open until here: nothing was brought to its end.
      try withExtendedLifetime(context) {
        let copied = Stage { copy }
        for round in 0..<2 {
          let context = try copied.open()
          let found = try context.fetch(FetchDescriptor<Item>())
          let saved = (1..<10).flatMap { save in (0..<3).map { "\(save)/\($0)" } }
          let later = round == 0 ? [] : ["later/0"]
          try expect(
            found.map { "\($0.name)/\($0.count)" }.sorted(),
            saved + later,
            "models in opening \(round + 1) after the kill"
          )
          if round == 0 {
            context.insert(Item("later"))
            try context.save()
          }
        }
      }
    },
  ]
}
