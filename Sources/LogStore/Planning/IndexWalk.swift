import Foundation
import LogEngine
import ModelRuntime
import RowFormat

/// Finds the first rows of a sort by walking an index in its order, instead of reading all rows.
///
/// The predicate fixes the values of the index's first columns, and bounds the next one: there the walk begins, and it
/// ends at the fetch's limit. An index of all sort keys yields the rows in order. An index of the first sort keys only
/// yields candidates: the walk continues to the end of a group of equal values, so that all rows that can be among the
/// first are found.
struct IndexWalk {
  let use: IndexUse
  /// Whether the index has all sort keys, and so the whole order.
  let isComplete: Bool
  /// Whether the rows of the walk are those that match, and there are no others.
  private(set) var isExact: Bool
  private let direction: OrderedKeys.Direction
  /// The number of leading words that are equal within a group.
  private let groupWordCount: Int
  /// The ranges of the rows: ascending, without overlaps.
  private var ranges: [ClosedRange<IndexEntry>]
  /// In a walk backward, the rest of the group in which a page begins: it is visited first, and forward.
  private var restOfGroup: ClosedRange<IndexEntry>?

  /// - Parameters:
  ///   - use: The part of an index that a fetch needs.
  ///   - ordering: The sort.
  ///   - position: The place in the sort behind which the rows are wanted, if it is not the beginning. Whatever else
  ///     the predicate asks, `use` tells.
  ///   - table: The table.
  ///
  /// The result is `nil` if the index is in another order.
  init?(
    _ use: IndexUse,
    _ ordering: RowOrdering,
    behind position: PagePosition? = nil,
    of table: EntityTable
  ) {
    var next = use.fixedCount
    var wordCount = use.columns[..<next].reduce(0) { $0 + $1.wordCount }
    var direction: OrderedKeys.Direction?
    var coveredCount = 0
    var isDecided = true
    for key in ordering.keys {
      guard isDecided, !key.hasTextOrder, case .column(let path, let reading) = key.source,
        path.isTestedRow, table.descriptor.isKind(of: path.descriptor)
      else { break }
      if use.columns[..<use.fixedCount].contains(where: { $0.number == reading.column }) {
        // The predicate fixes this column's value.
        coveredCount += 1
        continue
      }
      let own: OrderedKeys.Direction = key.order == .forward ? .forward : .backward
      guard next < use.columns.count, use.columns[next].number == reading.column,
        direction == nil || direction == own
      else { break }
      direction = own
      coveredCount += 1
      isDecided = use.columns[next].isDecided
      // The first word of a text is in order, the second is not.
      wordCount += isDecided ? use.columns[next].wordCount : 1
      next += 1
    }
    guard let direction else { return nil }
    self.use = use
    self.direction = direction
    groupWordCount = wordCount
    isComplete =
      isDecided && coveredCount == ordering.keys.count && next == use.columns.count
    ranges = use.ranges
    isExact = use.isExact && position == nil
    if let position { begin(behind: position, ordering, coveredCount) }
  }
}

// MARK: Beginning at a place

extension IndexWalk {
  /// Drops the part before a place in the sort, as far as the index tells.
  private mutating func begin(
    behind position: PagePosition,
    _ ordering: RowOrdering,
    _ coveredCount: Int
  ) {
    guard let key = key(of: position, ordering, coveredCount) else { return }
    let group = IndexEntry.start(of: key, groupWordCount)...IndexEntry.end(of: key, groupWordCount)
    // Behind these keys, rows with equal ones are in the order of the walk.
    let isWhole = isComplete && position.tieOrder == .forward
    let rest: ClosedRange<IndexEntry>? =
      switch position.tie {
      case .row(let row) where isWhole:
        IndexEntry(key: key, row: RowReference(rawValue: row.rawValue + 1))...group.upperBound
      // It is behind all rows of its group.
      case .unsaved where isWhole: nil
      case .row, .identifier, .unsaved: group
      }
    switch direction {
    case .forward: ranges = ranges.from(rest?.lowerBound ?? group.upperBound)
    case .backward where isWhole:
      restOfGroup = rest.flatMap { rest in
        ranges.lazy.filter { $0.overlaps(rest) }.first.map { $0.clamped(to: rest) }
      }
      ranges = ranges.through(group.lowerBound)
    case .backward: ranges = ranges.through(group.upperBound)
    }
    isExact = use.isExact && isWhole
  }

  /// The words that rows with the sort keys of a place have; `nil` if the index has no such words.
  private func key(
    of position: PagePosition,
    _ ordering: RowOrdering,
    _ coveredCount: Int
  ) -> IndexKey? {
    guard var key = ranges.first?.lowerBound.key, position.values.count >= coveredCount else {
      return nil
    }
    let fixedWordCount = use.columns[..<use.fixedCount].reduce(0) { $0 + $1.wordCount }
    key = key.prefix(fixedWordCount, then: 0)
    var next = use.fixedCount
    var word = fixedWordCount
    for place in 0..<coveredCount {
      guard case .column(_, let reading) = position.ordering.keys[place].source,
        position.ordering.keys[place].order == ordering.keys[place].order
      else { return nil }
      if let fixed = use.columns[..<use.fixedCount].firstIndex(where: {
        $0.number == reading.column
      }) {
        // The token may be of a page of other rows.
        let start = use.columns[..<fixed].reduce(0) { $0 + $1.wordCount }
        guard let words = use.columns[fixed].place(of: position.values[place]),
          (0..<use.columns[fixed].wordCount).allSatisfy({ key[start + $0] == words[$0] })
        else { return nil }
        continue
      }
      guard next < use.columns.count, use.columns[next].number == reading.column,
        let words = use.columns[next].place(of: position.values[place])
      else { return nil }
      let count = use.columns[next].isDecided ? use.columns[next].wordCount : 1
      for offset in 0..<count { key[word + offset] = words[offset] }
      word += count
      next += 1
    }
    assert(word == groupWordCount, "\(word) words of a place, \(groupWordCount) of a group")
    return key
  }
}

extension IndexColumn {
  /// The words of a value that a row may have: of any, also of null and NaN.
  fileprivate func place(of value: QueryValue) -> IndexKey? {
    switch value {
    case .null: wordsOfNull
    case .double(let value) where value.isNaN: IndexKey(SortPrefix.notANumber)
    default: words(of: value)
    }
  }
}

extension ClosedRange<IndexEntry> {
  /// The part behind a bound, which is no entry.
  fileprivate func behind(_ bound: IndexEntry) -> Self? {
    bound < upperBound ? bound...upperBound : nil
  }

  /// The part before a bound, which is no entry.
  fileprivate func before(_ bound: IndexEntry) -> Self? {
    lowerBound < bound ? lowerBound...bound : nil
  }
}

extension [ClosedRange<IndexEntry>] {
  /// The part that is not before an entry.
  fileprivate func from(_ start: IndexEntry) -> Self {
    compactMap { $0.upperBound < start ? nil : Swift.max($0.lowerBound, start)...$0.upperBound }
  }

  /// The part that is not behind an entry.
  fileprivate func through(_ end: IndexEntry) -> Self {
    compactMap { $0.lowerBound > end ? nil : $0.lowerBound...Swift.min($0.upperBound, end) }
  }
}

// MARK: Pages

extension IndexWalk {
  /// Maximum number of rows to make room for: a limit may be greater than the number of rows that match.
  private static let greatestReserve = 256

  /// The rows of a window, in order; for a walk with all sort keys.
  ///
  /// - Parameters:
  ///   - window: The part of the matching rows that is wanted.
  ///   - keys: The index.
  ///   - budget: What testing rows may cost, a row of the log being 1.
  ///   - excluded: Rows that are passed over.
  ///   - test: Tells which rows match; `nil` if all do.
  /// - Returns: `nil` if more rows would have to be tested.
  /// - Throws: The errors of `test`.
  func page(
    _ window: FetchWindow,
    in keys: OrderedKeys,
    atMost budget: Int,
    excluding excluded: ExcludedRows.Keys?,
    _ test: Test?
  ) throws -> [UInt64]? {
    guard let end = window.end else { return nil }
    guard let test else {
      var rows: [UInt64] = []
      rows.reserveCapacity(min(window.limit, Self.greatestReserve))
      if let excluded {
        var skipped = window.offset
        try forEach(in: keys, skipping: 0) {
          if excluded.contains($0.row.key) { return true }
          if skipped == 0 { rows.append($0.row.key) } else { skipped -= 1 }
          return rows.count < window.limit
        }
        return rows
      }
      try forEach(in: keys, skipping: window.offset) {
        rows.append($0.row.key)
        return rows.count < window.limit
      }
      return rows
    }
    var pass = Testing(wanted: end, budget: budget, test)
    try forEach(in: keys, skipping: 0) {
      if let excluded, excluded.contains($0.row.key) { return true }
      return try pass.add($0.row.key, isGroupEnd: true)
    }
    guard try pass.finish() else { return nil }
    return Array(pass.found.dropFirst(window.offset).prefix(window.limit))
  }

  /// The keys of all rows that can be among the first, in no particular order.
  ///
  /// - Parameters:
  ///   - wanted: The number of rows that the fetch wants.
  ///   - keys: The index.
  ///   - budget: What visiting rows may cost, a row of the log being 1.
  ///   - excluded: Rows that are passed over.
  ///   - test: Tells which rows match; `nil` if all do.
  /// - Returns: `nil` if more rows would have to be visited.
  /// - Throws: The errors of `test`.
  func first(
    _ wanted: Int,
    in keys: OrderedKeys,
    atMost budget: Int,
    excluding excluded: ExcludedRows.Keys?,
    _ test: Test?
  ) throws -> [UInt64]? {
    var pass = Testing(wanted: wanted, budget: budget, test)
    var last: IndexKey?
    try forEach(in: keys, skipping: 0) { entry in
      if let excluded, excluded.contains(entry.row.key) { return true }
      let isNew = last.map { !$0.hasPrefix(groupWordCount, of: entry.key) } ?? false
      last = entry.key
      return try pass.add(entry.row.key, isGroupEnd: isNew || isComplete)
    }
    return try pass.finish() ? pass.found : nil
  }

  /// The test of the rows that a walk meets.
  struct Test {
    /// Returns the rows that match, of the given ones, whose keys ascend.
    let matches: ([UInt64]) throws -> Set<UInt64>
    /// Returns what it costs to test rows beyond 1 for each; asked only if they were not enough.
    let surcharge: ([UInt64]) -> Int
  }

  /// Tests rows in batches, so that the rows of one pack block are read together.
  private struct Testing {
    /// Limit of the number of rows in a batch.
    private static let greatestChunk = 1024

    let wanted: Int
    var budget: Int
    let test: Test?
    var found: [UInt64] = []
    private var waiting: [UInt64] = []
    private var testedCount = 0
    /// The number of rows in the next batch: as many as are wanted at first, then as many as will probably bring the rest.
    private var chunk: Int

    init(wanted: Int, budget: Int, _ test: Test?) {
      self.wanted = wanted
      self.budget = budget
      self.test = test
      chunk = min(max(wanted, 1), Self.greatestChunk)
    }

    /// Adds a row.
    ///
    /// - Parameters:
    ///   - row: The row's key.
    ///   - isGroupEnd: Whether the walk may stop before this row if it has enough rows.
    /// - Returns: Whether more rows are wanted.
    /// - Throws: The errors of `test`.
    mutating func add(_ row: UInt64, isGroupEnd: Bool) throws -> Bool {
      if isGroupEnd {
        if waiting.count >= chunk { try settle() }
        if found.count >= wanted || budget < 0 { return false }
      }
      budget -= 1
      waiting.append(row)
      return budget >= 0
    }

    private mutating func settle() throws {
      defer { waiting.removeAll(keepingCapacity: true) }
      guard let test else { return found += waiting }
      let keys = waiting.sorted()
      let matching = try test.matches(keys)
      found += waiting.filter(matching.contains)
      if found.count >= wanted { return }
      budget -= test.surcharge(keys)
      testedCount += keys.count
      chunk = min(nextChunk, Self.greatestChunk)
    }

    /// The number of rows among which the missing ones probably are, but no more than were tested so far: the first matches
    /// say little about the others.
    private var nextChunk: Int {
      if found.isEmpty { return testedCount }
      let (rows, overflow) = (wanted - found.count).multipliedReportingOverflow(by: testedCount)
      return overflow ? testedCount : min(max(rows / found.count, 1), testedCount)
    }

    /// - Returns: Whether the rows were few enough.
    mutating func finish() throws -> Bool {
      if found.count < wanted, budget >= 0 { try settle() }
      return found.count >= wanted || budget >= 0
    }
  }

  /// Visits one row of each value of a sort by one property.
  ///
  /// Values that differ in their first word come in the order of the sort: those with one first word, such as texts that begin
  /// alike, form a group and come in any order.
  ///
  /// - Parameters:
  ///   - keys: The index.
  ///   - limit: Maximum number of values.
  ///   - excluded: Rows that are passed over.
  ///   - body: Receives a row, and whether its value begins a group. Returns whether another row is wanted.
  /// - Returns: `false` if there are more values than the limit, and the last row was not enough.
  /// - Throws: The errors of `body`, or an error of reading the index.
  func forEachValue(
    in keys: OrderedKeys,
    atMost limit: Int,
    excluding excluded: ExcludedRows.Keys,
    _ body: (_ row: UInt64, _ beginsGroup: Bool) throws -> Bool
  ) throws -> Bool {
    let wordCount = use.columns[...use.fixedCount].reduce(0) { $0 + $1.wordCount }
    var visitedCount = 0
    var last: IndexKey?
    for range in direction == .forward ? ranges : ranges.reversed() {
      var rest: ClosedRange<IndexEntry>? = range
      while let part = rest {
        var found: IndexEntry?
        try keys.forEach(in: part, direction) { entry in
          if excluded.contains(entry.row.key) { return true }
          found = entry
          return false
        }
        guard let found else { break }
        if visitedCount == limit { return false }
        visitedCount += 1
        let beginsGroup = last.map { !$0.hasPrefix(groupWordCount, of: found.key) } ?? true
        last = found.key
        if try !body(found.row.key, beginsGroup) { return true }
        rest =
          direction == .forward
          ? part.behind(.end(of: found.key, wordCount))
          : part.before(.start(of: found.key, wordCount))
      }
    }
    return true
  }

  /// Visits entries in the order of the sort; rows with equal sort keys come by ascending row key.
  private func forEach(
    in keys: OrderedKeys,
    skipping skipped: Int,
    _ body: (IndexEntry) throws -> Bool
  ) throws {
    var rest = skipped
    var control = true
    switch direction {
    case .forward:
      for range in ranges where control {
        var start = range.lowerBound
        if rest > 0 {
          let lower = try keys.rank(of: range.lowerBound)
          let upper = try keys.rank(of: range.upperBound)
          if rest >= upper - lower {
            rest -= upper - lower
            continue
          }
          guard let entry = try keys.entry(at: lower + rest) else { continue }
          start = entry
          rest = 0
        }
        try keys.forEach(in: start...range.upperBound) {
          control = try body($0)
          return control
        }
      }
    case .backward:
      if let restOfGroup {
        assert(rest == 0, "a page that begins in a group skips \(rest) rows")
        try keys.forEach(in: restOfGroup) {
          control = try body($0)
          return control
        }
      }
      for range in ranges.reversed() where control {
        try forEachGroupBackward(in: range, of: keys, &rest, &control, body)
      }
    }
  }

  /// Visits groups of entries with equal sort keys from the last group to the first, and each group forward.
  private func forEachGroupBackward(
    in range: ClosedRange<IndexEntry>,
    of keys: OrderedKeys,
    _ rest: inout Int,
    _ control: inout Bool,
    _ body: (IndexEntry) throws -> Bool
  ) throws {
    var group = Group(skipped: 0)
    var last: IndexEntry? = range.upperBound
    if rest > 0 {
      let lower = try keys.rank(of: range.lowerBound)
      var upper = try keys.rank(of: range.upperBound)
      if rest >= upper - lower {
        rest -= upper - lower
        return
      }
      if let entry = try keys.entry(at: upper - 1 - rest) {
        // All groups behind that entry's group are skipped.
        let end = try keys.rank(of: .end(of: entry.key, groupWordCount))
        if end < upper {
          rest -= upper - end
          upper = end
        }
      }
      group = Group(skipped: rest)
      rest = 0
      last = try keys.entry(at: upper - 1)
    }
    while control, let end = last, end >= range.lowerBound {
      last = nil
      try keys.forEach(in: range.lowerBound...end, .backward) { entry in
        if let key = group.key, !key.hasPrefix(groupWordCount, of: entry.key) {
          control = try group.visit(body)
        }
        guard control else { return false }
        group.entries.append(entry)
        return group.entries.count < Group.limit
      }
      guard control, let key = group.key, group.entries.count == Group.limit else { break }
      // A large group is visited from its beginning, since its first entries may be enough.
      let start = max(range.lowerBound, .start(of: key, groupWordCount))
      let first = try keys.rank(of: start)
      if let from = try keys.entry(at: first + group.skipped), from <= group.entries[0] {
        try keys.forEach(in: from...group.entries[0]) {
          control = try body($0)
          return control
        }
      }
      group = Group(skipped: 0)
      last = try first > 0 ? keys.entry(at: first - 1) : nil
    }
    if control { control = try group.visit(body) }
  }

  /// Entries with equal sort keys, collected from the last one to the first.
  private struct Group {
    static let limit = 64

    var entries: [IndexEntry] = []
    /// The number of first entries to skip.
    var skipped: Int

    var key: IndexKey? { entries.first?.key }

    init(skipped: Int) { self.skipped = skipped }

    /// Visits the entries, the first one first.
    mutating func visit(_ body: (IndexEntry) throws -> Bool) rethrows -> Bool {
      defer {
        entries.removeAll(keepingCapacity: true)
        skipped = 0
      }
      for entry in entries.reversed().dropFirst(skipped) {
        if try !body(entry) { return false }
      }
      return true
    }
  }
}
