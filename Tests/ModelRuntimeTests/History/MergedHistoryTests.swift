import Foundation
import Testing

@testable import ModelRuntime

@Suite struct `The histories of several stores as one` {
  private let stores = [HistoryStoreName("one"), HistoryStoreName("two")]

  private func transaction(_ store: Int, _ number: Int64, at time: Double)
    -> DefaultHistoryTransaction
  {
    DefaultHistoryTransaction(
      token: DefaultHistoryToken(stores[store], number),
      timestamp: Date(timeIntervalSinceReferenceDate: time),
      author: nil,
      changes: []
    )
  }

  /// Two threads that save at once may take the time in the other order than their numbers; and clocks are set.
  @Test(arguments: [SortOrder.forward, .reverse])
  func `have the transactions of each in their own order`(order: SortOrder) {
    var first = [(1, 101), (2, 100), (3, 50)].map { transaction(0, $0.0, at: $0.1) }
    var second = [(7, 99.5), (8, 100.5), (9, 60)].map { transaction(1, $0.0, at: $0.1) }
    if order == .reverse {
      first.reverse()
      second.reverse()
    }
    let merged = HistoryMerge.merge([first, second], behind: nil)
    #expect(merged.filter { $0.storeIdentifier == "one" }.map(\.id) == [1, 2, 3])
    #expect(merged.filter { $0.storeIdentifier == "two" }.map(\.id) == [7, 8, 9])
    // A page that ends anywhere is behind what it has told, and behind nothing else.
    for end in merged.indices {
      let counters = merged[end].token.tokenValue ?? [:]
      for (store, counter) in counters {
        let told = merged[...end].filter { $0.storeIdentifier == store }.map(\.id)
        #expect(told.max() == counter)
      }
    }
  }
}
