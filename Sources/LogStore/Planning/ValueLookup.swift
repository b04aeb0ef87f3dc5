import ModelRuntime

/// What a predicate asks of one attribute of the tested row: where in an index its rows stand.
struct ValueLookup: Equatable {
  /// The class the predicate takes the row for.
  let owner: ModelDescriptor
  let column: Int
  /// The ranges of the order's first eight bytes; they may be too wide.
  var ranges: [ClosedRange<UInt64>]
  /// The values themselves, where only some will do.
  var values: [QueryValue]?

  /// - Returns: `nil` for what an index does not tell.
  init?(
    _ relation: QueryExpression.Relation,
    _ path: RowPath,
    _ reading: ColumnReading,
    _ constant: QueryValue
  ) {
    guard let prefix = ValueLookup.prefix(path, reading, constant, isEquality: relation == .equal)
    else { return nil }
    self.init(path, reading)
    switch relation {
    case .equal:
      ranges = [prefix...prefix]
      values = [constant]
    case .less, .lessOrEqual: ranges = [0...prefix]
    case .greater, .greaterOrEqual: ranges = [prefix ... .max]
    case .notEqual: return nil
    }
  }

  init?(_ path: RowPath, _ reading: ColumnReading, isIn constants: [QueryValue]) {
    self.init(path, reading)
    var ranges: [ClosedRange<UInt64>] = []
    for constant in constants {
      guard let prefix = ValueLookup.prefix(path, reading, constant, isEquality: true) else {
        return nil
      }
      ranges.append(prefix...prefix)
    }
    self.ranges = ranges.union([])
    values = constants
  }

  init?(_ path: RowPath, _ reading: ColumnReading, beginsWith text: String) {
    guard path.isTestedRow, reading.kind == .text, reading.enumeration == nil,
      let range = SortPrefix.prefixes(ofTextsBeginning: text)
    else { return nil }
    self.init(path, reading)
    ranges = [range]
  }

  private init(_ path: RowPath, _ reading: ColumnReading) {
    owner = path.descriptor
    column = reading.column
    ranges = []
    values = nil
  }

  private static func prefix(
    _ path: RowPath,
    _ reading: ColumnReading,
    _ constant: QueryValue,
    isEquality: Bool
  ) -> UInt64? {
    guard path.isTestedRow else { return nil }
    // Of an enumeration rows have raw values: they are in no order, and one that is unknown reads as another.
    if reading.enumeration != nil, !isEquality || constant == reading.absent { return nil }
    return SortPrefix.prefix(of: constant, reading.kind)
  }

  static func == (lhs: ValueLookup, rhs: ValueLookup) -> Bool {
    lhs.owner === rhs.owner && lhs.column == rhs.column && lhs.ranges == rhs.ranges
      && lhs.values == rhs.values
  }

  /// The lookup for rows that match this one or another of the same column.
  func union(_ other: ValueLookup) -> ValueLookup? {
    guard owner === other.owner, column == other.column else { return nil }
    var union = self
    union.ranges = ranges.union(other.ranges)
    if let mine = values, let theirs = other.values {
      union.values = mine + theirs
    } else {
      union.values = nil
    }
    return union
  }
}

extension RowPath {
  /// Whether the path is the tested row itself.
  var isTestedRow: Bool { level == 0 && steps.isEmpty }
}

extension [ClosedRange<UInt64>] {
  /// What is in these ranges or in others, without overlaps and in order.
  func union(_ other: Self) -> Self {
    var result: Self = []
    for range in (self + other).sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = result.last, range.lowerBound <= last.upperBound {
        result[result.count - 1] = last.lowerBound...Swift.max(last.upperBound, range.upperBound)
      } else {
        result.append(range)
      }
    }
    return result
  }

  /// What is in these ranges and in others.
  func intersection(_ other: Self) -> Self {
    flatMap { range in
      other.filter { $0.overlaps(range) }.map { $0.clamped(to: range) }
    }
  }
}
