import Testing

@testable import LogStore

@Suite struct `The road to the rows of a fetch` {
  @Test(arguments: [0, 1, FetchRoad.smallTable])
  func `leads from row to row in a small table`(rowCount: Int) {
    for answer in [FetchRoad.ColumnAnswer.unknown, .nothing, .rowsToRead, .everything] {
      #expect(FetchRoad.choose(rowCount: rowCount, answer) == .rows)
    }
  }

  @Test func `leads along columns in a larger one, if they tell anything`() {
    let rowCount = FetchRoad.smallTable + 1
    #expect(FetchRoad.choose(rowCount: rowCount, .everything) == .columns)
    #expect(FetchRoad.choose(rowCount: rowCount, .rowsToRead) == .columns)
    #expect(FetchRoad.choose(rowCount: rowCount, .nothing) == .rows)
    #expect(FetchRoad.choose(rowCount: rowCount, .unknown) == .rows)
  }

  @Test func `leaves an index the sooner, the more columns tell`() {
    let limits = [FetchRoad.ColumnAnswer.everything, .rowsToRead, .nothing].map {
      FetchRoad.indexLimit(rowCount: 64_000, $0)
    }
    #expect(limits == [1000, 4000, 16_000])
    #expect(FetchRoad.indexLimit(rowCount: 64_000, .unknown) == 1000)
  }

  @Test func `goes from row to row where most rows match`() {
    #expect(FetchRoad.next(after: 51, of: 100) == .rows)
    #expect(FetchRoad.next(after: 50, of: 100) == .columns)
    #expect(FetchRoad.next(after: 0, of: 0) == .columns)
  }
}

@Suite struct `Stretches of keys` {
  @Test(arguments: [0, 1, 63, 64, 65, 1000, 1 << 20] as [UInt64])
  func `cover all keys once, in order`(end: UInt64) {
    var stretches = KeyStretches(end: end)
    var next: UInt64 = 0
    while let keys = stretches.next() {
      #expect(keys.lowerBound == next)
      next = keys.upperBound
    }
    #expect(next == .max)
  }
}
