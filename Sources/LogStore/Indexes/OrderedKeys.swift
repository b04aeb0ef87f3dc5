import LogEngine
import RowFormat

/// Rows in the order of their keys: eight bytes a word of the key, eight a row, and a third of room.
///
/// A tree of three levels. Entries lie side by side in blocks of some hundreds, blocks in groups of some hundreds:
/// adding an entry moves a few kilobytes at most, and counting those before it adds up a few hundred numbers.
/// A copy shares what neither changes, so that a reader can keep one for as long as it walks.
///
/// A block may be in a file, where it is read; it comes into memory when it changes. A block of a file may turn out to
/// be damaged: then what was asked is answered by the ``fallback``, which has the same entries, or throws
/// ``DamagedIndexFile`` if there is none.
struct OrderedKeys: Sendable {
  enum Direction { case forward, backward }

  static let largestBlock = 256
  static let largestGroup = 256

  /// The entries of a block: the words of each key, then its row.
  struct Block: Sendable {
    var words: [UInt64]
    /// The number of a block of the file, which then has the words; -1 for one in memory.
    var fileBlock: Int32 = -1

    var isInFile: Bool { fileBlock >= 0 }
  }

  /// The blocks of a group, in order.
  ///
  /// Consecutive blocks of the file take no memory until one of them changes: an index of millions of entries is opened
  /// for a query of a few.
  struct Blocks: Sendable, RandomAccessCollection, RangeReplaceableCollection, MutableCollection {
    /// The numbers of consecutive blocks of the file, while all blocks are these.
    private(set) var inFile: Range<Int> = 0..<0
    /// The blocks otherwise.
    private var own: [Block] = []

    init() {}
    init(inFile: Range<Int>) { self.inFile = inFile }

    var startIndex: Int { 0 }
    var endIndex: Int { inFile.isEmpty ? own.count : inFile.count }

    subscript(index: Int) -> Block {
      _read {
        if inFile.isEmpty {
          yield own[index]
        } else {
          precondition(index < inFile.count, "there is no block \(index) of \(inFile.count)")
          yield Block(words: [], fileBlock: Int32(inFile.lowerBound + index))
        }
      }
      _modify {
        makeOwn()
        yield &own[index]
      }
    }

    mutating func replaceSubrange(
      _ range: Range<Int>,
      with blocks: some Collection<Block>
    ) {
      makeOwn()
      own.replaceSubrange(range, with: blocks)
    }

    private mutating func makeOwn() {
      if inFile.isEmpty { return }
      own = Array(self)
      inFile = 0..<0
    }
  }

  struct Group: Sendable {
    /// None is empty, and there is one at least.
    var blocks: Blocks
    var count: Int

    /// Removes an entry from a block in memory, and the block with its last entry.
    ///
    /// - Returns: `false` if the group is empty now.
    fileprivate mutating func remove(at place: Int, ofBlock block: Int, _ stride: Int) -> Bool {
      count -= 1
      blocks[block].words.removeSubrange((place * stride)..<((place + 1) * stride))
      if blocks[block].words.isEmpty { blocks.remove(at: block) }
      return !blocks.isEmpty
    }
  }

  let wordCount: Int
  private(set) var count = 0
  private(set) var groups: [Group] = []
  /// The file that blocks may be in.
  let file: SecondaryIndexFile?
  /// Whether the entries are others than those of the file.
  private(set) var isChanged = false
  /// The same entries, should the file be damaged.
  var fallback: IndexFallback?

  var stride: Int { wordCount + 1 }

  init(wordCount: Int) {
    precondition(1...IndexKey.wordLimit ~= wordCount, "a key of \(wordCount) words")
    self.wordCount = wordCount
    file = nil
  }

  /// The entries of a file; none of its blocks is read.
  ///
  /// - Complexity: O(blocks of the file).
  init(_ file: SecondaryIndexFile) {
    self.file = file
    wordCount = file.wordCount
    count = file.entryCount
    let groupSize = OrderedKeys.largestGroup * 3 / 4
    groups = Swift.stride(from: 0, to: file.blockCount, by: groupSize).map { first in
      let blocks = first..<min(first + groupSize, file.blockCount)
      return Group(blocks: Blocks(inFile: blocks), count: file.count(ofBlocks: blocks))
    }
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
      let part = Blocks(blocks[first..<min(first + groupSize, blocks.count)])
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
  /// - Throws: ``DamagedIndexFile``; then the entries are of no more use.
  /// - Complexity: O(log *n*).
  mutating func insert(_ entry: IndexEntry) throws {
    guard !groups.isEmpty else {
      var block = Block(words: [])
      block.insert(entry, at: 0, stride)
      groups = [Group(blocks: Blocks([block]), count: 1)]
      count = 1
      isChanged = true
      return
    }
    let (group, block) = blockPlace(for: entry)
    let (place, isThere) = try find(entry, in: groups[group].blocks[block])
    if isThere { return }
    try load(block, of: group)
    isChanged = true
    let size = groups[group].blocks[block].words.count / stride
    groups[group].blocks[block].insert(entry, at: place, stride)
    groups[group].count += 1
    count += 1
    if size + 1 > OrderedKeys.largestBlock { split(block, of: group, after: place) }
  }

  /// Removes an entry, if it is there.
  ///
  /// - Throws: ``DamagedIndexFile``; then the entries are of no more use.
  /// - Complexity: O(log *n*).
  mutating func remove(_ entry: IndexEntry) throws {
    let group = firstGroup(startingAfter: entry) - 1
    guard group >= 0 else { return }
    let block = firstBlock(startingAfter: entry, in: group) - 1
    guard block >= 0 else { return }
    let (place, isThere) = try find(entry, in: groups[group].blocks[block])
    guard isThere else { return }
    try load(block, of: group)
    isChanged = true
    count -= 1
    if !groups[group].remove(at: place, ofBlock: block, stride) { groups.remove(at: group) }
  }

  /// Brings a block into memory, so that it can be changed.
  private mutating func load(_ block: Int, of group: Int) throws {
    guard groups[group].blocks[block].isInFile else { return }
    let words = try unsafe withWords(of: groups[group].blocks[block]) { unsafe Array($0) }
    groups[group].blocks[block] = Block(words: words)
  }

  /// Finds the place of an entry in a block, or the place at which to insert it.
  private func find(_ entry: IndexEntry, in block: Block) throws -> (place: Int, isThere: Bool) {
    try unsafe withWords(of: block) { words in
      let place = unsafe OrderedKeys.position(of: entry, in: words, stride)
      let isThere =
        unsafe place < words.count / stride
        && OrderedKeys.compare(words, place * stride, stride, entry) == 0
      return (place, isThere)
    }
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
    let rest = Blocks(groups[group].blocks[middle...])
    groups[group].blocks.removeSubrange(middle...)
    let moved = rest.reduce(0) { $0 + size(of: $1) }
    groups[group].count -= moved
    groups.insert(Group(blocks: rest, count: moved), at: group + 1)
  }
}

// MARK: Reading

extension OrderedKeys {
  /// Number of entries before an entry, which itself need not be there.
  ///
  /// - Complexity: O(log *n*), and a sum over the groups and over the blocks of one.
  func rank(of entry: IndexEntry) throws -> Int {
    try reading { try $0.ownRank(of: entry) }
  }

  /// Number of entries in some ranges, which ascend and do not overlap.
  ///
  /// - Complexity: O(log *n*) for each block that has entries of ranges; for a range in several blocks, also a sum over the groups
  ///   between its bounds and over the blocks of two.
  func count(in ranges: [ClosedRange<IndexEntry>]) throws -> Int {
    try reading { keys in
      var count = 0
      try unsafe keys.forEachBlock(of: ranges) { _, places in
        count += places.count
      } orRange: { range in
        count += try keys.ownCount(in: range)
      }
      return count
    }
  }

  /// The keys of the rows in some ranges, which ascend and do not overlap; in order of the entries.
  func rowKeys(in ranges: [ClosedRange<IndexEntry>]) throws -> [UInt64] {
    try reading { keys in
      var rowKeys: [UInt64] = []
      let stride = keys.stride
      try unsafe keys.forEachBlock(of: ranges) { words, places in
        for place in places {
          let row = unsafe RowReference(rawValue: words[(place + 1) * stride - 1])
          rowKeys.append(row.key)
        }
      } orRange: { range in
        try keys.forEachOwn(in: range, .forward) {
          rowKeys.append($0.row.key)
          return true
        }
      }
      return rowKeys
    }
  }

  /// The entry that so many come before.
  func entry(at rank: Int) throws -> IndexEntry? {
    try reading { try $0.ownEntry(at: rank) }
  }

  /// Calls a closure with the entries between two bounds, in order, until it returns `false`.
  func forEach(
    in range: ClosedRange<IndexEntry>,
    _ direction: Direction = .forward,
    _ body: (IndexEntry) throws -> Bool
  ) throws {
    guard let file else { return try forEachOwn(in: range, direction, body) }
    var last: IndexEntry?
    do {
      try forEachOwn(in: range, direction) { entry in
        last = entry
        return try body(entry)
      }
    } catch let damage as DamagedIndexFile where damage.file === file {
      // The fallback has the same entries: it continues after the last one.
      let others = try scanned(insteadOf: damage)
      guard let last else { return try others.forEachOwn(in: range, direction, body) }
      let rest =
        direction == .forward
        ? last.successor.map { ($0, range.upperBound) }
        : last.predecessor.map { (range.lowerBound, $0) }
      guard let rest, rest.0 <= rest.1 else { return }
      try others.forEachOwn(in: rest.0...rest.1, direction, body)
    }
  }

  private func reading<R>(_ body: (OrderedKeys) throws -> R) throws -> R {
    guard let file else { return try body(self) }
    do {
      return try body(self)
    } catch let damage as DamagedIndexFile where damage.file === file {
      return try body(scanned(insteadOf: damage))
    }
  }

  private func scanned(insteadOf damage: DamagedIndexFile) throws -> OrderedKeys {
    guard let fallback else { throw damage }
    return try fallback.keys(insteadOf: damage)
  }

  private func ownRank(of entry: IndexEntry) throws -> Int {
    if groups.isEmpty { return 0 }
    let place = blockPlace(for: entry)
    let before = groups.sum(before: place.group, of: count) { $0.count }
    let own = try find(entry, in: groups[place.group].blocks[place.block]).place
    return before + entriesBefore(place) + own
  }

  /// Goes through ranges, block by block.
  ///
  /// - Parameters:
  ///   - ranges: The ranges, which ascend and do not overlap.
  ///   - body: Called for each range in one block, with the block's words and the places of the range's entries.
  ///   - rangeBody: Called for each range that is in several blocks.
  /// - Throws: ``DamagedIndexFile``, or what the closures throw.
  private func forEachBlock(
    of ranges: [ClosedRange<IndexEntry>],
    _ body: (UnsafeBufferPointer<UInt64>, Range<Int>) -> Void,
    orRange rangeBody: (ClosedRange<IndexEntry>) throws -> Void
  ) throws {
    var next = 0
    while next < ranges.count, !groups.isEmpty {
      let place = blockPlace(for: ranges[next].lowerBound)
      guard ends(at: place, before: ranges[next].upperBound) else {
        try rangeBody(ranges[next])
        next += 1
        continue
      }
      let end = ranges[(next + 1)...].prefix { ends(at: place, before: $0.upperBound) }.endIndex
      try unsafe withWords(of: groups[place.group].blocks[place.block]) { words in
        var start = 0
        for range in ranges[next..<end] {
          let first = unsafe OrderedKeys.position(
            of: range.lowerBound,
            in: words,
            from: start,
            stride
          )
          let last = unsafe OrderedKeys.position(
            of: range.upperBound,
            in: words,
            from: first,
            stride
          )
          unsafe body(words, first..<last)
          start = last
        }
      }
      next = end
    }
  }

  /// Number of entries in a range; there is some entry.
  private func ownCount(in range: ClosedRange<IndexEntry>) throws -> Int {
    // No entry is a bound: rows are never none, and never the greatest.
    let (lower, upper) = (range.lowerBound, range.upperBound)
    let (start, end) = (blockPlace(for: lower), blockPlace(for: upper))
    let first = try find(lower, in: groups[start.group].blocks[start.block]).place
    let last = try find(upper, in: groups[end.group].blocks[end.block]).place
    if start.group == end.group {
      let between = size(of: groups[start.group].blocks, start.block..<end.block)
      return between - first + last
    }
    let between = groups[start.group..<end.group].reduce(0) { $0 + $1.count }
    return between - entriesBefore(start) - first + entriesBefore(end) + last
  }

  /// A block, and the group that it is in.
  private typealias BlockPlace = (group: Int, block: Int)

  /// The block that has an entry, or would have it.
  private func blockPlace(for entry: IndexEntry) -> BlockPlace {
    let group = max(firstGroup(startingAfter: entry) - 1, 0)
    return (group, max(firstBlock(startingAfter: entry, in: group) - 1, 0))
  }

  /// Whether the next block begins behind an entry.
  private func ends(at place: BlockPlace, before entry: IndexEntry) -> Bool {
    let blocks = groups[place.group].blocks
    if place.block + 1 < blocks.count { return startsAfter(blocks[place.block + 1], entry) }
    if place.group + 1 == groups.count { return true }
    return startsAfter(groups[place.group + 1].blocks[0], entry)
  }

  /// Number of entries in the blocks of a group before a block.
  private func entriesBefore(_ place: BlockPlace) -> Int {
    // Added up from the nearer end.
    let (blocks, count) = (groups[place.group].blocks, groups[place.group].count)
    return place.block <= blocks.count / 2
      ? size(of: blocks, 0..<place.block)
      : count - size(of: blocks, place.block..<blocks.count)
  }

  private func ownEntry(at rank: Int) throws -> IndexEntry? {
    var rest = rank
    guard rest >= 0 else { return nil }
    for group in groups {
      if rest >= group.count {
        rest -= group.count
        continue
      }
      for block in group.blocks {
        let size = size(of: block)
        if rest < size {
          return try unsafe withWords(of: block) { unsafe OrderedKeys.entry($0, rest, stride) }
        }
        rest -= size
      }
    }
    return nil
  }

  private func forEachOwn(
    in range: ClosedRange<IndexEntry>,
    _ direction: Direction,
    _ body: (IndexEntry) throws -> Bool
  ) throws {
    switch direction {
    case .forward: try forEachForward(in: range, body)
    case .backward: try forEachBackward(in: range, body)
    }
  }

  private func forEachForward(
    in range: ClosedRange<IndexEntry>,
    _ body: (IndexEntry) throws -> Bool
  ) throws {
    if groups.isEmpty { return }
    var (group, block) = blockPlace(for: range.lowerBound)
    var place = try find(range.lowerBound, in: groups[group].blocks[block]).place
    while group < groups.count {
      let blocks = groups[group].blocks
      while block < blocks.count {
        let proceeds = try unsafe withWords(of: blocks[block]) { words in
          let size = words.count / stride
          while place < size {
            let entry = unsafe OrderedKeys.entry(words, place, stride)
            guard entry <= range.upperBound, try body(entry) else { return false }
            place += 1
          }
          return true
        }
        guard proceeds else { return }
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
  ) throws {
    var group = firstGroup(startingAfter: range.upperBound) - 1
    guard group >= 0 else { return }
    var block = firstBlock(startingAfter: range.upperBound, in: group) - 1
    var (place, isThere) = try find(range.upperBound, in: groups[group].blocks[block])
    // A bound that is there is in the range.
    if isThere { place += 1 }
    while true {
      let blocks = groups[group].blocks
      while true {
        let proceeds = try unsafe withWords(of: blocks[block]) { words in
          while place > 0 {
            place -= 1
            let entry = unsafe OrderedKeys.entry(words, place, stride)
            guard entry >= range.lowerBound, try body(entry) else { return false }
          }
          return true
        }
        guard proceeds else { return }
        if block == 0 { break }
        block -= 1
        place = size(of: blocks[block])
      }
      if group == 0 { return }
      group -= 1
      block = groups[group].blocks.count - 1
      place = size(of: groups[group].blocks[block])
    }
  }

  private func firstGroup(startingAfter entry: IndexEntry) -> Int {
    groups.partitionPoint { !startsAfter($0.blocks[0], entry) }
  }

  private func firstBlock(startingAfter entry: IndexEntry, in group: Int) -> Int {
    let blocks = groups[group].blocks
    if let file, !blocks.inFile.isEmpty {
      return blocks.inFile.partitionPoint { !startsAfter(block: $0, of: file, entry) }
        - blocks.inFile.lowerBound
    }
    return blocks.partitionPoint { !startsAfter($0, entry) }
  }

  /// Whether the first entry of a block comes after another.
  private func startsAfter(_ block: Block, _ entry: IndexEntry) -> Bool {
    guard block.isInFile, let file else {
      return unsafe block.words.withUnsafeBufferPointer {
        unsafe OrderedKeys.compare($0, 0, stride, entry) > 0
      }
    }
    return startsAfter(block: Int(block.fileBlock), of: file, entry)
  }

  /// Whether the first entry of a block of the file comes after another.
  private func startsAfter(
    block: Int,
    of file: SecondaryIndexFile,
    _ entry: IndexEntry
  ) -> Bool {
    for word in 0..<wordCount {
      let first = file.firstWord(word, ofBlock: block)
      if first != entry.key[word] { return first > entry.key[word] }
    }
    return file.firstWord(wordCount, ofBlock: block) > entry.row.rawValue
  }

  /// Number of entries in some blocks of a group.
  private func size(of blocks: Blocks, _ range: Range<Int>) -> Int {
    if let file, !blocks.inFile.isEmpty {
      let first = blocks.inFile.lowerBound
      return file.count(ofBlocks: (first + range.lowerBound)..<(first + range.upperBound))
    }
    return blocks[range].reduce(0) { $0 + size(of: $1) }
  }

  /// Number of entries in a block.
  func size(of block: Block) -> Int {
    guard block.isInFile, let file else { return block.words.count / stride }
    return file.count(ofBlock: Int(block.fileBlock))
  }

  /// Lends the words of a block.
  ///
  /// - Throws: ``DamagedIndexFile``, or what `body` throws.
  @inline(__always)
  func withWords<R>(
    of block: Block,
    _ body: (UnsafeBufferPointer<UInt64>) throws -> R
  ) throws -> R {
    guard block.isInFile, let file else {
      return try unsafe block.words.withUnsafeBufferPointer(body)
    }
    var isRead = false
    do {
      return try file.withBlock(Int(block.fileBlock)) { words in
        isRead = true
        return try unsafe words.withUnsafeBufferPointer(body)
      }
    } catch  where !isRead {
      throw DamagedIndexFile(file: file, cause: error)
    }
  }
}

// MARK: Invariants

extension OrderedKeys {
  /// All entries, in order.
  var entries: [IndexEntry] {
    get throws {
      var entries: [IndexEntry] = []
      entries.reserveCapacity(count)
      try forEach(in: .everything) {
        entries.append($0)
        return true
      }
      return entries
    }
  }

  /// Traps if the tree is not what it should be.
  ///
  /// - Throws: ``DamagedIndexFile``.
  func checkInvariants() throws {
    precondition(groups.reduce(0) { $0 + $1.count } == count, "\(count) entries are miscounted")
    for group in groups {
      let size = group.blocks.reduce(0) { $0 + self.size(of: $1) }
      precondition(size == group.count, "a group of \(group.count) has \(size)")
      precondition(!group.blocks.isEmpty && group.blocks.count <= OrderedKeys.largestGroup)
      for block in group.blocks {
        precondition(1...OrderedKeys.largestBlock ~= self.size(of: block))
        precondition(block.words.count.isMultiple(of: stride))
        precondition(block.words.isEmpty == block.isInFile)
      }
    }
    let entries = try entries
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

extension IndexEntry {
  /// The least entry that comes after this one; its row need not be any.
  fileprivate var successor: IndexEntry? {
    row.rawValue == .max
      ? nil : IndexEntry(key: key, row: RowReference(rawValue: row.rawValue + 1))
  }

  /// The greatest entry that comes before this one; its row need not be any.
  fileprivate var predecessor: IndexEntry? {
    row.rawValue == 0 ? nil : IndexEntry(key: key, row: RowReference(rawValue: row.rawValue - 1))
  }
}

extension OrderedKeys.Block {
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
  @inline(__always)
  fileprivate static func entry(
    _ words: UnsafeBufferPointer<UInt64>,
    _ place: Int,
    _ stride: Int
  ) -> IndexEntry {
    var key = IndexKey()
    let offset = place * stride
    for word in 0..<(stride - 1) { key[word] = unsafe words[offset + word] }
    return unsafe IndexEntry(key: key, row: RowReference(rawValue: words[offset + stride - 1]))
  }

  /// Returns the place of an entry among others, or the place at which to insert it.
  fileprivate static func position(
    of entry: IndexEntry,
    in words: UnsafeBufferPointer<UInt64>,
    from start: Int = 0,
    _ stride: Int
  ) -> Int {
    (start..<words.count / stride).partitionPoint {
      unsafe compare(words, $0 * stride, stride, entry) < 0
    }
  }

  /// Compares an entry of a block with another; the sign of the result is their order.
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
  /// The sum of a number of each element before a place, added up from the nearer end.
  ///
  /// - Parameters:
  ///   - place: The place.
  ///   - total: The sum over all elements.
  ///   - number: The number of an element.
  /// - Returns: The sum.
  fileprivate func sum(before place: Int, of total: Int, _ number: (Element) -> Int) -> Int {
    unsafe withUnsafeBufferPointer { elements in
      var sum = 0
      if place <= elements.count / 2 {
        for index in 0..<place { sum += number(unsafe elements[index]) }
        return sum
      }
      for index in place..<elements.count { sum += number(unsafe elements[index]) }
      return total - sum
    }
  }

}
