import Foundation
import LogEngine
import ModelRuntime
import SchedulePoints
import SwiftData
import Synchronization
import Testing

@testable import LogStore

@Model final class Turnstile {
  var number: Int
  var count = 0
  init(_ number: Int) { self.number = number }
}

@Suite struct `A save that others overtake` {
  private let container: ModelContainer
  private let tables: TableStore

  init() throws {
    container = try ModelContainer(
      for: Turnstile.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    tables = try #require(container.stores(of: DefaultStore.self).first).tables
    let context = ModelContext(container)
    for number in 0..<10 { context.insert(Turnstile(number)) }
    try context.save()
  }

  /// Has another thread add one to a count at each attempt of a save, and waits until that is saved, or waits itself.
  ///
  /// - Returns: The number of attempts, and of the other thread's saves.
  private func overtaking(_ body: () throws -> Void) throws -> Int {
    let attempts = Atomic<Int>(0)
    let others = DispatchGroup()
    let thread = pthread_self()
    let hook = ScheduleHook { [container, tables] point in
      guard point == .beforeClaim, pthread_equal(thread, pthread_self()) != 0 else { return }
      let attempt = attempts.add(1, ordering: .relaxed).newValue
      if attempt > 20 { return }
      let flag = Flag()
      DispatchQueue(label: "overtaking").async(group: others) {
        do {
          _ = try ModelContext(container).batchUpdate(
            Turnstile.self,
            where: #Predicate { $0.number == 3 },
            .add(1, to: \.count)
          )
        } catch {
          Issue.record(error)
        }
        flag.isSet.store(true, ordering: .releasing)
      }
      while !flag.isSet.load(ordering: .acquiring), tables.engine.givingWayCount == 0 {
        sched_yield()
      }
    }
    defer { hook.remove() }
    try body()
    others.wait()
    return attempts.load(ordering: .relaxed)
  }

  private final class Flag: Sendable {
    let isSet = Atomic<Bool>(false)
  }

  @Test(.timeLimit(.minutes(30)))
  func `goes first after a few attempts, if it is a batch that adds to values`() throws {
    let attempts = try overtaking {
      _ = try ModelContext(container).batchUpdate(Turnstile.self, .add(100, to: \.count))
    }
    #expect(attempts <= 4)
    let counts = try ModelContext(container)
      .fetch(FetchDescriptor<Turnstile>(sortBy: [SortDescriptor(\.number)])).map(\.count)
    #expect(counts == (0..<10).map { $0 == 3 ? 100 + attempts : 100 })
  }

  @Test(.timeLimit(.minutes(30)))
  func `goes first after a few attempts, if it compares values`() throws {
    let context = ModelContext(container)
    context.mergePolicy = .throw
    let turnstiles = try context.fetch(FetchDescriptor<Turnstile>())
    for turnstile in turnstiles { turnstile.number += 100 }
    let attempts = try overtaking { try? context.save() }
    #expect(attempts <= 4)
  }

  @Test(.timeLimit(.minutes(30)))
  func `waits for what it lost to, if reads do not see that yet`() throws {
    let thread = pthread_self()
    let attempts = Atomic<Int>(0)
    let group = DispatchGroup()
    // Threads of other tests reach these points, too.
    let second = Mutex<pthread_t?>(nil)
    let hook = ScheduleHook { [container] point in
      if let second = second.withLock({ $0 }), pthread_equal(second, pthread_self()) != 0 {
        if point == .beforeClaim { attempts.add(1, ordering: .relaxed) }
        return
      }
      guard point == .beforePublication, pthread_equal(thread, pthread_self()) != 0 else { return }
      // The first save has its number, and cannot be read before this returns.
      DispatchQueue(label: "overtaken").async(group: group) {
        second.withLock { $0 = pthread_self() }
        defer { second.withLock { $0 = nil } }
        do {
          _ = try ModelContext(container).batchUpdate(Turnstile.self, .add(1, to: \.count))
        } catch {
          Issue.record(error)
        }
      }
      while attempts.load(ordering: .relaxed) == 0 { sched_yield() }
      for _ in 0..<1_000 where attempts.load(ordering: .relaxed) < 10 { sched_yield() }
    }
    let context = ModelContext(container)
    for turnstile in try context.fetch(FetchDescriptor<Turnstile>()) { turnstile.count = 10 }
    try context.save()
    group.wait()
    hook.remove()
    #expect(attempts.load(ordering: .relaxed) <= 3)
    let counts = try ModelContext(container).fetch(FetchDescriptor<Turnstile>()).map(\.count)
    #expect(counts == Array(repeating: 11, count: 10))
  }
}
