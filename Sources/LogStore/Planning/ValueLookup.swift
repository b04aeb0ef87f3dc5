import ModelRuntime

/// A predicate's condition on one attribute of the tested row, as the intervals of an index that hold its rows.
struct ValueLookup: Equatable {
  /// The class the predicate takes the row for.
  let owner: ModelDescriptor
  let column: IndexColumn
  /// The words of the values, ascending and without overlaps; what is behind the column's words is zero.
  var intervals: [ClosedRange<IndexKey>]
  /// Whether rows match if and only if their words are in one of the intervals.
  var isExact: Bool
  /// Whether nearly all rows whose words are in one of the intervals match.
  var isSharp: Bool

  /// - Returns: `nil` for a condition that an index cannot answer.
  init?(
    _ relation: QueryExpression.Relation,
    _ path: RowPath,
    _ reading: ColumnReading,
    _ constant: QueryValue,
    _ texts: TextHash
  ) {
    self.init(path, reading, texts)
    guard let words = words(of: constant, reading, isEquality: relation == .equal) else {
      return nil
    }
    let values = column.values
    switch relation {
    case .equal: intervals = [words...words]
    case .notEqual: return nil
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      isExact = isExact && column.isDecided
      let isUpper = relation == .less || relation == .lessOrEqual
      let isOpen = relation == .less || relation == .greater
      var bound: IndexKey? = words
      if !column.isDecided {
        // Texts that begin alike are told apart by their rows.
        bound = words.prefix(1, then: 0)
        if isUpper { bound?[1] = .max }
      } else if isOpen {
        bound = isUpper ? words.predecessor(column.wordCount) : words.successor(column.wordCount)
      }
      intervals = []
      guard let bound else { return }
      if isUpper, values.lowerBound <= bound {
        intervals = [values.lowerBound...min(bound, values.upperBound)]
      } else if !isUpper, bound <= values.upperBound {
        intervals = [max(bound, values.lowerBound)...values.upperBound]
      }
    }
  }

  init?(
    _ path: RowPath,
    _ reading: ColumnReading,
    isIn constants: [QueryValue],
    _ texts: TextHash
  ) {
    self.init(path, reading, texts)
    for constant in constants {
      guard let words = words(of: constant, reading, isEquality: true) else { return nil }
      intervals.append(words...words)
    }
    intervals = intervals.union([])
  }

  init?(
    _ path: RowPath,
    _ reading: ColumnReading,
    beginsWith text: String,
    _ texts: TextHash
  ) {
    self.init(path, reading, texts)
    guard reading.kind == .text, reading.enumeration == nil,
      let range = SortPrefix.prefixes(ofTextsBeginning: text)
    else { return nil }
    intervals = [IndexKey(range.lowerBound)...IndexKey(range.upperBound, .max)]
    isExact = false
    // The rest of a longer text is not in the order of the index.
    isSharp = text.utf8.count <= 8
  }

  /// The rows in which an attribute is nil.
  init?(nil path: RowPath, _ reading: ColumnReading, _ texts: TextHash) {
    self.init(path, reading, texts)
    guard reading.enumeration == nil, let words = column.wordsOfNull else { return nil }
    intervals = [words...words]
  }

  private init?(_ path: RowPath, _ reading: ColumnReading, _ texts: TextHash) {
    guard path.isTestedRow, SortPrefix.isOrdered(reading.kind) else { return nil }
    owner = path.descriptor
    column = IndexColumn(
      number: reading.column,
      kind: reading.kind,
      isOptional: reading.isOptional,
      texts: texts
    )
    intervals = []
    isExact = reading.enumeration == nil
    isSharp = isExact
  }

  private func words(
    of constant: QueryValue,
    _ reading: ColumnReading,
    isEquality: Bool
  ) -> IndexKey? {
    // Of an enumeration rows have raw values: they are in no order, and one that is unknown reads as another.
    if reading.enumeration != nil, !isEquality || constant == reading.absent { return nil }
    return column.words(of: constant)
  }

  static func == (lhs: ValueLookup, rhs: ValueLookup) -> Bool {
    lhs.owner === rhs.owner && lhs.column == rhs.column && lhs.intervals == rhs.intervals
      && lhs.isExact == rhs.isExact && lhs.isSharp == rhs.isSharp
  }

  /// Whether only some single values will do.
  var arePoints: Bool { intervals.allSatisfy { $0.lowerBound == $0.upperBound } }

  /// The lookup for rows that match this one or another of the same column.
  func union(_ other: ValueLookup) -> ValueLookup? {
    guard owner === other.owner, column == other.column else { return nil }
    var union = self
    union.intervals = intervals.union(other.intervals)
    union.isExact = isExact && other.isExact
    union.isSharp = isSharp && other.isSharp
    return union
  }

  /// The lookup for rows that match both of one column.
  func intersection(_ other: ValueLookup) -> ValueLookup {
    var both = self
    both.intervals = intervals.intersection(other.intervals)
    both.isExact = isExact && other.isExact
    both.isSharp = isSharp && other.isSharp
    return both
  }
}

extension RowPath {
  /// Whether the path is the tested row itself.
  var isTestedRow: Bool { level == 0 && steps.isEmpty }
}

extension IndexKey {
  /// The key before this one, of those with so many words; `nil` for the first.
  func predecessor(_ wordCount: Int) -> IndexKey? {
    var key = self
    for word in (0..<wordCount).reversed() {
      key[word] &-= 1
      if key[word] != .max { return key }
    }
    return nil
  }

  /// The key after this one, of those with so many words; `nil` for the last.
  func successor(_ wordCount: Int) -> IndexKey? {
    var key = self
    for word in (0..<wordCount).reversed() {
      key[word] &+= 1
      if key[word] != 0 { return key }
    }
    return nil
  }
}

extension [ValueLookup] {
  /// The same conditions, those of one column in one.
  var onePerColumn: Self {
    guard count > 1 else { return self }
    var merged: Self = []
    for lookup in self {
      if let place = merged.firstIndex(where: { $0.column.number == lookup.column.number }) {
        merged[place] = merged[place].intersection(lookup)
      } else {
        merged.append(lookup)
      }
    }
    return merged
  }
}

extension [ClosedRange<IndexKey>] {
  /// The union with other ranges, without overlaps and in order.
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

  /// The intersection with other ranges; both are in order.
  func intersection(_ other: Self) -> Self {
    var result: Self = []
    var place = 0
    for range in self {
      while place < other.count, other[place].upperBound < range.lowerBound { place += 1 }
      var next = place
      while next < other.count, other[next].lowerBound <= range.upperBound {
        result.append(other[next].clamped(to: range))
        next += 1
      }
    }
    return result
  }
}
