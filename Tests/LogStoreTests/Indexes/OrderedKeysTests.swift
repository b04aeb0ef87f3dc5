import LogEngineTestSupport
import LogFormat
import RowFormat
import Testing

@testable import LogStore

@Suite struct `Rows in the order of their keys` {
  @Test(arguments: 1...IndexKey.wordLimit)
  func `are those that were put in and not taken out`(wordCount: Int) throws {
    let seed = UInt64(wordCount)
    var random = SeededRandom(seed: seed)
    var keys = OrderedKeys(wordCount: wordCount)
    var expected: Set<IndexEntry> = []
    for step in 0..<60_000 / Thoroughness.stride {
      let entry = entry(random.next(below: 6000), wordCount)
      if random.next(below: 3) == 0 {
        try keys.remove(entry)
        expected.remove(entry)
      } else {
        try keys.insert(entry)
        expected.insert(entry)
      }
      if step % 3000 == 0 { try check(keys, expected, &random, seed) }
    }
    #expect(keys.count == expected.count, "seed \(seed)")
    for entry in expected { try keys.remove(entry) }
    try keys.checkInvariants()
    #expect(keys.count == 0, "seed \(seed)")
  }

  /// Many entries share their first words.
  func entry(_ number: Int, _ wordCount: Int) -> IndexEntry {
    var key = IndexKey()
    key[wordCount - 1] = UInt64(number / 4 % 300)
    key[0] = UInt64(number / 4 / (wordCount == 1 ? 1 : 300))
    return IndexEntry(key: key, row: RowReference(table: 1, key: UInt64(number % 4 + 1)))
  }

  func check(
    _ keys: OrderedKeys,
    _ expected: Set<IndexEntry>,
    _ random: inout SeededRandom,
    _ seed: UInt64
  ) throws {
    try keys.checkInvariants()
    let all = expected.sorted()
    #expect(try keys.entries == all, "seed \(seed)")
    let bounds = [random.next(below: 6000), random.next(below: 6000)].sorted()
    let low = IndexEntry.start(of: entry(bounds[0], keys.wordCount).key, keys.wordCount)
    let high = IndexEntry.end(of: entry(bounds[1], keys.wordCount).key, keys.wordCount)
    let range = min(low, high)...max(low, high)
    let wanted = all.filter { range ~= $0 }
    #expect(try keys.count(in: [range]) == wanted.count, "seed \(seed)")
    for direction in [OrderedKeys.Direction.forward, .backward] {
      var found: [IndexEntry] = []
      try keys.forEach(in: range, direction) {
        found.append($0)
        return true
      }
      #expect(found == (direction == .forward ? wanted : wanted.reversed()), "seed \(seed)")
    }
    if let first = wanted.first, let last = wanted.last {
      // Bounds that are entries themselves are in the range.
      for direction in [OrderedKeys.Direction.forward, .backward] {
        var found = 0
        try keys.forEach(in: first...last, direction) { _ in
          found += 1
          return true
        }
        #expect(found == wanted.count, "seed \(seed)")
      }
    }
    for place in stride(from: 0, to: all.count, by: 97) {
      #expect(try keys.entry(at: place) == all[place], "seed \(seed)")
      #expect(try keys.rank(of: all[place]) == place, "seed \(seed)")
    }
    #expect(try keys.entry(at: all.count) == nil)
    for _ in 0..<50 {
      let first = random.next(below: 6000)
      let one = entry(first, keys.wordCount).key
      let other = entry(min(first + random.next(below: 300), 5999), keys.wordCount).key
      let low = min(IndexEntry.start(of: one, keys.wordCount), .start(of: other, keys.wordCount))
      let high = max(IndexEntry.end(of: one, keys.wordCount), .end(of: other, keys.wordCount))
      let count = all.partitionPoint { $0 <= high } - all.partitionPoint { $0 < low }
      #expect(try keys.count(in: [low...high]) == count, "seed \(seed)")
    }
    try checkRanges(of: keys, all, &random, seed)
  }

  /// Single keys close to each other and far apart, and now and then all keys between two.
  private func checkRanges(
    of keys: OrderedKeys,
    _ all: [IndexEntry],
    _ random: inout SeededRandom,
    _ seed: UInt64
  ) throws {
    let bounds = (0..<300).map { _ in entry(random.next(below: 6000), keys.wordCount).key }
      .map { IndexEntry.start(of: $0, keys.wordCount) }.sorted()
    var ranges: [ClosedRange<IndexEntry>] = []
    for (bound, next) in zip(bounds, bounds.dropFirst()) where bound < next {
      let last = random.next(below: 20) == 0 ? next : bound
      let range = bound...IndexEntry.end(of: last.key, keys.wordCount)
      if ranges.last.map({ $0.upperBound < bound }) ?? true { ranges.append(range) }
    }
    let wanted = ranges.flatMap { range in all.filter { range ~= $0 } }
    #expect(try keys.count(in: ranges) == wanted.count, "seed \(seed)")
    #expect(try keys.rowKeys(in: ranges) == wanted.map(\.row.key), "seed \(seed)")
    #expect(try keys.rowKeys(in: []) == [])
  }

  @Test(arguments: [0, 1, 5, 5000, 100_000], [1, 3])
  func `can be given all at once`(count: Int, wordCount: Int) throws {
    var builder = OrderedKeys.Builder(wordCount: wordCount, reserving: count)
    var expected: [IndexEntry] = []
    for number in 0..<count {
      var key = IndexKey(UInt64((number * 7919) % 50))
      if wordCount > 1 { key[2] = UInt64((number * 31) % 77) }
      let row = RowReference(table: 1, key: UInt64(number + 1))
      builder.append(key, row)
      expected.append(IndexEntry(key: key, row: row))
    }
    let keys = builder.finish()
    try keys.checkInvariants()
    #expect(try keys.entries == expected.sorted())
  }

  /// Several groups of blocks, which are in the file until one of them changes.
  @Test(arguments: [1, 3])
  func `are those of a file, but for what was put in and taken out since`(wordCount: Int) throws {
    let seed = UInt64(wordCount + 100)
    var random = SeededRandom(seed: seed)
    let numbers = 110_000
    var expected: Set<IndexEntry> = []
    for number in 0..<numbers where random.next(below: 10) > 0 {
      expected.insert(entry(number, wordCount))
    }
    let written = expected.sorted()
    var keys = OrderedKeys(try makeFile(of: written, wordCount))
    #expect(keys.groups.count == 3)
    try checkParts(of: keys, written, &random, seed)
    let copy = keys
    for step in 0..<3000 {
      // The first ones are all in one group.
      let entry = entry(random.next(below: step < 100 ? 1000 : numbers), wordCount)
      if random.next(below: 2) == 0 {
        try keys.remove(entry)
        expected.remove(entry)
      } else {
        try keys.insert(entry)
        expected.insert(entry)
      }
      if step == 99 || step == 2999 { try checkParts(of: keys, expected.sorted(), &random, seed) }
    }
    try checkParts(of: copy, written, &random, seed)
    for entry in expected { try keys.remove(entry) }
    try keys.checkInvariants()
    #expect(keys.count == 0, "seed \(seed)")
  }

  /// The same as ``check(_:_:_:_:)`` of many entries, of which only parts are compared one by one.
  private func checkParts(
    of keys: OrderedKeys,
    _ all: [IndexEntry],
    _ random: inout SeededRandom,
    _ seed: UInt64
  ) throws {
    try keys.checkInvariants()
    #expect(try keys.entries == all, "seed \(seed)")
    for _ in 0..<100 {
      let places = [random.next(below: all.count), random.next(below: all.count)].sorted()
      let wanted = all[places[0]...places[1]]
      let range = all[places[0]]...all[places[1]]
      #expect(try keys.rank(of: range.lowerBound) == places[0], "seed \(seed)")
      #expect(try keys.entry(at: places[1]) == range.upperBound, "seed \(seed)")
      let bounds = IndexEntry.start(of: range.lowerBound.key, keys.wordCount)
      let end = IndexEntry.end(of: range.upperBound.key, keys.wordCount)
      let count = all.partitionPoint { $0 <= end } - all.partitionPoint { $0 < bounds }
      #expect(try keys.count(in: [bounds...end]) == count, "seed \(seed)")
      for direction in [OrderedKeys.Direction.forward, .backward] {
        var found: [IndexEntry] = []
        try keys.forEach(in: range, direction) {
          found.append($0)
          return found.count < 1000
        }
        let first =
          direction == .forward ? Array(wanted.prefix(1000)) : wanted.suffix(1000).reversed()
        #expect(found == first, "seed \(seed)")
      }
    }
  }

  private func makeFile(
    of entries: [IndexEntry],
    _ wordCount: Int
  ) throws -> SecondaryIndexFile {
    let fileSystem = InMemoryFileSystem()
    let store = StoreIdentifier(low: 1, high: 2)
    let stamp = IndexStamp(
      sequence: CommitSequence(1),
      mark: CommitMark(frame: 7, in: SegmentID(rawValue: 5), at: 4096),
      digest: .init(low: 8, high: 9)
    )
    var writer = SecondaryIndexWriter(
      try fileSystem.open("/index.keys", .create),
      FileHeader(kind: .secondaryIndex, store: store, number: 8, salt: 10, created: 11),
      SecondaryIndexHeader(stamp, wordCount: wordCount)
    )
    let words = entries.flatMap { entry in
      (0..<wordCount).map { entry.key[$0] } + [entry.row.rawValue]
    }
    try writer.append(words.span)
    _ = try writer.finish()
    return try SecondaryIndexFile(
      "/index.keys",
      of: store,
      tables: [1],
      reads: .mapped,
      on: fileSystem
    )
  }

  @Test func `stay as they are for the one who keeps a copy`() throws {
    var keys = OrderedKeys(wordCount: 1)
    for number in 0..<10_000 { try keys.insert(entry(number, 1)) }
    let copy = keys
    for number in 0..<10_000 where number % 3 == 0 { try keys.remove(entry(number, 1)) }
    try copy.checkInvariants()
    try keys.checkInvariants()
    #expect(copy.count == 10_000)
    #expect(keys.count == 6_666)
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
