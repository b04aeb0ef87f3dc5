import ModelRuntime
import RowFormat

/// How an index answers what a predicate asks.
enum IndexUse {
  /// All columns have one of some values each: the rows of these hashes.
  case hashes([UInt32])
  /// The first column is in one of these ranges.
  case ranges([ClosedRange<UInt64>])

  /// - Parameters:
  ///   - definition: The index.
  ///   - lookups: What the predicate asks of columns, all of which must hold.
  init?(_ definition: IndexDefinition, _ lookups: [ValueLookup]) {
    if !definition.isDecidedByPrefix, let hashes = IndexUse.hashes(definition, lookups) {
      self = .hashes(hashes)
      return
    }
    let first = lookups.filter { $0.column == definition.columns[0].number }
    guard let narrowest = first.first else { return nil }
    self = .ranges(first.dropFirst().reduce(narrowest.ranges) { $0.intersection($1.ranges) })
  }

  /// The hashes of every combination of values, if there are values for all columns, and not too many.
  private static func hashes(_ definition: IndexDefinition, _ lookups: [ValueLookup]) -> [UInt32]? {
    var combinations: [[QueryValue]] = [[]]
    for column in definition.columns {
      guard
        let values = lookups.first(where: { $0.column == column.number && $0.values != nil })?
          .values, combinations.count * values.count <= 1024
      else { return nil }
      combinations = combinations.flatMap { head in values.map { head + [$0] } }
    }
    return combinations.compactMap { definition.hash(of: $0) }
  }

  /// The rows, each perhaps more than once; `nil` if there are more than a limit.
  func rows(in index: ValueIndex, atMost limit: Int) -> [RowReference]? {
    var rows: [RowReference] = []
    switch self {
    case .hashes(let hashes):
      for hash in hashes {
        index.hashed?.forEach(hash) {
          rows.append($0)
          return rows.count <= limit
        }
        if rows.count > limit { return nil }
      }
    case .ranges(let ranges):
      let count = ranges.reduce(0) { $0 + index.ordered.count(in: $1) }
      if count > limit { return nil }
      rows.reserveCapacity(count)
      for range in ranges {
        index.ordered.forEach(in: range) {
          rows.append($0.row)
          return true
        }
      }
    }
    return rows
  }
}
