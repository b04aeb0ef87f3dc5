import LogEngine
import ModelRuntime
import RowFormat

/// The use of an index for a predicate: the key ranges in which rows can match.
///
/// Values for the first columns, and one more column in a range: what follows is ignored.
struct IndexUse {
  let index: LazyIndex
  let columns: [IndexColumn]
  /// Ascending, without overlaps.
  let ranges: [ClosedRange<IndexEntry>]
  /// Number of columns that have one value in all the ranges.
  let fixedCount: Int
  /// Whether the rows of the ranges are those that match, and there are no others.
  let isExact: Bool
  /// Whether nearly all rows of the ranges match.
  let isSharp: Bool

  /// `nil` for an index of another kind than of values.
  ///
  /// - Parameters:
  ///   - index: An index of values.
  ///   - lookups: The predicate's conditions on columns, one for each column, all of which must hold.
  ///   - isComplete: Whether it asks nothing else.
  init?(_ index: LazyIndex, _ lookups: [ValueLookup], isComplete: Bool) {
    guard case .values(_, let columns) = index.definition else { return nil }
    var prefixes = [IndexKey()]
    var ranges: [ClosedRange<IndexEntry>]?
    var word = 0
    var fixedCount = 0
    var usedCount = 0
    for column in columns {
      guard let lookup = lookups.first(where: { $0.column.number == column.number }),
        lookup.column == column
      else { break }
      usedCount += 1
      let isSingle = lookup.arePoints && lookup.intervals.count == 1
      if lookup.arePoints, prefixes.count * lookup.intervals.count <= 1024 {
        if isSingle, prefixes.count == 1 { fixedCount += 1 }
        prefixes = prefixes.flatMap { prefix in
          lookup.intervals.map { prefix.placing($0.lowerBound, column.wordCount, at: word) }
        }
        word += column.wordCount
        continue
      }
      let end = word + column.wordCount
      ranges = prefixes.flatMap { prefix in
        lookup.intervals.map {
          let lower = prefix.placing($0.lowerBound, column.wordCount, at: word)
          let upper = prefix.placing($0.upperBound, column.wordCount, at: word)
          return IndexEntry.start(of: lower, end)...IndexEntry.end(of: upper, end)
        }
      }
      break
    }
    self.index = index
    self.columns = columns
    self.fixedCount = fixedCount
    self.ranges =
      ranges ?? prefixes.map { IndexEntry.start(of: $0, word)...IndexEntry.end(of: $0, word) }
    let tellsAll = isComplete && usedCount == lookups.count
    isExact = tellsAll && lookups.allSatisfy(\.isExact)
    isSharp = tellsAll && lookups.allSatisfy(\.isSharp)
    isNarrow = usedCount > 0
  }

  /// Whether the predicate asks anything that the index tells.
  let isNarrow: Bool

  /// Number of rows in the ranges.
  func count(in keys: OrderedKeys) throws -> Int { try keys.count(in: ranges) }

  /// Number of rows in the ranges that are among some.
  func count(of some: ExcludedRows.Keys, in keys: OrderedKeys) throws -> Int {
    if some.isEmpty { return 0 }
    var count = 0
    for range in ranges {
      try keys.forEach(in: range) {
        if some.contains($0.row.key) { count += 1 }
        return true
      }
    }
    return count
  }

  /// The rows' keys, ascending.
  func rowKeys(in keys: OrderedKeys) throws -> [UInt64] {
    var found = try keys.rowKeys(in: ranges)
    found.sort()
    return found
  }
}

extension IndexKey {
  /// The key with the first words of another at some place.
  fileprivate func placing(_ other: IndexKey, _ wordCount: Int, at word: Int) -> IndexKey {
    var key = self
    for offset in 0..<wordCount { key[word + offset] = other[offset] }
    return key
  }
}
