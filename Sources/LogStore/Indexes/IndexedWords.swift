import LogEngine
import ModelRuntime
import RowFormat
import Synchronization

/// The words of the texts in one column, and the rows that each is in: what an index of words is.
///
/// It names candidates, never answers: each row that it names has to be looked at, and no row that it does not name contains
/// what was looked for. A row that changes is *pending*, which makes it a candidate of every search; once there are more than
/// a few, their words are read and become a run of their own. Runs of similar size are merged, so that there are few:
/// a row costs O(log *n*) merges in all. What an older run says of a row in a newer one is out of date.
struct IndexedWords: Sendable {
  /// The oldest first.
  private(set) var runs: [WordRun] = []
  /// The rows of each run that newer runs have, too.
  private(set) var hidden: [HiddenRows] = []
  /// The rows that may have changed since their words were read.
  private(set) var pending: Set<UInt64> = []
  /// The file that has some of the runs.
  private(set) var file: WordIndexFile?

  /// Limit of the number of changed rows that are remembered, at some 32 bytes each, before the index is given up: the next
  /// search for which it pays makes it anew.
  ///
  /// Tests lower it.
  static let mostPending = Atomic(1 << 20)

  /// Whether so much was written since the last search that the index is not worth its memory.
  var isAbandoned: Bool { pending.count > IndexedWords.mostPending.load(ordering: .relaxed) }

  /// Reads the words of all texts of a column.
  ///
  /// - Throws: What reading a row throws.
  init(
    _ table: UInt16,
    _ column: Int,
    _ hash: TextHash,
    of view: ReadView,
    in store: some IndexedStore
  )
    throws
  {
    var builder = WordRunBuilder(hash)
    try store.scan(table, of: view) { key, row, layout in
      if layout.isNull(column, in: row) { return }
      if builder.isFull { append(builder.finish()) }
      builder.add(key, row.extracting(layout.range(column, in: row)))
    }
    if !builder.isEmpty { append(builder.finish()) }
  }

  /// Reads the words that a file has.
  ///
  /// - Throws: ``StorageError`` or ``DamagedWords`` if it is damaged, or cannot be read.
  init(_ file: WordIndexFile) throws {
    self.file = file
    for entry in file.entries {
      guard var run = WordRun(try file.readRun(entry)) else { throw DamagedWords() }
      try run.checkPostings()
      run.entry = entry
      append(run)
    }
    if let last = file.pending.last, last > RowReference.maximumKey { throw DamagedWords() }
    pending = Set(file.pending)
    file.close()
  }

  /// Whether anything is not as the file has it.
  var isChanged: Bool {
    runs.map(\.entry) != file?.entries.map(Optional.some) || pending != Set(file?.pending ?? [])
  }

  /// Takes in that a row has changed.
  mutating func note(_ row: UInt64) { pending.insert(row) }

  /// Whether so many rows changed that their words should be read.
  var isWorthReading: Bool {
    pending.count > KeptIndexes.mostPendingWords.load(ordering: .relaxed)
  }

  /// Reads the words of the rows that changed.
  ///
  /// - Parameters:
  ///   - table: The table of the rows.
  ///   - column: The column of the texts.
  ///   - hash: Hashes words.
  ///   - view: The state that includes all changes that were noted, and no others.
  ///   - store: The store.
  /// - Throws: What reading a row throws, or ``DamagedWords``.
  mutating func readPending(
    _ table: UInt16,
    _ column: Int,
    _ hash: TextHash,
    as view: ReadView,
    in store: some IndexedStore
  ) throws {
    var builder = WordRunBuilder(hash)
    let keys = pending.sorted()
    var next = 0
    // A row that is gone, or has no text, is there without words: it hides what older runs say of it.
    func addMissing(before key: UInt64) {
      while next < keys.count, keys[next] < key {
        builder.add(keys[next], RawSpan())
        next += 1
      }
    }
    try store.scan(table, keys: keys, of: view) { key, row, layout in
      addMissing(before: key)
      next += 1
      let range = layout.isNull(column, in: row) ? 0..<0 : layout.range(column, in: row)
      builder.add(key, row.extracting(range))
      if builder.isFull { append(builder.finish()) }
    }
    addMissing(before: .max)
    if !builder.isEmpty { append(builder.finish()) }
    pending = []
    try merge(hash)
  }

  private mutating func merge(_ hash: TextHash) throws {
    while runs.count > 1 {
      let (older, newer) = (runs[runs.count - 2], runs[runs.count - 1])
      guard older.bytes.count < 2 * newer.bytes.count,
        older.bytes.count + newer.bytes.count < WordRunBuilder.mostWordBytes
      else { return }
      var builder = WordRunBuilder(hash)
      try builder.add([older, newer]) { run, key in run == 1 || newer.row(ofKey: key) == nil }
      // The runs before have the same rows hidden as ever: the new one has all that both had.
      runs.removeLast(2)
      hidden.removeLast(2)
      runs.append(builder.finish())
      hidden.append(HiddenRows())
    }
  }

  /// Adds a run that is newer than all others.
  ///
  /// - Complexity: O(rows · log all rows), for rows that are not behind all others.
  private mutating func append(_ run: WordRun) {
    for (place, older) in runs.enumerated() where older.rowCount > 0 {
      let last = older.rowKey(older.rowCount - 1)
      for row in 0..<run.rowCount {
        let key = run.rowKey(row)
        if key > last { break }
        if let row = older.row(ofKey: key) { hidden[place].insert(row, of: older) }
      }
    }
    runs.append(run)
    hidden.append(HiddenRows())
  }

  /// Returns the rows of each run of which it says what is there.
  ///
  /// - Parameter pending: The keys of the rows whose words are not known.
  /// - Returns: The runs, the oldest first.
  func currentRows(pending: Set<UInt64>) -> [CurrentRows] {
    zip(runs, hidden).map { CurrentRows($0, hiding: $1, pending: pending) }
  }

  /// The rows whose texts may contain a pattern, ascending.
  ///
  /// - Parameters:
  ///   - pattern: The pattern that the texts have to contain.
  ///   - limit: The number of rows that are worth looking at.
  /// - Returns: `nil` if there are more.
  /// - Throws: ``DamagedWords``.
  func candidates(_ pattern: WordPattern, atMost limit: Int) throws -> [UInt64]? {
    var keys: [UInt64] = []
    for run in runs {
      guard let rows = try run.rows(matching: pattern, atMost: limit) else { return nil }
      for row in rows { keys.append(run.rowKey(Int(row))) }
      if keys.count > limit { return nil }
    }
    if pending.isEmpty, runs.count < 2 { return keys }
    keys += pending
    return keys.sortedWithoutRepetitions()
  }

  /// Whether the words of a row are known, or the row is a candidate of every search.
  ///
  /// - Throws: ``DamagedWords``.
  func has(_ key: UInt64, withText text: RawSpan) throws -> Bool {
    if pending.contains(key) { return true }
    guard let run = runs.last(where: { $0.row(ofKey: key) != nil }), let row = run.row(ofKey: key)
    else { return false }
    var isComplete = true
    let scanner = WordScanner()
    try scanner.scan(text) { word, _ in
      let bytes = unsafe word.withUnsafeBytes { unsafe Array($0) }
      var isFound = false
      for number in run.words(WordPattern.Piece(bytes: bytes, isBegun: true, isEnded: true)) {
        try run.forEachRow(ofWord: number) { found, _ in isFound = isFound || found == row }
      }
      isComplete = isComplete && isFound
    }
    return isComplete && (!scanner.isOpaque || run.opaqueRows.contains(UInt32(row)))
  }
}

extension WordRun {
  /// The rows whose texts may contain a pattern, by number, ascending.
  ///
  /// - Parameters:
  ///   - pattern: The pattern that the texts have to contain.
  ///   - limit: The number of rows that are worth looking at.
  /// - Returns: `nil` if there are more.
  /// - Throws: ``DamagedWords``.
  /// - Complexity: O(vocabulary) if the pattern begins within a word; and the postings of its rarest words.
  func rows(matching pattern: WordPattern, atMost limit: Int) throws -> [UInt32]? {
    var parts: [(words: [Int], count: Int)] = []
    for piece in pattern.pieces {
      let words = words(piece)
      parts.append((words, try words.reduce(0) { try $0 + rowCount(ofWord: $1) }))
    }
    parts.sort { $0.count < $1.count }
    guard let rarest = parts.first, rarest.count / 4 <= limit else { return nil }
    var rows = try self.rows(ofWords: rarest.words)
    for part in parts.dropFirst() where !rows.isEmpty {
      // Looking at a row costs more than decoding some tens of postings.
      if part.count / 32 > rows.count { break }
      rows = rows.intersection(try self.rows(ofWords: part.words))
    }
    let opaque = opaqueRows
    return opaque.isEmpty ? rows : (rows + opaque).sortedWithoutRepetitions()
  }

  /// The rows that have one of some words, by number, ascending.
  ///
  /// - Throws: ``DamagedWords``.
  func rows(ofWords words: [Int]) throws -> [UInt32] {
    var rows: [UInt32] = []
    for word in words { try forEachRow(ofWord: word) { row, _ in rows.append(UInt32(row)) } }
    return words.count < 2 ? rows : rows.sortedWithoutRepetitions()
  }
}

extension [UInt32] {
  /// Returns the elements that two ascending lists share.
  func intersection(_ other: [UInt32]) -> [UInt32] {
    var shared: [UInt32] = []
    var place = 0
    for row in self {
      while place < other.count, other[place] < row { place += 1 }
      if place < other.count, other[place] == row { shared.append(row) }
    }
    return shared
  }
}

extension Array where Element: Comparable {
  /// The different elements, ascending.
  func sortedWithoutRepetitions() -> [Element] {
    var result: [Element] = []
    result.reserveCapacity(count)
    for element in sorted() where result.last != element { result.append(element) }
    return result
  }
}
