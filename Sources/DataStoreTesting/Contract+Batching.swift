import Foundation
import ModelRuntime

extension DataStoreContract {
  /// The clauses of ``/ModelRuntime/DataStoreBatching``.
  static let batching: [Clause] = [
    Clause("A store deletes what a predicate matches, and nothing else", of: .batching) { stage in
      try stage.steps(
        { context in
          for count in 0..<20 { context.insert(Item("item", count: count)) }
          context.insert(Owner("owner"))
          try context.save()
          guard let store = try stage.store(of: context) as? any DataStoreBatching else { return }
          try store.delete(
            DataStoreBatchDeleteRequest<Item>(
              predicate: #Predicate { $0.count % 2 == 1 && $0.count > 4 },
              includeSubclasses: true,
              editingState: EditingState(author: "contract")
            )
          )
          let counts = try ModelContext(context.container).fetch(FetchDescriptor<Item>()).map(
            \.count
          )
          try expect(counts.sorted(), left, "the counts of those that are left")
        },
        { context in
          let counts = try context.fetch(FetchDescriptor<Item>()).map(\.count)
          try expect(counts.sorted(), left, "the counts of those that are left, opened again")
          try expect(try only(Owner.self, in: context).name, "owner", "a model of another entity")
          guard let store = try stage.store(of: context) as? any DataStoreBatching else { return }
          try store.delete(
            DataStoreBatchDeleteRequest<Item>(
              predicate: nil,
              includeSubclasses: true,
              editingState: EditingState()
            )
          )
        },
        { context in
          try expect(
            try context.fetchCount(FetchDescriptor<Item>()),
            0,
            "models after all were deleted"
          )
          try expect(
            try context.fetchCount(FetchDescriptor<Owner>()),
            1,
            "models of another entity"
          )
        }
      )
    }
  ]

  private static let left = [0, 1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18]
}
