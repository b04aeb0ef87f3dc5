import RowFormat

/// Rows in the order of their keys: eight bytes a word of the key, eight a row, and a third of room.
///
/// A tree of three levels. Entries stand side by side in blocks of some hundreds, blocks in groups of some hundreds:
/// adding an entry moves a few kilobytes at most, and counting those before it adds up a few hundred numbers.
/// A copy shares what neither changes, so that a reader can keep one for as long as it walks.
struct OrderedKeys: Sendable {
  enum Direction { case forward, backward }

  static let largestBlock = 256
  static let largestGroup = 256

  /// The entries of a block: the words of each key, then its row.
  fileprivate struct Block: Sendable {
    var words: [UInt64]
  }

  private struct Group: Sendable {
    /// None is empty, and there is one at least.
    var blocks: [Block]
    var count: Int
  }

  let wordCount: Int
  private(set) var count = 0
  private var groups: [Group] = []

  private var stride: Int { wordCount + 1 }

  init(wordCount: Int) {
    precondition(1...IndexKey.wordLimit ~= wordCount, "a key of \(wordCount) words")
    self.wordCount = wordCount
  }
}

// MARK: Building

extension OrderedKeys {
  /// The entries of a table as they are collected for an index.
  struct Builder: ~Copyable {
    private let wordCount: Int
    private var words: [UInt64] = []
    private var isSorted = true
    private var last: IndexEntry?

    init(wordCount: Int, reserving count: Int) {
      self.wordCount = wordCount
      words.reserveCapacity(count * (wordCount + 1))
    }

    /// Adds an entry; the rows of those with equal keys must ascend.
    mutating func append(_ key: IndexKey, _ row: RowReference) {
      for index in 0..<wordCount { words.append(key[index]) }
      words.append(row.rawValue)
      if isSorted {
        let entry = IndexEntry(key: key, row: row)
        if let last, entry < last { isSorted = false }
        last = entry
      }
    }

    consuming func finish() -> OrderedKeys {
      OrderedKeys(wordCount, words, isSorted: isSorted)
    }
  }

  private init(_ wordCount: Int, _ words: [UInt64], isSorted: Bool) {
    self.init(wordCount: wordCount)
    let stride = wordCount + 1
    count = words.count / stride
    let order = isSorted ? nil : OrderedKeys.order(of: words, wordCount)
    let blockSize = OrderedKeys.largestBlock * 3 / 4
    var blocks: [Block] = []
    var start = 0
    while start < count {
      let end = min(start + blockSize, count)
      if let order {
        var block: [UInt64] = []
        block.reserveCapacity((end - start) * stride)
        for place in order[start..<end] {
          let offset = Int(place) * stride
          for word in offset..<(offset + stride) { block.append(words[word]) }
        }
        blocks.append(Block(words: block))
      } else {
        blocks.append(Block(words: Array(words[(start * stride)..<(end * stride)])))
      }
      start = end
    }
    let groupSize = OrderedKeys.largestGroup * 3 / 4
    groups = Swift.stride(from: 0, to: blocks.count, by: groupSize).map { first in
      let part = Array(blocks[first..<min(first + groupSize, blocks.count)])
      return Group(blocks: part, count: part.reduce(0) { $0 + $1.words.count } / stride)
    }
  }

  /// The places of entries in order, found word by word: what is equal in one is sorted by the next.
  private static func order(of words: [UInt64], _ wordCount: Int) -> [UInt32] {
    struct Item {
      var word: UInt64
      let place: UInt32
    }
    let stride = wordCount + 1
    var items = (0..<(words.count / stride)).map { Item(word: 0, place: UInt32($0)) }
    var runs = [0..<items.count]
    for word in 0..<wordCount where !runs.isEmpty {
      var next: [Range<Int>] = []
      unsafe items.withUnsafeMutableBufferPointer { items in
        for run in runs {
          for index in run {
            unsafe items[index].word = unsafe words[Int(items[index].place) * stride + word]
          }
          // Equal words stay in the order of their rows.
          unsafe items[run].sort { $0.word != $1.word ? $0.word < $1.word : $0.place < $1.place }
          var start = run.lowerBound
          for index in run.dropFirst() where unsafe items[index].word != items[start].word {
            if index - start > 1 { next.append(start..<index) }
            start = index
          }
          if run.upperBound - start > 1 { next.append(start..<run.upperBound) }
        }
      }
      runs = next
    }
    return items.map(\.place)
  }
}

// MARK: Changing

extension OrderedKeys {
  /// Adds an entry, unless it is there.
  ///
  /// - Complexity: O(log *n*).
  mutating func insert(_ entry: IndexEntry) {
    guard !groups.isEmpty else {
      var block = Block(words: [])
      block.insert(entry, at: 0, stride)
      groups = [Group(blocks: [block], count: 1)]
      count = 1
      return
    }
    let group = max(firstGroup(startingAfter: entry) - 1, 0)
    let block = max(firstBlock(startingAfter: entry, in: group) - 1, 0)
    let place = groups[group].blocks[block].position(of: entry, stride)
    let size = groups[group].blocks[block].words.count / stride
    if place < size, groups[group].blocks[block].entry(place, stride) == entry { return }
    groups[group].blocks[block].insert(entry, at: place, stride)
    groups[group].count += 1
    count += 1
    if size + 1 > OrderedKeys.largestBlock { split(block, of: group, after: place) }
  }

  /// Takes out an entry, if it is there.
  ///
  /// - Complexity: O(log *n*).
  mutating func remove(_ entry: IndexEntry) {
    let group = firstGroup(startingAfter: entry) - 1
    guard group >= 0 else { return }
    let block = firstBlock(startingAfter: entry, in: group) - 1
    guard block >= 0 else { return }
    let place = groups[group].blocks[block].position(of: entry, stride)
    guard place < groups[group].blocks[block].words.count / stride,
      groups[group].blocks[block].entry(place, stride) == entry
    else { return }
    groups[group].blocks[block].words.removeSubrange((place * stride)..<((place + 1) * stride))
    groups[group].count -= 1
    count -= 1
    if groups[group].blocks[block].words.isEmpty { groups[group].blocks.remove(at: block) }
    if groups[group].blocks.isEmpty { groups.remove(at: group) }
  }

  /// Splits a block that is full; in the middle, or at its end if entries come in order.
  private mutating func split(_ block: Int, of group: Int, after place: Int) {
    let size = groups[group].blocks[block].words.count / stride
    let isLast = group == groups.count - 1 && block == groups[group].blocks.count - 1
    let middle = isLast && place == size - 1 ? size - 1 : size / 2
    let rest = Array(groups[group].blocks[block].words[(middle * stride)...])
    groups[group].blocks[block].words.removeSubrange((middle * stride)...)
    groups[group].blocks.insert(Block(words: rest), at: block + 1)
    if groups[group].blocks.count > OrderedKeys.largestGroup { split(group) }
  }

  private mutating func split(_ group: Int) {
    let isLast = group == groups.count - 1
    let middle = groups[group].blocks.count * (isLast ? 15 : 8) / 16
    let rest = Array(groups[group].blocks[middle...])
    groups[group].blocks.removeSubrange(middle...)
    let moved = rest.reduce(0) { $0 + $1.words.count } / stride
    groups[group].count -= moved
    groups.insert(Group(blocks: rest, count: moved), at: group + 1)
  }
}

// MARK: Reading

extension OrderedKeys {
  /// How many entries come before one, which need not be there.
  ///
  /// - Complexity: O(log *n*), and a sum over the groups and over the blocks of one.
  func rank(of entry: IndexEntry) -> Int {
    let group = firstGroup(startingAfter: entry) - 1
    guard group >= 0 else { return 0 }
    let before = groups[..<group].reduce(0) { $0 + $1.count }
    let block = firstBlock(startingAfter: entry, in: group) - 1
    guard block >= 0 else { return before }
    let words = groups[group].blocks[..<block].reduce(0) { $0 + $1.words.count }
    return before + words / stride + groups[group].blocks[block].position(of: entry, stride)
  }

  /// How many entries are between two bounds.
  func count(in range: ClosedRange<IndexEntry>) -> Int {
    // No entry is a bound: rows are never none, and never the greatest.
    rank(of: range.upperBound) - rank(of: range.lowerBound)
  }

  /// The entry that so many come before.
  func entry(at rank: Int) -> IndexEntry? {
    var rest = rank
    guard rest >= 0 else { return nil }
    for group in groups {
      if rest >= group.count {
        rest -= group.count
        continue
      }
      for block in group.blocks {
        let size = block.words.count / stride
        if rest < size { return block.entry(rest, stride) }
        rest -= size
      }
    }
    return nil
  }

  /// Calls a closure with the entries between two bounds, in order, until it returns `false`.
  func forEach(
    in range: ClosedRange<IndexEntry>,
    _ direction: Direction = .forward,
    _ body: (IndexEntry) throws -> Bool
  ) rethrows {
    switch direction {
    case .forward: try forEachForward(in: range, body)
    case .backward: try forEachBackward(in: range, body)
    }
  }

  private func forEachForward(
    in range: ClosedRange<IndexEntry>,
    _ body: (IndexEntry) throws -> Bool
  ) rethrows {
    var group = max(firstGroup(startingAfter: range.lowerBound) - 1, 0)
    guard group < groups.count else { return }
    var block = max(firstBlock(startingAfter: range.lowerBound, in: group) - 1, 0)
    var place = groups[group].blocks[block].position(of: range.lowerBound, stride)
    while group < groups.count {
      let blocks = groups[group].blocks
      while block < blocks.count {
        let size = blocks[block].words.count / stride
        while place < size {
          let entry = blocks[block].entry(place, stride)
          guard entry <= range.upperBound, try body(entry) else { return }
          place += 1
        }
        block += 1
        place = 0
      }
      group += 1
      block = 0
    }
  }

  private func forEachBackward(
    in range: ClosedRange<IndexEntry>,
    _ body: (IndexEntry) throws -> Bool
  ) rethrows {
    var group = firstGroup(startingAfter: range.upperBound) - 1
    guard group >= 0 else { return }
    var block = firstBlock(startingAfter: range.upperBound, in: group) - 1
    var place = groups[group].blocks[block].position(of: range.upperBound, stride)
    if place < groups[group].blocks[block].words.count / stride,
      groups[group].blocks[block].entry(place, stride) == range.upperBound
    {
      // A bound that is there is in the range.
      place += 1
    }
    while true {
      let blocks = groups[group].blocks
      while true {
        while place > 0 {
          place -= 1
          let entry = blocks[block].entry(place, stride)
          guard entry >= range.lowerBound, try body(entry) else { return }
        }
        if block == 0 { break }
        block -= 1
        place = blocks[block].words.count / stride
      }
      if group == 0 { return }
      group -= 1
      block = groups[group].blocks.count - 1
      place = groups[group].blocks[block].words.count / stride
    }
  }

  private func firstGroup(startingAfter entry: IndexEntry) -> Int {
    groups.firstPlace { !$0.blocks[0].startsAfter(entry, stride) }
  }

  private func firstBlock(startingAfter entry: IndexEntry, in group: Int) -> Int {
    groups[group].blocks.firstPlace { !$0.startsAfter(entry, stride) }
  }
}

// MARK: Invariants

extension OrderedKeys {
  /// Whether both hold the same entries.
  static func == (lhs: OrderedKeys, rhs: OrderedKeys) -> Bool {
    lhs.count == rhs.count && lhs.entries == rhs.entries
  }

  /// All entries, in order.
  var entries: [IndexEntry] {
    var entries: [IndexEntry] = []
    entries.reserveCapacity(count)
    forEach(in: .everything) {
      entries.append($0)
      return true
    }
    return entries
  }

  /// Traps if the tree is not what it should be.
  func checkInvariants() {
    precondition(groups.reduce(0) { $0 + $1.count } == count, "\(count) entries are miscounted")
    for group in groups {
      let size = group.blocks.reduce(0) { $0 + $1.words.count }
      precondition(size == group.count * stride, "a group of \(group.count) has \(size) words")
      precondition(!group.blocks.isEmpty && group.blocks.count <= OrderedKeys.largestGroup)
      for block in group.blocks {
        precondition(1...OrderedKeys.largestBlock ~= block.words.count / stride)
        precondition(block.words.count.isMultiple(of: stride))
      }
    }
    let entries = entries
    precondition(entries.count == count, "\(entries.count) entries of \(count) are found")
    for (entry, next) in zip(entries, entries.dropFirst()) {
      precondition(entry < next, "\(entry) comes before \(next)")
    }
  }
}

extension ClosedRange<IndexEntry> {
  static var everything: Self {
    IndexEntry.start(of: IndexKey(), 0)...IndexEntry.end(of: IndexKey(), 0)
  }
}

extension OrderedKeys.Block {
  @inline(__always)
  fileprivate func entry(_ place: Int, _ stride: Int) -> IndexEntry {
    unsafe words.withUnsafeBufferPointer { words in
      var key = IndexKey()
      let offset = place * stride
      for word in 0..<(stride - 1) { key[word] = unsafe words[offset + word] }
      return unsafe IndexEntry(key: key, row: RowReference(rawValue: words[offset + stride - 1]))
    }
  }

  fileprivate func startsAfter(_ entry: IndexEntry, _ stride: Int) -> Bool {
    unsafe words.withUnsafeBufferPointer { unsafe OrderedKeys.compare($0, 0, stride, entry) > 0 }
  }

  /// Where an entry is, or would be.
  fileprivate func position(of entry: IndexEntry, _ stride: Int) -> Int {
    unsafe words.withUnsafeBufferPointer { words in
      var low = 0
      var high = words.count / stride
      while low < high {
        let middle = (low + high) / 2
        if unsafe OrderedKeys.compare(words, middle * stride, stride, entry) < 0 {
          low = middle + 1
        } else {
          high = middle
        }
      }
      return low
    }
  }

  fileprivate mutating func insert(_ entry: IndexEntry, at place: Int, _ stride: Int) {
    let old = words.count
    if words.capacity == old { words.reserveCapacity(max(old * 5 / 4, 16 * stride)) }
    for _ in 0..<stride { words.append(0) }
    unsafe words.withUnsafeMutableBufferPointer { words in
      let start = place * stride
      if let base = words.baseAddress {
        unsafe (base + start + stride).update(from: base + start, count: old - start)
      }
      for word in 0..<(stride - 1) { unsafe words[start + word] = entry.key[word] }
      unsafe words[start + stride - 1] = entry.row.rawValue
    }
  }
}

extension OrderedKeys {
  /// How an entry of a block compares with another: by sign.
  @inline(__always)
  fileprivate static func compare(
    _ words: UnsafeBufferPointer<UInt64>,
    _ offset: Int,
    _ stride: Int,
    _ entry: IndexEntry
  ) -> Int {
    for word in 0..<(stride - 1) {
      let mine = unsafe words[offset + word]
      let other = entry.key[word]
      if mine != other { return mine < other ? -1 : 1 }
    }
    let mine = unsafe words[offset + stride - 1]
    let other = entry.row.rawValue
    return mine == other ? 0 : mine < other ? -1 : 1
  }
}

extension Array {
  /// The first place whose element is not among those that come first.
  fileprivate func firstPlace(where comesFirst: (Element) -> Bool) -> Int {
    unsafe withUnsafeBufferPointer { elements in
      var low = 0
      var high = elements.count
      while low < high {
        let middle = (low + high) / 2
        if unsafe comesFirst(elements[middle]) { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }
}
