import Foundation
import LogStore
import SwiftData
import Testing

@testable import LogEngine
@testable import LogStore

/// Containers that know as little of each other as if each were in a process of its own.
@Suite struct `History that several processes delete` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open() throws -> ModelContainer {
    try ModelContainer(
      for: Meter.self,
      Tally.self,
      configurations: LogStoreConfiguration.ofAnotherProcess(in: folder)
    )
  }

  private func transactions(_ container: ModelContainer) throws -> [Transaction] {
    try ModelContext(container).fetchHistory(HistoryDescriptor<Transaction>())
  }

  enum Deletion: Sendable { case upTo(Int), byAuthor }

  private func delete(
    _ deletion: Deletion,
    of tokens: [DefaultHistoryToken],
    in container: ModelContainer
  ) throws {
    let predicate: Predicate<Transaction>
    switch deletion {
    case .upTo(let number):
      let last = tokens[number]
      predicate = #Predicate { $0.token <= last }
    case .byAuthor: predicate = #Predicate { $0.author == "other" }
    }
    try ModelContext(container).deleteHistory(HistoryDescriptor(predicate: predicate))
  }

  @Test(
    arguments: [
      (.upTo(3), .upTo(1), [4, 5]), (.upTo(1), .upTo(3), [4, 5]), (.upTo(3), .byAuthor, [5]),
      (.byAuthor, .upTo(1), [2, 3, 5]),
    ] as [(Deletion, Deletion, [Int])]
  )
  func `stays deleted when another deletes that has not heard of it`(
    first: Deletion,
    second: Deletion,
    left: [Int]
  ) throws {
    let containers = try (open(), open())
    for number in 0..<6 {
      let context = ModelContext(containers.0)
      context.author = number == 4 ? "other" : nil
      context.insert(Meter("\(number)"))
      try context.save()
    }
    let tokens = try transactions(containers.1).map(\.token)
    try #require(tokens.count == 6)
    let store = try #require(containers.1.stores(of: LogStore.self).first)
    store.tables.engine.writer?.turns?.stopLeasing()
    store.tables.engine.stopWatching()
    try delete(first, of: tokens, in: containers.0)
    try delete(second, of: tokens, in: containers.1)
    for container in [containers.0, containers.1, try open()] {
      #expect(try transactions(container).compactMap { tokens.firstIndex(of: $0.token) } == left)
    }
  }
}
