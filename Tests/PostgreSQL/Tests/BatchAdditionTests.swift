import Foundation
import ModelRuntime
import PostgresStore
import Testing

@Model private final class Counter {
  var key: Int
  var count = 0
  var score = 0.0
  var text = ""
  init(key: Int) { self.key = key }
}

@Suite struct `Batches on a server that add` {
  private static let counterCount = 5
  private static let writerCount = 4
  private static let rounds = 20
  private let namespace: TestNamespace

  init() throws {
    namespace = try TestNamespace()
    let context = ModelContext(try namespace.container(Counter.self))
    for key in 0..<Self.counterCount { context.insert(Counter(key: key)) }
    try context.save()
  }

  private func counters() throws -> [Counter] {
    let context = ModelContext(try namespace.container(Counter.self))
    return try context.fetch(FetchDescriptor<Counter>(sortBy: [SortDescriptor(\.key)]))
  }

  @Test func `add to what another machine saves after it was read`() throws {
    let other = ModelContext(try namespace.container(Counter.self))
    let counters = try other.fetch(FetchDescriptor<Counter>(sortBy: [SortDescriptor(\.key)]))
    var reads = 0
    try ModelContext(namespace.container(Counter.self)).batchUpdate(
      Counter.self,
      .add(1, to: \.count),
      .change(\.text) { text in
        reads += 1
        if reads == 2 {
          counters[0].count += 10
          try other.save()
        }
        return text + "own"
      }
    )
    let read = try self.counters()
    #expect(read.map(\.count) == [11, 1, 1, 1, 1])
    #expect(read.map(\.text) == Array(repeating: "own", count: 5))
  }

  @Test func `add up, whichever machines add at once`() throws {
    let errors = Errors()
    DispatchQueue.concurrentPerform(iterations: Self.writerCount) { writer in
      errors.collect {
        let context = ModelContext(try namespace.container(Counter.self))
        for round in 0..<Self.rounds {
          if (round + writer) % 3 == 0 {
            for counter in try context.fetch(FetchDescriptor<Counter>()) {
              counter.add(1, to: \.count)
              counter.add(1, to: \.score)
            }
            try context.save()
          } else {
            try context.batchUpdate(Counter.self, .add(1, to: \.count), .change(\.score) { $0 + 1 })
          }
        }
      }
    }
    #expect(errors.all.map { "\($0)" } == [])
    let expected = Self.writerCount * Self.rounds
    let read = try counters()
    #expect(read.map(\.count) == Array(repeating: expected, count: Self.counterCount))
    #expect(read.map(\.score) == Array(repeating: Double(expected), count: Self.counterCount))
  }
}
