/// The selected rows of a block: a bit for each row, in words of 64.
public struct RowSelection: Sendable {
  /// The number of rows in the block.
  public private(set) var count = 0
  /// Row *i* is bit *i* mod 64 of word *i* / 64; bits beyond the last row are zero.
  public package(set) var words: [UInt64] = []

  /// Creates a selection of a block without rows.
  public init() {}

  /// Selects all rows of a block.
  public mutating func selectAll(_ count: Int) {
    self.count = count
    let wordCount = (count + 63) / 64
    words.removeAll(keepingCapacity: true)
    for _ in 0..<wordCount { words.append(.max) }
    if count & 63 != 0 { words[wordCount - 1] = UInt64.max >> UInt64(64 - count & 63) }
  }

  /// The number of selected rows.
  public var selectedCount: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

  /// Whether no row is selected.
  public var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

  /// Whether a row is selected.
  public func contains(_ row: Int) -> Bool { words[row >> 6] >> UInt64(row & 63) & 1 == 1 }

  /// Visits the selected rows, ascending.
  @inlinable public func forEach<E: Error>(_ body: (Int) throws(E) -> Void) throws(E) {
    for index in words.indices {
      var word = words[index]
      let first = index &<< 6
      if word == .max {
        for row in first..<(first &+ 64) { try body(row) }
        continue
      }
      while word != 0 {
        try body(first &+ word.trailingZeroBitCount)
        word &= word &- 1
      }
    }
  }

  /// Adds a range of rows to the selection.
  ///
  /// - Complexity: O(rows / 64).
  package mutating func select(_ rows: Range<Int>) {
    if rows.isEmpty { return }
    precondition(rows.lowerBound >= 0 && rows.upperBound <= count, "\(rows) of \(count) rows")
    let (first, last) = (rows.lowerBound >> 6, (rows.upperBound - 1) >> 6)
    let head = UInt64.max << UInt64(rows.lowerBound & 63)
    let tail = UInt64.max >> UInt64(63 - (rows.upperBound - 1) & 63)
    if first == last {
      words[first] |= head & tail
      return
    }
    words[first] |= head
    for index in (first + 1)..<last { words[index] = .max }
    words[last] |= tail
  }

  /// Adds the rows of another selection of the same block.
  public mutating func formUnion(_ other: RowSelection) {
    precondition(count == other.count, "\(count) rows and \(other.count)")
    for index in words.indices { words[index] |= other.words[index] }
  }

  /// Drops the rows of another selection of the same block.
  public mutating func subtract(_ other: RowSelection) {
    precondition(count == other.count, "\(count) rows and \(other.count)")
    for index in words.indices { words[index] &= ~other.words[index] }
  }

  /// Selects exactly the rows that were not selected.
  public mutating func invert() {
    let before = words
    selectAll(count)
    for index in words.indices { words[index] &= ~before[index] }
  }

  /// Drops a row.
  public mutating func drop(_ row: Int) { words[row >> 6] &= ~(1 << UInt64(row & 63)) }

  /// Keeps rows that pass a test.
  @inline(__always)
  package mutating func keep(_ test: (Int) -> Bool) {
    let count = count
    for index in words.indices {
      let first = index &<< 6
      let end = min(64, count &- first)
      var word: UInt64 = 0
      for bit in 0..<end {
        word |= (test(first &+ bit) ? 1 : 0) &<< UInt64(truncatingIfNeeded: bit)
      }
      words[index] &= word
    }
  }

  /// Keeps selected rows that pass an expensive test.
  @inline(__always)
  mutating func keepSelected(_ test: (Int) -> Bool) {
    for index in words.indices {
      var left = words[index]
      var kept = left
      while left != 0 {
        let bit = left & (0 &- left)
        if !test(index &<< 6 &+ left.trailingZeroBitCount) { kept &= ~bit }
        left &= left &- 1
      }
      words[index] = kept
    }
  }

  /// Drops rows that are null.
  mutating func dropNulls(of vector: ColumnVector) {
    if vector.nullCount == 0 { return }
    let nulls = vector.nullWords
    for index in words.indices { words[index] &= ~nulls[index] }
  }

  /// Deselects all rows.
  public mutating func removeAll() {
    for index in words.indices { words[index] = 0 }
  }
}
