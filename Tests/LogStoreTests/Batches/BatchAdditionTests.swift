import Foundation
import LogEngineTestSupport
import LogStore
import SwiftData
import Testing

@Model private final class Counter {
  var key: Int
  var count = 0
  var score = 0.0
  var text = ""
  init(key: Int) { self.key = key }
}

@Model private final class Runner {
  #Unique<Runner>([\.rank])
  var name: String
  var rank: Int
  init(_ name: String, rank: Int) {
    self.name = name
    self.rank = rank
  }
}

@Suite struct `Batches that add` {
  private static let counterCount = 5
  private static let writerCount = 4
  private static let rounds = 40

  enum Place: CaseIterable {
    case memory
    /// A container each, which know nothing of each other.
    case severalProcesses
  }

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(_ place: Place) throws -> ModelContainer {
    if place == .memory {
      let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
      return try ModelContainer(for: Counter.self, configurations: configuration)
    }
    return try ModelContainer(
      for: Counter.self,
      configurations: LogStoreConfiguration.ofAnotherProcess(in: folder)
    )
  }

  private func insert(_ count: Int, in container: ModelContainer) throws {
    let context = ModelContext(container)
    for key in 0..<count { context.insert(Counter(key: key)) }
    try context.save()
  }

  private func counters(_ container: ModelContainer) throws -> [Counter] {
    try ModelContext(container).fetch(FetchDescriptor<Counter>(sortBy: [SortDescriptor(\.key)]))
  }

  @Test(arguments: Place.allCases)
  func `add to what others save after it was read`(place: Place) throws {
    let container = try open(place)
    try insert(3, in: container)
    let other = ModelContext(container)
    let counters = try other.fetch(FetchDescriptor<Counter>(sortBy: [SortDescriptor(\.key)]))
    var reads = 0
    try ModelContext(container).batchUpdate(
      Counter.self,
      .add(1, to: \.count),
      .add(0.5, to: \.score),
      .change(\.text) { text in
        reads += 1
        // Twice: the second time, what was read is compared.
        if reads == 2 || reads == 5 {
          counters[0].count += 10
          counters[0].text = "\(text)others "
          try other.save()
        }
        return text + "own"
      }
    )
    let read = try self.counters(container)
    #expect(read.map(\.count) == [21, 1, 1])
    #expect(read.map(\.score) == [0.5, 0.5, 0.5])
    #expect(read[0].text.hasSuffix("others own"))
    #expect(read[1...].map(\.text) == ["own", "own"])
    #expect(reads == 9)
  }

  @Test func `are not computed again for changes of what they do not read`() throws {
    let container = try open(.memory)
    try insert(3, in: container)
    let other = ModelContext(container)
    let counters = try other.fetch(FetchDescriptor<Counter>(sortBy: [SortDescriptor(\.key)]))
    var reads = 0
    try ModelContext(container).batchUpdate(
      Counter.self,
      .change(\.count) { count in
        reads += 1
        counters[0].text += "!"
        try other.save()
        return count + 1
      }
    )
    // Once without looking at rows, and once with.
    #expect(reads == 6)
    #expect(try self.counters(container).map(\.count) == [1, 1, 1])
    #expect(try self.counters(container)[0].text == "!!!!!!")
  }

  @Test func `do not fail by sums of what is not stored any more`() throws {
    let container = try open(.memory)
    try insert(1, in: container)
    let other = ModelContext(container)
    let counter = try #require(try other.fetch(FetchDescriptor<Counter>()).first)
    counter.count = .max
    try other.save()
    var isFirst = true
    try ModelContext(container).batchUpdate(
      Counter.self,
      .change(\.text) { text in
        if isFirst {
          isFirst = false
          counter.count = 0
          try other.save()
        }
        return text + "own"
      },
      .add(1, to: \.count)
    )
    let read = try self.counters(container)
    #expect(read.map(\.count) == [1] && read.map(\.text) == ["own"])
    #expect(throws: SwiftDataError.aggregateOverflow) {
      try ModelContext(container).batchUpdate(Counter.self, .add(.max, to: \.count))
    }
  }

  @Test func `do not fail by unique values that they do not get`() throws {
    let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
    let container = try ModelContainer(for: Runner.self, configurations: configuration)
    let other = ModelContext(container)
    let runners = [Runner("a", rank: 1), Runner("b", rank: 9)]
    for runner in runners { other.insert(runner) }
    try other.save()
    var isFirst = true
    let onlyFirst = #Predicate<Runner> { $0.name == "a" }
    try ModelContext(container).batchUpdate(
      Runner.self,
      where: onlyFirst,
      .change(\.rank) { rank in
        if isFirst {
          isFirst = false
          runners[0].rank = 10
          runners[1].rank = 2
          try other.save()
        }
        return rank + 1
      }
    )
    let sorted = FetchDescriptor<Runner>(sortBy: [SortDescriptor(\.name)])
    #expect(try ModelContext(container).fetch(sorted).map(\.rank) == [11, 2])
    runners[1].rank = 12
    try other.save()
    #expect(throws: SwiftDataError.self) {
      try ModelContext(container).batchUpdate(
        Runner.self,
        where: onlyFirst,
        .add(1, to: \.rank)
      )
    }
  }

  @Test(arguments: Place.allCases)
  func `add up beside the additions of others`(place: Place) async throws {
    let container = try open(place)
    try insert(Self.counterCount, in: container)
    let containers = try (0..<Self.writerCount).map { _ in
      place == .memory ? container : try open(place)
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (writer, container) in containers.enumerated() {
        group.addTask {
          try await withCheckedThrowingContinuation {
            (done: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread {
              done.resume(with: Result { try Self.add(writer, in: container) })
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let read = try counters(place == .memory ? container : open(place))
    let expected = Self.writerCount * Self.rounds
    #expect(read.map(\.count) == Array(repeating: expected, count: Self.counterCount))
    #expect(read.map(\.score) == Array(repeating: Double(expected), count: Self.counterCount))
  }

  /// Adds to all counters a number of times: by batches of several kinds, and by saves of objects.
  private static func add(_ writer: Int, in container: ModelContainer) throws {
    let context = ModelContext(container)
    for round in 0..<rounds {
      switch (round + writer) % 4 {
      case 0:
        for counter in try context.fetch(FetchDescriptor<Counter>()) {
          counter.add(1, to: \.count)
          counter.add(1, to: \.score)
        }
        try context.save()
      case 1:
        try context.batchUpdate(
          Counter.self,
          .change(\.count) { $0 + 1 },
          .change(\.score) { $0 + 1 }
        )
      case 2:
        try context.batchUpdate(
          Counter.self,
          .add(1, to: \.count),
          .add(1, to: \.score),
          commitEvery: 2
        )
      default:
        try context.batchUpdate(Counter.self, .add(1, to: \.count), .add(1, to: \.score))
      }
    }
  }
}
