import Foundation
import LogStore
import SwiftData
import Testing

@Suite struct `History that was deleted` {
  private let store: HistoryStore
  private let tokens: [DefaultHistoryToken]

  /// Ten saves, by "a", "b" and nobody in turn.
  init() throws {
    store = try HistoryStore()
    for number in 0..<10 {
      let context = store.context([nil, "a", "b"][number % 3])
      context.insert(Cabin(number))
      try context.save()
    }
    tokens = try store.transactions().map(\.token)
  }

  private func delete(_ predicate: Predicate<Transaction>?) throws {
    try store.context().deleteHistory(HistoryDescriptor(predicate: predicate))
  }

  /// Which of the ten are left.
  private func left(_ predicate: Predicate<Transaction>? = nil) throws -> [Int] {
    try store.transactions(predicate).compactMap { tokens.firstIndex(of: $0.token) }
  }

  @Test func `is gone, also after opening again`() throws {
    let fourth = tokens[4]
    try delete(#Predicate { $0.token < fourth })
    #expect(try left() == [4, 5, 6, 7, 8, 9])
    try store.reopen()
    #expect(try left() == [4, 5, 6, 7, 8, 9])
    try delete(nil)
    #expect(try left() == [])
    try store.reopen()
    #expect(try left() == [])
    let context = store.context()
    context.insert(Cabin(11))
    try context.save()
    #expect(try store.told() == ["+Cabin"])
    #expect(try context.fetchCount(FetchDescriptor<Cabin>()) == 11)
  }

  @Test func `lets the tokens before it expire, and no others`() throws {
    let fourth = tokens[4]
    try delete(#Predicate { $0.token <= fourth })
    for (place, token) in tokens.enumerated() {
      if place < 4 {
        #expect(throws: SwiftDataError.historyTokenExpired) {
          try left(#Predicate { $0.token > token })
        }
      } else {
        #expect(try left(#Predicate { $0.token > token }) == Array((place + 1)..<10))
      }
    }
    let third = tokens[3]
    do {
      _ = try store.transactions(#Predicate { $0.token > third && $0.author == "a" })
      Issue.record("an expired token")
    } catch SwiftDataError.historyTokenExpired {
    }
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try left(#Predicate { $0.token >= fourth })
    }
    // What asks for nothing after a token misses nothing.
    #expect(try left(#Predicate { $0.token <= third }) == [])
  }

  @Test func `may be any transactions`() throws {
    try delete(#Predicate { $0.author == "a" })
    #expect(try left() == [0, 2, 3, 5, 6, 8, 9])
    try store.reopen()
    #expect(try left() == [0, 2, 3, 5, 6, 8, 9])
    try delete(#Predicate { $0.author == nil })
    #expect(try left() == [2, 5, 8])
    // The first two are gone: the tokens before the second have expired.
    let (first, second, third) = (tokens[0], tokens[1], tokens[2])
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try left(#Predicate { $0.token > first })
    }
    #expect(try left(#Predicate { $0.token > second }) == [2, 5, 8])
    #expect(try left(#Predicate { $0.token > third }) == [5, 8])
    try store.reopen()
    #expect(try left() == [2, 5, 8])
    try delete(#Predicate { $0.token > third })
    #expect(try left() == [2])
  }

  @Test func `may be a number of the oldest`() throws {
    var descriptor = HistoryDescriptor<Transaction>()
    descriptor.fetchLimit = 4
    try store.context().deleteHistory(descriptor)
    #expect(try left() == [4, 5, 6, 7, 8, 9])
  }

  @Test func `is refused where nothing can be saved`() throws {
    let reader = try HistoryStore.open(store.folder, allowsSave: false)
    #expect(throws: SwiftDataError.modelValidationFailure) {
      try ModelContext(reader).deleteHistory(HistoryDescriptor<Transaction>())
    }
    #expect(try left().count == 10)
  }

  @Test func `does not take tokens of a store that went back in time`() throws {
    let next = HistoryStoreToken(tokens[9].storeIdentifier, 1_000)
    let token = try next.token
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try left(#Predicate { $0.token > token })
    }
  }

  @Test func `of another store is new to a token`() throws {
    let token = try HistoryStoreToken("another store", 1_000).token
    #expect(try left(#Predicate { $0.token > token }).count == 10)
    #expect(try left(#Predicate { $0.token < token }).isEmpty)
    try delete(#Predicate { $0.token < token })
    #expect(try left().count == 10)
  }
}

/// A token made of its parts, as one that was kept would be read.
struct HistoryStoreToken {
  private let counters: [String: Int64]

  init(_ store: String, _ number: Int64) { counters = [store: number] }

  var token: DefaultHistoryToken {
    get throws {
      try JSONDecoder().decode(DefaultHistoryToken.self, from: JSONEncoder().encode(counters))
    }
  }
}

@Suite struct `History beside a compaction` {
  private func insertCabins(_ count: Int, _ author: String, in store: HistoryStore) throws {
    let context = store.context(author)
    for number in 0..<count {
      context.insert(Cabin(number))
      try context.save()
    }
  }

  @Test func `ends where the log was packed, and the tokens before with it`() throws {
    let store = try HistoryStore(.init(.onDemand, historyByteCount: 0))
    try insertCabins(6, "early", in: store)
    let tokens = try store.transactions().map(\.token)
    try store.compact()
    #expect(try store.told() == [])
    #expect(throws: SwiftDataError.historyTokenExpired) { try store.told(since: tokens[4]) }
    #expect(try store.told(since: tokens[5]) == [])
    try insertCabins(1, "late", in: store)
    #expect(try store.told(since: tokens[5]) == ["+Cabin"])
    try store.reopen()
    #expect(try store.told(since: tokens[5]) == ["+Cabin"])
    #expect(try store.transactions().map(\.author) == ["late"])
    #expect(throws: SwiftDataError.historyTokenExpired) { try store.told(since: tokens[4]) }
  }

  @Test func `is told to observers until it is packed, though it was deleted`() throws {
    let store = try HistoryStore(.init(.onDemand, historyByteCount: 0))
    func told(since token: DefaultHistoryToken) throws -> [Transaction]? {
      let log = try #require(store.container.stores(of: LogStore.self).first)
      return try log.transactionsWithDeleted(since: token)
    }
    try insertCabins(4, "early", in: store)
    let all = try store.transactions()
    let (first, newest) = try (#require(all.first).token, #require(all.last).token)
    try store.context().deleteHistory(HistoryDescriptor<Transaction>())
    #expect(try store.transactions().isEmpty)
    #expect(try told(since: first) == Array(all.dropFirst()))
    #expect(try told(since: newest) == [])
    let name = HistoryStoreName(newest.storeIdentifier)
    #expect(try told(since: DefaultHistoryToken(name, all[3].transactionIdentifier + 100)) == nil)
    try store.compact()
    #expect(try told(since: first) == nil)
  }

  @Test func `stays as long as it is to be kept`() throws {
    let store = try HistoryStore(.init(.onDemand, historyAge: nil, historyByteCount: nil))
    try insertCabins(5, "a", in: store)
    try store.compact()
    #expect(try store.told() == Array(repeating: "+Cabin", count: 5))
  }

  @Test func `still knows what a row in a pack was`() throws {
    let store = try HistoryStore(.init(.onDemand, historyByteCount: 0))
    try insertVoyage(in: store)
    try store.compact()
    try changeVoyage(10, in: store)
    #expect(try store.told() == Array(repeating: "Voyage(note)", count: 10))
  }

  private func insertVoyage(in store: HistoryStore) throws {
    let context = store.context()
    context.insert(Voyage("Turku"))
    try context.save()
  }

  private func changeVoyage(_ rounds: Int, in store: HistoryStore) throws {
    let context = store.context()
    let voyage = try #require(try context.fetch(FetchDescriptor<Voyage>()).first)
    for round in 0..<rounds {
      voyage.note = "\(round)"
      try context.save()
    }
  }
}

extension HistoryStore {
  /// Compacts the store, which no context may be using.
  func compact() throws {
    try close()
    var configuration = LogStoreConfiguration(url: folder.url.appending(path: "voyages.store"))
    configuration.schema = Schema([Voyage.self, Cabin.self, Guest.self])
    configuration.compaction = compaction
    _ = try LogStore(configuration, migrationPlan: nil).compact()
    try reopen()
  }
}
