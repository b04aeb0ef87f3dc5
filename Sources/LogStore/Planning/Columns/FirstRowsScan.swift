import LogEngine
import ModelRuntime
import RowFormat

/// Keeps those of many rows that can be among the first of a sort.
///
/// Rows are collected until there are some times as many as are wanted; then the rows with that many before them are
/// dropped, and the rank of the last row that stays is a bar for all later ones.
struct FirstRowsScan {
  private let column: RankedColumn
  private let wanted: Int
  private let excluded: ExcludedRows.Keys?
  private let isMatch: ((UInt64) throws -> Bool)?
  private var rows: [Row] = []
  private var last: Row?
  private var capacity: Int
  /// Number of rows that may still be read, or be kept beyond those that are wanted.
  private var budget: Int
  /// Whether another access path is better.
  private(set) var isGivenUp = false

  private struct Row: Comparable {
    let rank: UInt64
    let key: UInt64

    static func < (lhs: Row, rhs: Row) -> Bool {
      lhs.rank != rhs.rank ? lhs.rank < rhs.rank : lhs.key < rhs.key
    }
  }

  /// - Parameters:
  ///   - column: The column that ranks the rows.
  ///   - wanted: The number of wanted rows.
  ///   - budget: The number of rows that may be read to test them, and that may be kept with one rank.
  ///   - excluded: Rows that are not taken.
  ///   - isMatch: Tests the row of a key; `nil` if all rows match that are taken.
  init(
    _ column: RankedColumn,
    wanted: Int,
    budget: Int,
    excluding excluded: ExcludedRows.Keys?,
    _ isMatch: ((UInt64) throws -> Bool)?
  ) {
    self.column = column
    self.wanted = wanted
    self.excluded = excluded
    self.budget = max(budget, wanted)
    self.isMatch = isMatch
    capacity = wanted * 2 + 512
  }

  /// The rank that no wanted row is behind, as soon as there is one.
  var bar: UInt64? { last?.rank }

  /// The keys of rows that can be among the first, ascending.
  mutating func keys() -> [UInt64] {
    if rows.count > wanted { cut() }
    return rows.map(\.key).sorted()
  }

  /// Takes some rows of a batch.
  mutating func take(
    _ selection: RowSelection,
    of batch: borrowing ColumnBatch,
    at position: Int
  ) throws {
    let vector = try batch.column(position)
    var values = selection
    vector.keepValues(in: &values)
    if vector.nullCount > 0 {
      try takeNulls(selection, values, of: batch, at: position)
      if values.isEmpty { return }
    }
    let column = column
    switch column.kind {
    case .integer:
      let integers = vector.integers
      try take(values, of: batch) { column.prefix(of: integers[$0]) }
    case .unsigned:
      let integers = vector.integers
      try take(values, of: batch) { UInt64(bitPattern: integers[$0]) }
    case .double, .float, .date:
      let doubles = vector.doubles
      try take(values, of: batch) { column.prefix(of: doubles[$0]) }
    case .bool:
      let bits = vector.bits
      try take(values, of: batch) { bits[$0 >> 6] >> UInt64($0 & 63) & 1 }
    case .uuid:
      let words = vector.identifiers
      try take(values, of: batch) { words[$0 * 2].byteSwapped }
    case .text: try take(values, of: batch) { SortPrefix.prefix(ofText: vector.bytes(at: $0)) }
    case .url, .bytes, .identifier: isGivenUp = true
    }
  }

  private mutating func takeNulls(
    _ selection: RowSelection,
    _ values: RowSelection,
    of batch: borrowing ColumnBatch,
    at position: Int
  ) throws {
    let column = column
    var nulls = selection
    nulls.subtract(values)
    var lacking = nulls
    if batch.isLacking(position) {
      batch.keepLacking(position, in: &lacking)
      nulls.subtract(lacking)
      try take(lacking, of: batch) { _ in column.prefixIfLacking }
    }
    try take(nulls, of: batch) { _ in column.prefixIfNull }
  }

  /// Takes rows by what their values begin with; `nil` is a value that shares its prefix with null.
  @inline(__always)
  private mutating func take(
    _ selection: RowSelection,
    of batch: borrowing ColumnBatch,
    _ prefix: (Int) -> UInt64?
  ) throws {
    try selection.forEach { row in
      guard let prefix = prefix(row) else { return isGivenUp = true }
      let rank = column.rank(prefix)
      if let last, rank > last.rank { return }
      try add(Row(rank: rank, key: batch.key(of: row)))
    }
  }

  private mutating func add(_ row: Row) throws {
    if isGivenUp { return }
    if let excluded, excluded.contains(row.key) { return }
    if column.decides, let last, row > last { return }
    if let isMatch {
      budget -= 1
      if budget < 0 { isGivenUp = true }
      guard try isMatch(row.key) else { return }
    }
    rows.append(row)
    if rows.count >= capacity { cut() }
  }

  private mutating func cut() {
    rows.sort()
    let end = rows[wanted - 1]
    let kept = column.decides ? wanted : rows.firstIndex { $0.rank > end.rank } ?? rows.count
    rows.removeSubrange(kept...)
    last = end
    capacity = max(capacity, kept * 2)
    if kept - wanted > budget { isGivenUp = true }
  }
}

extension RankedColumn {
  /// The prefix of an integer; `nil` if it is that of null, too.
  @inline(__always)
  fileprivate func prefix(of value: Int64) -> UInt64? {
    if decides, isOptional, value == .min { return nil }
    return UInt64(bitPattern: value ^ .min)
  }

  @inline(__always)
  fileprivate func prefix(of value: Double) -> UInt64? { SortPrefix.prefix(of: value) }
}
