import Testing

@testable import LogStore

@Suite struct `The access path of a fetch` {
  @Test(arguments: [0, 1, ScanMethod.smallTable])
  func `leads from row to row in a small table`(rowCount: Int) {
    for answer in [ScanMethod.ColumnAnswer.unknown, .nothing, .rowsToRead, .everything] {
      #expect(ScanMethod.choose(rowCount: rowCount, answer) == .rows)
    }
  }

  @Test func `leads along columns in a larger one, if they tell anything`() {
    let rowCount = ScanMethod.smallTable + 1
    #expect(ScanMethod.choose(rowCount: rowCount, .everything) == .columns)
    #expect(ScanMethod.choose(rowCount: rowCount, .rowsToRead) == .columns)
    #expect(ScanMethod.choose(rowCount: rowCount, .nothing) == .rows)
    #expect(ScanMethod.choose(rowCount: rowCount, .unknown) == .rows)
  }

  @Test func `leaves an index the sooner, the more columns tell`() {
    let limits = [ScanMethod.ColumnAnswer.everything, .rowsToRead, .nothing].map {
      ScanMethod.indexLimit(rowCount: 64_000, $0)
    }
    #expect(limits == [1000, 4000, 16_000])
    #expect(ScanMethod.indexLimit(rowCount: 64_000, .unknown) == 1000)
  }

  @Test func `goes from row to row where most rows match`() {
    #expect(ScanMethod.next(after: 51, of: 100) == .rows)
    #expect(ScanMethod.next(after: 50, of: 100) == .columns)
    #expect(ScanMethod.next(after: 0, of: 0) == .columns)
  }
}

@Suite struct `Key ranges` {
  @Test(arguments: [0, 1, 63, 64, 65, 1000, 1 << 20] as [UInt64])
  func `cover all keys once, in order`(end: UInt64) {
    var ranges = KeyRanges(end: end)
    var next: UInt64 = 0
    while let keys = ranges.next() {
      #expect(keys.lowerBound == next)
      next = keys.upperBound
    }
    #expect(next == .max)
  }
}
