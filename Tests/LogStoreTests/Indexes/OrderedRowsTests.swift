import RowFormat
import Testing

@testable import LogStore

@Suite struct `Rows in order` {
  @Test(arguments: [1, 2, 3])
  func `are those that were put in and not taken out`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var rows = OrderedRows()
    var expected: Set<UInt64> = []
    for step in 0..<20_000 {
      let number = UInt64(random.next(below: 4000))
      let entry = OrderedRows.Entry(
        prefix: number / 4,
        row: RowReference(table: 1, key: number % 4 + 1)
      )
      if random.next(below: 3) == 0 {
        rows.remove(entry)
        expected.remove(number)
      } else {
        rows.insert(entry)
        expected.insert(number)
      }
      if step % 1000 == 0 { check(rows, expected, &random, seed) }
    }
    #expect(rows.count == expected.count, "seed \(seed)")
  }

  func check(
    _ rows: OrderedRows,
    _ expected: Set<UInt64>,
    _ random: inout SeededRandom,
    _ seed: UInt64
  ) {
    let low = UInt64(random.next(below: 1000))
    let high = low + UInt64(random.next(below: 300))
    let wanted = expected.filter { low...high ~= $0 / 4 }.sorted()
    #expect(rows.count(in: low...high) == wanted.count, "seed \(seed)")
    for direction in [OrderedRows.Direction.forward, .backward] {
      var found: [UInt64] = []
      rows.forEach(in: low...high, direction) {
        found.append($0.prefix * 4 + $0.row.key - 1)
        return true
      }
      #expect(found == (direction == .forward ? wanted : wanted.reversed()), "seed \(seed)")
    }
  }

  @Test func `can be given all at once`() {
    let entries = (0..<5000).map {
      OrderedRows.Entry(prefix: UInt64(($0 * 7919) % 5000), row: RowReference(table: 1, key: 1))
    }
    let rows = OrderedRows(entries)
    #expect(rows.count(in: 0 ... .max) == 5000)
    #expect(rows.count(in: 10...19) == 10)
    #expect(rows.first?.prefix == 0)
    #expect(rows.last?.prefix == 4999)
  }
}

@Suite struct `Rows by hash` {
  @Test(arguments: [1, 2, 3])
  func `are those that were put in and not taken out`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var rows = HashedRows()
    var expected: Set<UInt64> = []
    // Few hashes, so that many rows share one, and all over the range.
    func hash(_ key: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: (key % 500) &* 8_589_935) }
    for _ in 0..<20_000 {
      let key = UInt64(random.next(below: 3000)) + 1
      let row = RowReference(table: 1, key: key)
      if random.next(below: 3) == 0 {
        rows.remove(row, hash(key))
        expected.remove(key)
      } else if expected.insert(key).inserted {
        rows.insert(row, hash(key))
      }
    }
    #expect(rows.count == expected.count, "seed \(seed)")
    for key in 1...3000 as ClosedRange<UInt64> {
      let isThere = rows.contains(RowReference(table: 1, key: key), hash(key))
      #expect(isThere == expected.contains(key), "seed \(seed)")
    }
  }
}
