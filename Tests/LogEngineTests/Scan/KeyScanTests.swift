import LogEngine
import LogEngineTestSupport
import RowFormat
import Testing

@Suite struct `A scan by keys` {
  private func rows(of view: ReadView, _ keys: [UInt64]) throws -> [UInt64] {
    var found: [UInt64] = []
    try view.scan(1, keys: keys) { key, _, row in
      let isValid = MemoryStore.layout.isValid(row)
      #expect(isValid)
      found.append(key)
      return .proceed
    }
    return found
  }

  @Test(arguments: 0..<6 as Range<UInt64>)
  func `visits the rows that its view has, in order, and passes over others`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try MemoryStore()
    try store.work(200, textLength: 300)
    if seed % 2 == 0 { try store.engine.compact() }
    try store.work(60, textLength: 200)
    let view = store.engine.makeReadView()
    let expected = store.rows.keys.sorted()
    let some = (0..<600 as Range<UInt64>).filter { _ in random.next() % 3 == 0 }
    // What is changed and packed afterwards does not show.
    for key in expected.prefix(20) { try store.commit([.delete(key)]) }
    try store.work(40, textLength: 400)
    try store.engine.compact()
    #expect(try rows(of: view, some) == expected.filter { some.contains($0) }, "seed \(seed)")
    #expect(try rows(of: view, expected) == expected, "seed \(seed)")
    #expect(try rows(of: view, []).isEmpty)
  }

  @Test(arguments: 0..<6 as Range<UInt64>)
  func `finds a row by the number of rows before it that its view has`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try MemoryStore()
    try store.work(1_500, textLength: 30)
    if seed % 2 == 0 { try store.engine.compact() }
    try store.work(60, textLength: 30)
    let view = store.engine.makeReadView()
    let all = store.rows.keys.sorted()
    // What is deleted and inserted afterwards does not count.
    for key in all.prefix(700) where key % 3 == 0 { try store.commit([.delete(key)]) }
    try store.work(40, textLength: 40)
    for _ in 0..<60 {
      let excluded = Set(all.filter { _ in seed % 3 > 0 && random.next() % 4 == 0 })
      let start = UInt64.random(in: 0...(all.last ?? 0), using: &random)
      let count = Int.random(in: 0...all.count, using: &random)
      var rest = count
      let found = try view.key(of: 1, from: start, skipping: &rest) { excluded.contains($0) }
      let expected = all.filter { $0 >= start && !excluded.contains($0) }
      #expect(found == expected.dropFirst(count).first, "seed \(seed)")
      #expect(rest == max(0, count - expected.count), "seed \(seed)")
    }
    var count = 5
    #expect(try view.key(of: 77, from: 0, skipping: &count) { _ in false } == nil)
    #expect(count == 5)
  }

  /// Few rows of a block are cut out of it, many are read with all others: how many is few depends on the block.
  @Test(arguments: [20, 300, 6000], [1, 2, 7, 25, 90, 400])
  func `reads from packs what a scan of all rows reads, however far apart its keys are`(
    textLength: Int,
    distance: Int
  ) throws {
    let store = try MemoryStore()
    try store.work(1500, textLength: textLength)
    try store.engine.compact()
    let view = store.engine.makeReadView()
    var expected: [UInt64: [UInt8]] = [:]
    try view.scan(1) { key, _, row in
      expected[key] = row.withUnsafeBytes { Array($0) }
      return .proceed
    }
    let keys = expected.keys.sorted().enumerated().filter { $0.offset % distance == 0 }
      .map(\.element)
    var count = 0
    try view.scan(1, keys: keys) { key, _, row in
      #expect(row.withUnsafeBytes { Array($0) } == expected[key])
      count += 1
      return .proceed
    }
    #expect(count == keys.count)
  }

  /// Of a block, only what lies between the first and the last row that is read is put together; how much that is, the scan
  /// knows of so many rows ahead.
  @Test(arguments: Thoroughness.some(Array(0..<24 as Range<UInt64>)))
  func `reads runs of rows, with gaps between them, as a scan of all rows does`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let store = try MemoryStore()
    let textLength = [8, 60, 300, 6000][Int(seed % 4)]
    try store.commit(
      (0..<2500).map { number in
        let length = Int.random(in: 0...textLength, using: &random)
        return .insert(
          Int64(number),
          String(repeating: number % 7 == 0 ? "x" : "\(number)", count: length / 4)
        )
      }
    )
    // Keys without a gap need no list in a block.
    if seed % 3 != 0 {
      try store.commit(store.rows.keys.filter { _ in random.next() % 3 == 0 }.map { .delete($0) })
    }
    try store.engine.compact()
    if seed % 2 == 0 {
      try store.work(20, textLength: textLength)
      if seed % 4 == 0 { try store.engine.compact() }
    }
    let view = store.engine.makeReadView()
    var expected: [UInt64: [UInt8]] = [:]
    try view.scan(1) { key, _, row in
      expected[key] = row.withUnsafeBytes { Array($0) }
      return .proceed
    }
    let all = expected.keys.sorted()
    for _ in 0..<12 {
      let longest = [2, 40, 200, 1200].randomElement(using: &random) ?? 2
      var keys: [UInt64] = []
      var place = 0
      while place < all.count {
        let end = min(place + Int.random(in: 1...longest, using: &random), all.count)
        keys += all[place..<end]
        place = end + Int.random(in: 1...longest, using: &random)
      }
      var found: [UInt64] = []
      try view.scan(1, keys: keys) { key, _, row in
        #expect(row.withUnsafeBytes { Array($0) } == expected[key], "seed \(seed), row \(key)")
        found.append(key)
        return .proceed
      }
      #expect(found == keys, "seed \(seed)")
    }
  }

  @Test func `stops when it is told to, and finds nothing in a table that is not there`() throws {
    let store = try MemoryStore()
    try store.work(50, textLength: 20)
    let view = store.engine.makeReadView()
    var count = 0
    try view.scan(1, keys: store.rows.keys.sorted()) { _, _, _ in
      count += 1
      return count < 3 ? .proceed : .stop
    }
    #expect(count == 3)
    try view.scan(77, keys: [1, 2, 3]) { _, _, _ in
      Issue.record("a table that is not there has rows")
      return .proceed
    }
  }
}
