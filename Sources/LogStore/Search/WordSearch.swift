import LogEngine
import ModelRuntime
import RowFormat

/// A ranked search in one table.
///
/// Postings say which rows have the words, and score them. Rows are read, the best first, only where the words do not tell
/// everything: for phrases, for what must not be there, and for the predicate.
struct WordSearch {
  let table: EntityTable
  private let store: TableStore
  private let resolver: StoreResolver
  private let request: SearchRequest
  private let terms: [TextQuery.Term]
  /// What the words of each property say, run by run.
  private let runs: [[CurrentRows]]
  /// The rows whose words are not known, and that match, by their keys.
  private var readRows: [(key: UInt64, texts: SearchedTexts)] = []
  /// What the texts of all rows say whose words are not known.
  private var readStatistics: [TextScore.Statistics]

  /// Finds the indexes, or reads all words of a property that has none; and the rows whose words are not known.
  ///
  /// - Throws: What reading a row throws.
  init(
    _ store: TableStore,
    _ table: EntityTable,
    _ request: SearchRequest,
    _ resolver: StoreResolver
  ) throws {
    self.store = store
    self.table = table
    self.resolver = resolver
    self.request = request
    terms = request.query.terms
    let words = try request.columns.map { column in
      if let index = store.indexes.words(table.number, column),
        let words = try index.wordsNow(as: resolver.view, in: store)
      {
        return words
      }
      return try IndexedWords(table.number, column, store.textHash, of: resolver.view, in: store)
    }
    let pending = words.reduce(into: Set<UInt64>()) { $0.formUnion($1.pending) }
    runs = words.map { $0.currentRows(pending: pending) }
    readStatistics = words.map { _ in TextScore.Statistics(termCount: request.query.terms.count) }
    try read(pending)
  }

  /// Adds what the table's texts say of the words.
  ///
  /// - Throws: ``DamagedWords``.
  func add(to statistics: inout [TextScore.Statistics]) throws {
    for (place, runs) in runs.enumerated() {
      statistics[place].add(readStatistics[place])
      for rows in runs {
        statistics[place].textCount += rows.textCount
        statistics[place].wordCount += rows.length
        for (number, term) in terms.enumerated() {
          statistics[place].termCounts[number] += try rows.rows(ofTerm: term).count
        }
      }
    }
  }

  /// The rows that match, the best first.
  ///
  /// - Parameters:
  ///   - statistics: The statistics of the words in the texts of all tables.
  ///   - expression: The predicate, if there is one.
  ///   - excluded: The keys of rows that are not wanted.
  /// - Returns: As many as are wanted.
  /// - Throws: What reading a row throws.
  func best(
    _ statistics: [TextScore.Statistics],
    _ expression: QueryExpression?,
    excluding excluded: ExcludedRows.Keys
  ) throws -> [(reference: RowReference, score: Double)] {
    let tally =
      resolver.trace == nil
      ? nil : TableTally(table, rowCount: resolver.view.rowCount(of: table.number))
    let keys = try candidates().filter { !excluded.contains($0) }
    var found = zip(try scores(of: keys, statistics), keys).map {
      ScoredRow(score: $0, key: $1, isTested: false)
    }
    for row in readRows where !excluded.contains(row.key) {
      found.append(
        ScoredRow(score: row.texts.score(statistics), key: row.key, isTested: true)
      )
    }
    tally?.choose(words: Set(request.columns), candidates: found.count)
    let filter = expression.map {
      RowFilter($0, descriptor: table.descriptor, resolver: resolver)
    }
    let scanner = WordScanner()
    var best: [(reference: RowReference, score: Double)] = []
    var heap = Heap(found)
    while best.count < request.limit ?? .max, let row = heap.popFirst() {
      let reference = RowReference(table: table.number, key: row.key)
      let testsTexts = request.query.needsTexts && !row.isTested
      if filter != nil || testsTexts {
        let texts = testsTexts ? scanner : nil
        guard try matches(reference, filter, readingTextsBy: texts, tally) else { continue }
      }
      best.append((reference, row.score))
    }
    tally?.match(best.count)
    if let tally { resolver.trace?.add(tally.access) }
    return best
  }

  // MARK: Candidates

  /// The rows that have all words, ascending: those of a phrase in one property, wherever they are in it.
  private func candidates() throws -> [UInt64] {
    var shared: [UInt64]?
    for clause in request.query.wanted {
      var keys: [UInt64] = []
      for current in runs.joined() {
        var rows: [UInt32]?
        for term in clause.terms {
          let found = try current.rows(ofTerm: term)
          rows = rows.map { $0.intersection(found) } ?? found
        }
        for row in rows ?? [] { keys.append(current.run.rowKey(Int(row))) }
      }
      if runs.count > 1 || runs.contains(where: { $0.count > 1 }) {
        keys = keys.sortedWithoutRepetitions()
      }
      shared = shared.map { $0.intersection(keys) } ?? keys
      if shared?.isEmpty == true { break }
    }
    return shared ?? []
  }

  /// The scores of rows, whose keys ascend.
  private func scores(
    of keys: [UInt64],
    _ statistics: [TextScore.Statistics]
  ) throws -> [Double] {
    var scores = [Double](repeating: 0, count: keys.count)
    if keys.isEmpty { return scores }
    for (property, runs) in runs.enumerated() {
      for current in runs {
        let run = current.run
        for (term, wanted) in terms.enumerated() {
          // A text may have several words that begin alike: how often it has any of them is what counts.
          var times: [(place: Int, row: Int, times: Int)] = []
          for word in run.words(wanted) {
            var place = 0
            try run.forEachRow(ofWord: word) { row, count in
              let key = run.rowKey(row)
              place = keys.firstPlace(notBefore: key, from: place)
              guard place < keys.count, keys[place] == key, current.contains(row) else { return }
              times.append((place, row, count))
            }
          }
          if wanted.isPrefix { times = times.summedByPlace() }
          for found in times {
            scores[found.place] += statistics[property].score(
              term,
              times: min(found.times, TextScore.mostCounted),
              length: run.length(ofRow: found.row)
            )
          }
        }
      }
    }
    return scores
  }

  // MARK: Reading texts

  /// Reads the rows whose words are not known: all count for how rare a word is, also those that do not match.
  private mutating func read(_ pending: Set<UInt64>) throws {
    if pending.isEmpty { return }
    let scanner = WordScanner()
    try store.scan(table.number, keys: pending.sorted(), of: resolver.view) { key, row, layout in
      let texts = texts(of: row, layout, scanner)
      for place in readStatistics.indices {
        readStatistics[place].add(times: texts.times[place], length: texts.lengths[place])
      }
      if texts.match { readRows.append((key, texts)) }
    }
  }

  private func matches(
    _ reference: RowReference,
    _ filter: RowFilter?,
    readingTextsBy scanner: WordScanner?,
    _ tally: TableTally?
  ) throws -> Bool {
    var matches = false
    _ = try resolver.withRow(reference) { row in
      tally?.readRow(row.byteCount)
      if let scanner, !texts(of: row, table.layout, scanner).match { return }
      matches = try filter?.matches(row, reference) ?? true
    }
    return matches
  }

  private func texts(
    of row: RawSpan,
    _ layout: RowLayout,
    _ scanner: WordScanner
  ) -> SearchedTexts {
    var texts = SearchedTexts(request.query, terms)
    for column in request.columns {
      let range = layout.isNull(column, in: row) ? 0..<0 : layout.range(column, in: row)
      texts.add(row.extracting(range), scanner)
    }
    return texts
  }
}

extension WordRun {
  /// The numbers of the words that are a term's.
  func words(_ term: TextQuery.Term) -> [Int] {
    words(WordPattern.Piece(bytes: term.word, isBegun: true, isEnded: !term.isPrefix))
  }

  /// The rows that have a term, ascending.
  ///
  /// - Throws: ``DamagedWords``.
  func rows(ofTerm term: TextQuery.Term) throws -> [UInt32] { try rows(ofWords: words(term)) }
}

extension CurrentRows {
  /// The rows that have a term, ascending.
  ///
  /// - Throws: ``DamagedWords``.
  fileprivate func rows(ofTerm term: TextQuery.Term) throws -> [UInt32] {
    let rows = try run.rows(ofTerm: term)
    return isComplete ? rows : rows.filter { contains(Int($0)) }
  }
}

extension TextScore.Statistics {
  /// Adds what other texts of the same property say.
  fileprivate mutating func add(_ other: Self) {
    textCount += other.textCount
    wordCount += other.wordCount
    for term in termCounts.indices { termCounts[term] += other.termCounts[term] }
  }
}

extension [UInt64] {
  /// Returns the elements that two ascending lists share.
  fileprivate func intersection(_ other: [UInt64]) -> [UInt64] {
    var shared: [UInt64] = []
    var place = 0
    for key in self {
      place = other.firstPlace(notBefore: key, from: place)
      if place < other.count, other[place] == key { shared.append(key) }
    }
    return shared
  }

  /// The first place of an ascending list whose key is not before another, from a place on: found by steps that double.
  fileprivate func firstPlace(notBefore key: UInt64, from start: Int) -> Int {
    var (lower, step) = (start, 1)
    while lower + step < count, self[lower + step] < key {
      lower += step
      step *= 2
    }
    let upper = Swift.min(lower + step, count)
    return (lower..<upper).partitionPoint { self[$0] < key }
  }
}

extension [(place: Int, row: Int, times: Int)] {
  /// The sums of the counts, by place.
  fileprivate func summedByPlace() -> Self {
    var sums: Self = []
    for entry in sorted(by: { $0.place < $1.place }) {
      if let last = sums.last, last.place == entry.place {
        sums[sums.count - 1].times += entry.times
      } else {
        sums.append(entry)
      }
    }
    return sums
  }
}

/// A row that was found.
private struct ScoredRow {
  let score: Double
  let key: UInt64
  /// Whether its texts were looked at.
  let isTested: Bool

  func isBetter(than other: ScoredRow) -> Bool {
    score != other.score ? score > other.score : key < other.key
  }
}

/// Rows of which the best are taken out, one after the other.
private struct Heap {
  private var rows: [ScoredRow]

  /// - Complexity: O(rows).
  init(_ rows: [ScoredRow]) {
    self.rows = rows
    for place in stride(from: rows.count / 2 - 1, through: 0, by: -1) { sink(from: place) }
  }

  /// Removes the best row.
  ///
  /// - Complexity: O(log rows).
  mutating func popFirst() -> ScoredRow? {
    guard let first = rows.first else { return nil }
    let last = rows.removeLast()
    if !rows.isEmpty {
      rows[0] = last
      sink(from: 0)
    }
    return first
  }

  private mutating func sink(from start: Int) {
    var place = start
    while true {
      var best = place
      for child in [2 * place + 1, 2 * place + 2]
      where child < rows.count && rows[child].isBetter(than: rows[best]) {
        best = child
      }
      if best == place { return }
      rows.swapAt(place, best)
      place = best
    }
  }
}
