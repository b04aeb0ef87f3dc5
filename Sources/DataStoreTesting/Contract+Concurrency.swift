import Dispatch
import Foundation
import ModelRuntime
import Synchronization

extension DataStoreContract {
  /// The clauses about two contexts: neither loses the saves of the other.
  static let contexts: [Clause] = [
    Clause("A store keeps what two contexts change in one model", of: .contexts) { stage in
      let first = try stage.open()
      first.insert(Item("before", count: 1))
      try first.save()
      let second = ModelContext(first.container)
      let one = try only(Item.self, in: first)
      let other = try only(Item.self, in: second)
      try expect(other.name, "before", "the name that the second context reads")
      one.name = "after"
      try first.save()
      other.count = 2
      try second.save()
      let seen = try only(Item.self, in: ModelContext(first.container))
      try expect(seen.name, "after", "the name that the first context saved")
      try expect(seen.count, 2, "the count that the second context saved")
    },
    Clause("A store shows a context that fetches again what another has changed", of: .updates) {
      stage in
      let first = try stage.open()
      first.insert(Item("item"))
      try first.save()
      let second = ModelContext(first.container)
      _ = try only(Item.self, in: second)
      for round in 1...10 {
        let (writer, reader) = round % 2 == 0 ? (first, second) : (second, first)
        let item = try only(Item.self, in: writer)
        item.count += 1
        try writer.save()
        try expect(try only(Item.self, in: reader).count, round, "the count in the other context")
      }
    },
    Clause("A store shows one container what another has saved", of: .containers) { stage in
      let reader = try stage.open()
      let writer = try stage.open()
      try expect(try reader.fetchCount(FetchDescriptor<Item>()), 0, "models before the save")
      let item = Item("first")
      writer.insert(item)
      try writer.save()
      let seen = try only(Item.self, in: reader)
      try expect(seen.name, "first", "the name that the other container saved")
      item.name = "second"
      try writer.save()
      try expect(try only(Item.self, in: reader).name, "second", "the name after another save")
      writer.delete(item)
      try writer.save()
      try expect(try reader.fetchCount(FetchDescriptor<Item>()), 0, "models after the delete")
    },
  ]

  /// The clauses about several threads that use a store at once, each with contexts of its own.
  static let threads: [Clause] = [
    Clause("A store shows whole saves to threads that fetch meanwhile", of: .threads) { stage in
      let container = try stage.open().container
      let writing = Atomic(2)
      try concurrently(4) { number in
        if number < 2 {
          defer { writing.subtract(1, ordering: .sequentiallyConsistent) }
          for save in 0..<20 {
            let context = ModelContext(container)
            for place in 0..<5 { context.insert(Item("\(number).\(save)", count: place)) }
            try context.save()
          }
        } else {
          var isLast = false
          repeat {
            isLast = writing.load(ordering: .sequentiallyConsistent) == 0
            let items = try ModelContext(container).fetch(FetchDescriptor<Item>())
            for (save, items) in Dictionary(grouping: items, by: \.name) {
              try expect(items.count, 5, "models of the save \(save)")
            }
          } while !isLast
        }
      }
      let all = FetchDescriptor<Item>()
      try expect(try ModelContext(container).fetchCount(all), 200, "models of all saves")
    },
    Clause("A store loses no update of threads that write in turn", of: .updates) { stage in
      let context = try stage.open()
      let container = context.container
      context.insert(Item("counter"))
      try context.save()
      let turn = Mutex(())
      try concurrently(4) { _ in
        for _ in 0..<10 {
          try turn.withLock { _ in
            let context = ModelContext(container)
            try only(Item.self, in: context).count += 1
            try context.save()
          }
        }
      }
      try expect(try only(Item.self, in: ModelContext(container)).count, 40, "the counter")
    },
    Clause(
      "A store keeps one model for each unique value that several threads insert",
      of: .concurrentUniqueness
    ) { stage in
      let container = try stage.open().container
      try concurrently(4) { number in
        for round in 0..<10 {
          let context = ModelContext(container)
          for code in 0..<3 {
            context.insert(Member("\(round).\(code)", name: "by \(number)"))
          }
          try context.save()
        }
      }
      let codes = try ModelContext(container).fetch(FetchDescriptor<Member>()).map(\.code)
      try expect(Set(codes).count, 30, "different codes")
      try expect(codes.count, 30, "members")
    },
  ]

  /// Runs a closure on several threads at once, and waits for all.
  ///
  /// - Throws: The error of the first of them that failed.
  private static func concurrently(
    _ count: Int,
    _ body: @escaping @Sendable (_ number: Int) throws -> Void
  ) throws {
    let failures = Mutex<[any Error]>([])
    // Threads of their own: as many as asked for, however few cores there are.
    let group = DispatchGroup()
    for number in 0..<count {
      group.enter()
      Thread {
        do { try body(number) } catch { failures.withLock { $0.append(error) } }
        group.leave()
      }.start()
    }
    group.wait()
    if let failure = failures.withLock({ $0.first }) { throw failure }
  }
}

/// The only model of a class, fetched.
///
/// - Throws: ``ContractViolation`` if there is none, or more than one.
func only<T: PersistentModel>(_: T.Type, in context: ModelContext) throws -> T {
  let found = try context.fetch(FetchDescriptor<T>())
  try expect(found.count, 1, "models of \(Schema.entityName(for: T.self))")
  return found[0]
}
