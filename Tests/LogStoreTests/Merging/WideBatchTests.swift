import Foundation
import LogEngineTestSupport
import LogStore
import SchedulePoints
import SwiftData
import Synchronization
import Testing

/// Texts before and beyond the 63rd property, a key, and what is not stored.
@Model final class Captioned: WideBase {
  var head = ""
  var number = 0
  var tail = ""
  @Attribute(.ephemeral) var isSelected = false
  @Attribute(.unique) var code = 0

  required init() { super.init() }
}

@Suite struct `Batches that write properties which share a mark` {
  private let folder: TemporaryFolder
  private let configuration: LogStoreConfiguration
  private let container: ModelContainer
  private static let schema = Schema(Wide.all + [Captioned.self])

  init() throws {
    folder = try TemporaryFolder()
    configuration = LogStoreConfiguration(
      schema: Self.schema,
      url: folder.url.appending(path: "store"),
      durability: .relaxed
    )
    container = try ModelContainer(for: Self.schema, configurations: configuration)
  }

  private func model<M: PersistentModel>(_ type: M.Type, _ context: ModelContext) throws -> M {
    try #require(try context.fetch(FetchDescriptor<M>()).first)
  }

  private func stored<M: PersistentModel>(_ type: M.Type) throws -> M {
    try model(type, ModelContext(container))
  }

  private func insert(_ models: any PersistentModel...) throws {
    let context = ModelContext(container)
    for model in models { context.insert(model) }
    try context.save()
  }

  /// Runs a block once, on this thread, when it comes to a point for the first time, or a later one.
  private func at<R>(
    _ point: SchedulePoint,
    time: Int = 1,
    run other: @escaping @Sendable () throws -> Void,
    during body: () throws -> R
  ) rethrows -> R {
    let thread = UInt(bitPattern: Int(bitPattern: pthread_self()))
    let count = Mutex(0)
    let hook = ScheduleHook { reached in
      guard reached == point, thread == UInt(bitPattern: Int(bitPattern: pthread_self())),
        count.withLock({ count in
          count += 1
          return count == time
        })
      else { return }
      do { try other() } catch { Issue.record(error) }
    }
    defer { hook.remove() }
    let result = try body()
    #expect(count.withLock { $0 } >= time, "\(point) was not reached")
    return result
  }

  @Test func `compare texts that are given in another order`() throws {
    try insert(Captioned())
    let other = ModelContext(container)
    let theirs = try model(Captioned.self, other)
    var isFirst = true
    try ModelContext(container).batchUpdate(
      Captioned.self,
      .change(\.tail) { tail in
        if isFirst {
          isFirst = false
          theirs.number = 5
          theirs.head = "theirs"
          try other.save()
        }
        return tail + "!"
      },
      .change(\.head) { $0 + "!" }
    )
    let read = try stored(Captioned.self)
    #expect(read.head == "theirs!" && read.tail == "!" && read.number == 5)
  }

  @Test func `compare texts beyond the 63rd that are not set beside one before`() throws {
    try insert(Captioned())
    let other = ModelContext(container)
    let theirs = try model(Captioned.self, other)
    var isFirst = true
    try ModelContext(container).batchUpdate(
      Captioned.self,
      .set(\.number, to: 1),
      .change(\.head) { head in
        if isFirst {
          isFirst = false
          theirs.tail = "theirs"
          try other.save()
        }
        return head + "!"
      }
    )
    let read = try stored(Captioned.self)
    #expect(read.head == "!" && read.tail == "theirs" && read.number == 1)
  }

  @Test func `leave ephemeral values with their models`() throws {
    try insert(Captioned())
    let context = ModelContext(container)
    let mine = try model(Captioned.self, context)
    mine.isSelected = true
    mine.n0 = 1
    try context.save()
    mine.number = 1
    try context.save()
    #expect(mine.isSelected)
    #expect(try !stored(Captioned.self).isSelected)
  }

  @Test func `leave others' values where they update by a key`() throws {
    try insert(Captioned())
    let container = container
    let result = try at(.beforeClaim) {
      let other = ModelContext(container)
      let theirs = try #require(try other.fetch(FetchDescriptor<Captioned>()).first)
      theirs.tail = "theirs"
      try other.save()
    } during: {
      try ModelContext(container).batchUpsert(
        Captioned.self,
        \.code,
        \.number,
        rows: [(0, 1), (7, 2)]
      )
    }
    #expect(result.insertedCount == 1 && result.updatedCount == 1)
    let context = ModelContext(container)
    let read = try context.fetch(FetchDescriptor<Captioned>(sortBy: [SortDescriptor(\.code)]))
    #expect(read.map(\.number) == [1, 2])
    #expect(read.map(\.tail) == ["theirs", ""])
  }

  @Test func `leave others' values where they settle the other end of a pair`() throws {
    try insert(Hub(), Mate("a"))
    let container = container
    let context = ModelContext(container)
    let hub = try model(Hub.self, context)
    _ = try at(.beforeClaim) {
      let other = ModelContext(container)
      let theirs = try #require(try other.fetch(FetchDescriptor<Hub>()).first)
      theirs.text = "theirs"
      try other.save()
    } during: {
      try context.batchUpdate(Mate.self, .set(\.hub, to: hub))
    }
    let read = try stored(Hub.self)
    #expect(read.twin?.name == "a" && read.text == "theirs")
  }

  @Test func `clear references to what a store deletes, and nothing else`() throws {
    let hub = Hub()
    let spokes = [Spoke("a"), Spoke("b")]
    try insert(hub, spokes[0], spokes[1])
    let context = ModelContext(container)
    let mine = try model(Hub.self, context)
    let found = try context.fetch(FetchDescriptor<Spoke>(sortBy: [SortDescriptor(\.name)]))
    mine.first = found[0]
    mine.second = found[1]
    mine.text = "mine"
    try context.save()
    let container = container
    let store = try LogStore(configuration, migrationPlan: nil)
    try at(.beforeClaim, time: 2) {
      let other = ModelContext(container)
      let theirs = try #require(try other.fetch(FetchDescriptor<Hub>()).first)
      theirs.text += ", theirs"
      try other.save()
    } during: {
      try store.delete(
        DataStoreBatchDeleteRequest<Spoke>(
          predicate: #Predicate { $0.name == "a" },
          includeSubclasses: true,
          editingState: EditingState(author: nil)
        )
      )
    }
    let read = try stored(Hub.self)
    #expect(read.first == nil && read.second?.name == "b")
    #expect(read.text == "mine, theirs")
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Spoke>()) == 1)
  }
}
