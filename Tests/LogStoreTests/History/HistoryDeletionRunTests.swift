import Testing

@testable import LogStore

@Suite struct `The runs of transactions that were deleted` {
  /// The numbers of transactions: other commits changed no model.
  private func transactions(_ random: inout SeededRandom) -> [UInt64] {
    (UInt64(1)...200).filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
  }

  @Test(arguments: UInt64(1)...20)
  func `have what was ever deleted, nothing that stays, and no gap without cause`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let all = transactions(&random)
    var deleted: Set<UInt64> = []
    var deletions = HistoryDeletions()
    let share = Int.random(in: 2..<12, using: &random)
    for _ in 0..<4 {
      var addition = HistoryDeletions.Addition(to: deletions, since: 0)
      for number in all where !deletions.contains(number) {
        if Int.random(in: 0..<share, using: &random) == 0 {
          deleted.insert(number)
          addition.delete(number)
        } else {
          addition.keep(number)
        }
      }
      deletions = addition.finish()
      for number in all { #expect(deletions.contains(number) == deleted.contains(number)) }
      // Each run lies between two transactions that stay.
      var runCount = 0
      for (place, number) in all.enumerated() where deleted.contains(number) && place > 0 {
        if !deleted.contains(all[place - 1]) { runCount += 1 }
      }
      #expect(deletions.runs.count == runCount, "seed \(seed)")
    }
  }

  @Test func `leave out what the log no longer has`() {
    var first = HistoryDeletions.Addition(to: HistoryDeletions(), since: 0)
    for number in UInt64(1)...30 { number % 10 == 5 ? first.delete(number) : first.keep(number) }
    let before = first.finish()
    #expect(before.runs == [5...5, 15...15, 25...25])
    var second = HistoryDeletions.Addition(to: before, since: 20)
    for number in UInt64(21)...30 where number != 25 {
      number == 28 ? second.delete(number) : second.keep(number)
    }
    #expect(second.finish().runs == [25...25, 28...28])
  }
}
