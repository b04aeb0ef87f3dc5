import Foundation
import LogStore
import SwiftData
import Testing

@Suite struct `A request for history` {
  private let store: HistoryStore

  /// Ten saves, by "a", "b" and nobody in turn.
  init() throws {
    store = try HistoryStore()
    for number in 0..<10 {
      let context = store.context([nil, "a", "b"][number % 3])
      if number == 9 { context.insert(Guest("last")) } else { context.insert(Cabin(number)) }
      try context.save()
    }
  }

  private func numbers(_ predicate: Predicate<Transaction>?) throws -> [Int] {
    let all = try store.transactions().map(\.id)
    return try store.transactions(predicate).compactMap { all.firstIndex(of: $0.id) }
  }

  @Test func `is bounded by tokens`() throws {
    let tokens = try store.transactions().map(\.token)
    let (third, sixth) = (tokens[3], tokens[6])
    #expect(try numbers(#Predicate { $0.token > third }) == [4, 5, 6, 7, 8, 9])
    #expect(try numbers(#Predicate { $0.token >= third }) == [3, 4, 5, 6, 7, 8, 9])
    #expect(try numbers(#Predicate { $0.token < third }) == [0, 1, 2])
    #expect(try numbers(#Predicate { $0.token <= third }) == [0, 1, 2, 3])
    #expect(try numbers(#Predicate { third < $0.token && $0.token < sixth }) == [4, 5])
    #expect(try numbers(#Predicate { !($0.token <= sixth) }) == [7, 8, 9])
    #expect(try numbers(#Predicate { $0.token == third }) == [3])
    #expect(try numbers(#Predicate { $0.token == third || $0.token > sixth }) == [3, 7, 8, 9])
    #expect(try numbers(#Predicate { $0.token != third && $0.token < sixth }) == [0, 1, 2, 4, 5])
  }

  @Test func `may ask who saved`() throws {
    let third = try store.transactions()[3].token
    #expect(try numbers(#Predicate { $0.author == "a" }) == [1, 4, 7])
    #expect(try numbers(#Predicate { $0.author != "a" }) == [0, 2, 3, 5, 6, 8, 9])
    #expect(try numbers(#Predicate { $0.author == nil }) == [0, 3, 6, 9])
    #expect(try numbers(#Predicate { $0.token > third && $0.author != "a" }) == [5, 6, 8, 9])
    let authors: Set<String?> = ["a", nil]
    #expect(try numbers(#Predicate { authors.contains($0.author) }) == [0, 1, 3, 4, 6, 7, 9])
  }

  @Test func `may ask when, and in which store`() throws {
    let all = try store.transactions()
    let (time, name) = (all[5].timestamp, all[5].storeIdentifier)
    #expect(try numbers(#Predicate { $0.timestamp <= time }).contains(5))
    #expect(try numbers(#Predicate { $0.timestamp < time }).contains(5) == false)
    #expect(try numbers(#Predicate { $0.timestamp == time }).contains(5))
    #expect(try numbers(#Predicate { $0.storeIdentifier == name }).count == 10)
    #expect(try numbers(#Predicate { $0.storeIdentifier != name }).isEmpty)
    let id = all[7].transactionIdentifier
    #expect(try numbers(#Predicate { $0.transactionIdentifier >= id }) == [7, 8, 9])
  }

  @Test func `may ask what was changed`() throws {
    let guest = try #require(try store.transactions().last?.changes.first)
    let identifier = guest.changedPersistentIdentifier
    #expect(
      try numbers(
        #Predicate { $0.changes.contains { $0.changedPersistentIdentifier == identifier } }
      ) == [9]
    )
  }

  @Test(arguments: [0, 1, 3, 10, 20] as [UInt64])
  func `ends at its limit, which is none if 0`(limit: UInt64) throws {
    let all = try store.transactions()
    var descriptor = HistoryDescriptor<Transaction>()
    descriptor.fetchLimit = limit
    let count = limit == 0 ? 10 : min(Int(limit), 10)
    #expect(try store.context().fetchHistory(descriptor) == Array(all.prefix(count)))
    descriptor.sortBy = [SortDescriptor(\.transactionIdentifier, order: .reverse)]
    #expect(try store.context().fetchHistory(descriptor) == Array(all.reversed().prefix(count)))
    descriptor.sortBy = [SortDescriptor(\.author), SortDescriptor(\.token, order: .reverse)]
    let sorted = all.sorted {
      ($0.author ?? "", $1.token) < ($1.author ?? "", $0.token)
    }
    #expect(try store.context().fetchHistory(descriptor) == Array(sorted.prefix(count)))
  }

  @Test func `takes a token that was kept`() throws {
    let token = try store.transactions()[4].token
    let data = try JSONEncoder().encode(token)
    let kept = try JSONDecoder().decode(DefaultHistoryToken.self, from: data)
    #expect(kept == token)
    #expect(kept.hashValue == token.hashValue)
    #expect(kept.tokenValue == token.tokenValue)
    try store.reopen()
    #expect(try store.transactions(#Predicate { $0.token > kept }).count == 5)
  }

  @Test(arguments: ["{}", "{\"a\": -1}", "[]", "7"])
  func `does not take what is no token`(text: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(DefaultHistoryToken.self, from: Data(text.utf8))
    }
  }

  @Test func `is for transactions that a store of the container has`() throws {
    #expect(throws: DataStoreError.unsupportedFeature) {
      try store.context().fetchHistory(HistoryDescriptor<OtherTransaction>())
    }
    #expect(throws: DataStoreError.unsupportedFeature) {
      try store.context().deleteHistory(HistoryDescriptor<OtherTransaction>())
    }
  }

  private struct OtherTransaction: HistoryTransaction {
    let id = 1
    let timestamp = Date.distantPast
    let changes: [HistoryChange] = []
    let token = DefaultHistoryTransactionToken(id: 1)
    let transactionIdentifier = 1
    let storeIdentifier = ""
    let author: String? = nil

    static func == (lhs: Self, rhs: Self) -> Bool { lhs.id == rhs.id }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
  }

  struct DefaultHistoryTransactionToken: Comparable, Hashable, Identifiable, Sendable {
    let id: Int
    static func < (lhs: Self, rhs: Self) -> Bool { lhs.id < rhs.id }
  }
}
