import ModelRuntime
import RowFormat

/// Makes a run of the words of rows' texts.
struct WordRunBuilder: ~Copyable {
  private let scanner = WordScanner()
  private let hash: TextHash

  // The rows.
  private var rowKeys: [UInt64] = []
  private var lengths: [UInt16] = []
  private var opaqueRows: [UInt32] = []
  private var length = 0

  // The words, by number.
  private var vocabulary: [UInt8] = []
  private var ends: [Int] = []
  private var hashes: [UInt64] = []
  /// The number of the word's newest posting.
  private var newest: [UInt32] = []
  private var postingCounts: [UInt32] = []
  /// Numbers of words plus one, by hash; a power of two.
  private var slots = [UInt32](repeating: 0, count: 1024)

  // The postings, as they came.
  private var postingWords: [UInt32] = []
  private var postingRows: [UInt32] = []
  private var postingTimes: [UInt16] = []
  /// Whether the postings of each word came in the order of the rows.
  private var isInOrder = true

  /// Limits of the number of postings and of the bytes of words in a run, so that making one takes little memory.
  static let mostPostings = 4 << 20
  static let mostWordBytes = 64 << 20

  init(_ hash: TextHash) { self.hash = hash }

  var isEmpty: Bool { rowKeys.isEmpty }

  /// Whether the run is so large that the next row belongs into another.
  var isFull: Bool {
    postingWords.count >= WordRunBuilder.mostPostings
      || vocabulary.count >= WordRunBuilder.mostWordBytes
  }

  /// Adds a row, whose key is greater than those before.
  mutating func add(_ key: UInt64, _ text: RawSpan) {
    let row = UInt32(rowKeys.count)
    rowKeys.append(key)
    var count = 0
    scanner.scan(text) { word, _ in
      count += 1
      add(word, row, 1)
    }
    if scanner.isOpaque { opaqueRows.append(row) }
    lengths.append(UInt16(clamping: count))
    length += Int(UInt16(clamping: count))
  }

  private mutating func add(_ word: RawSpan, _ row: UInt32, _ times: UInt16) {
    let number = self.number(of: word)
    let last = Int(newest[number])
    if postingCounts[number] > 0, postingRows[last] == row {
      postingTimes[last] = UInt16(clamping: Int(postingTimes[last]) + Int(times))
      return
    }
    newest[number] = UInt32(postingWords.count)
    postingCounts[number] += 1
    postingWords.append(UInt32(number))
    postingRows.append(row)
    postingTimes.append(times)
  }

  /// The number of a word, a new one if it is new.
  private mutating func number(of word: RawSpan) -> Int {
    let wanted = unsafe word.withUnsafeBytes { unsafe hash.hash($0) }
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: wanted) & mask
    while slots[slot] != 0 {
      let number = Int(slots[slot]) - 1
      if hashes[number] == wanted, isWord(number, word) { return number }
      slot = (slot + 1) & mask
    }
    let number = ends.count
    slots[slot] = UInt32(number + 1)
    unsafe word.withUnsafeBytes { unsafe vocabulary.append(contentsOf: $0) }
    ends.append(vocabulary.count)
    hashes.append(wanted)
    newest.append(0)
    postingCounts.append(0)
    if ends.count * 2 > slots.count { grow() }
    return number
  }

  private func range(of number: Int) -> Range<Int> {
    (number == 0 ? 0 : ends[number - 1])..<ends[number]
  }

  private func isWord(_ number: Int, _ word: RawSpan) -> Bool {
    unsafe vocabulary.span.bytes.extracting(range(of: number)).isEqual(word)
  }

  private mutating func grow() {
    var grown = [UInt32](repeating: 0, count: slots.count * 2)
    for (number, hash) in hashes.enumerated() {
      var slot = Int(truncatingIfNeeded: hash) & (grown.count - 1)
      while grown[slot] != 0 { slot = (slot + 1) & (grown.count - 1) }
      grown[slot] = UInt32(number + 1)
    }
    slots = grown
  }
}

// MARK: Merging

extension WordRunBuilder {
  /// Adds the rows of runs, but for some.
  ///
  /// - Parameters:
  ///   - runs: The runs, none of whose rows is in two of them, but for those that are left out.
  ///   - isKept: Whether a row of a run is wanted.
  /// - Throws: ``DamagedWords``.
  mutating func add(_ runs: [WordRun], where isKept: (_ run: Int, _ key: UInt64) -> Bool) throws {
    var rows: [(key: UInt64, run: Int, row: Int)] = []
    for (number, run) in runs.enumerated() {
      for row in 0..<run.rowCount where isKept(number, run.rowKey(row)) {
        rows.append((run.rowKey(row), number, row))
      }
    }
    rows.sort { $0.key < $1.key }
    isInOrder = false
    let first = rowKeys.count
    var numbers = runs.map { [UInt32](repeating: .max, count: $0.rowCount) }
    for (place, row) in rows.enumerated() {
      numbers[row.run][row.row] = UInt32(first + place)
      rowKeys.append(row.key)
      lengths.append(UInt16(clamping: runs[row.run].length(ofRow: row.row)))
      length += runs[row.run].length(ofRow: row.row)
    }
    for (number, run) in runs.enumerated() {
      opaqueRows += run.opaqueRows.map { numbers[number][Int($0)] }.filter { $0 != .max }
      for word in 0..<run.wordCount {
        try run.withWord(word) { bytes in
          try run.forEachRow(ofWord: word) { row, times in
            let row = numbers[number][row]
            if row != .max { add(bytes, row, UInt16(clamping: times)) }
          }
        }
      }
    }
    opaqueRows.sort()
  }
}

// MARK: Writing

extension WordRunBuilder {
  /// The run; the builder is empty afterwards.
  mutating func finish() -> WordRun {
    let order = inOrder()
    var ranks = [UInt32](repeating: 0, count: order.count)
    for (rank, number) in order.enumerated() { ranks[number] = UInt32(rank) }
    let sorted = sortedPostings(order)

    var starts: [UInt32] = []
    var text = ByteBuffer(capacity: vocabulary.count + order.count + 1)
    text.append(0 as UInt8)
    for number in order {
      starts.append(UInt32(text.count))
      unsafe text.append(vocabulary.span.bytes.extracting(range(of: number)))
      text.append(0 as UInt8)
    }
    starts.append(UInt32(text.count))

    var postingStarts: [UInt32] = []
    var postings = ByteBuffer(capacity: 2 * postingWords.count + 16)
    var place = 0
    for number in order {
      postingStarts.append(UInt32(postings.count))
      postings.appendVarint(UInt64(postingCounts[number]))
      var last = -1
      for _ in 0..<postingCounts[number] {
        let posting = Int(sorted[place])
        let row = Int(postingRows[posting])
        let times = postingTimes[posting]
        postings.appendVarint(UInt64(row - last - 1) << 1 | (times > 1 ? 1 : 0))
        if times > 1 { postings.appendVarint(UInt64(times)) }
        last = row
        place += 1
      }
    }
    postingStarts.append(UInt32(postings.count))

    var buffer = ByteBuffer(capacity: text.count + postings.count + 10 * rowKeys.count + 64)
    buffer.append(UInt32(rowKeys.count))
    buffer.append(UInt32(order.count))
    buffer.append(UInt64(length))
    buffer.append(UInt32(opaqueRows.count))
    buffer.append(UInt32(text.count))
    buffer.append(UInt32(postings.count))
    buffer.append(0 as UInt32)
    for key in rowKeys { buffer.append(key) }
    for length in lengths { buffer.append(length) }
    for row in opaqueRows { buffer.append(row) }
    for start in starts { buffer.append(start) }
    for start in postingStarts { buffer.append(start) }
    buffer.append(text.bytes)
    buffer.append(postings.bytes)
    let bytes = unsafe buffer.bytes.withUnsafeBytes { unsafe Array($0) }
    guard let run = WordRun(bytes) else {
      preconditionFailure("a run of words that was just made is not sound")
    }
    self = WordRunBuilder(hash)
    return run
  }

  /// The numbers of the words in the order of their bytes.
  private func inOrder() -> [Int] {
    let text = unsafe vocabulary.span.bytes
    // The first eight bytes decide between most words.
    let keyed = (0..<ends.count).map { number in
      let range = range(of: number)
      var prefix: UInt64 = 0
      for offset in 0..<8 {
        let place = range.lowerBound + offset
        prefix =
          prefix << 8 | (place < range.upperBound ? UInt64(text.load(UInt8.self, at: place)) : 0)
      }
      return (prefix: prefix, number: number)
    }
    return keyed.sorted { lhs, rhs in
      if lhs.prefix != rhs.prefix { return lhs.prefix < rhs.prefix }
      return unsafe vocabulary.span.bytes.extracting(range(of: lhs.number))
        .isBefore(vocabulary.span.bytes.extracting(range(of: rhs.number)))
    }.map(\.number)
  }

  /// The numbers of the postings: those of the first word first, each word's in the order of the rows.
  private func sortedPostings(_ order: [Int]) -> [UInt32] {
    var next = [Int](repeating: 0, count: order.count)
    var sum = 0
    for number in order {
      next[number] = sum
      sum += Int(postingCounts[number])
    }
    var sorted = [UInt32](repeating: 0, count: postingWords.count)
    for posting in postingWords.indices {
      let word = Int(postingWords[posting])
      sorted[next[word]] = UInt32(posting)
      next[word] += 1
    }
    if !isInOrder {
      // Rows of several runs come run by run.
      for number in order {
        let end = next[number]
        sorted[(end - Int(postingCounts[number]))..<end].sort {
          postingRows[Int($0)] < postingRows[Int($1)]
        }
      }
    }
    return sorted
  }
}
