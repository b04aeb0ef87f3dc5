/// The places of the columns in a row.
///
/// A row is one run of bytes; integers are little-endian, nothing is aligned:
///
///     part       size            meaning
///     flags      1               bit 0: ends are 32 bits wide (else 16); other bits zero
///     nulls      ⌈columns / 8⌉    bit *i* set: column *i* is null
///     fixed      Σ fixedWidth    the fixed-width columns, in column order, at constant offsets
///     ends       2 or 4 each     for each variable column, the end of its bytes in `data`
///     data       last end        the variable columns' bytes, in column order
///
/// So a fixed-width column is one load at an offset from the layout, and a variable one two more. A null column keeps its
/// place: zeros in the fixed section, no bytes in `data`.
///
/// A layout is conceptually a value, but a class for speed: passing one does not copy its tables.
public final class RowLayout: Sendable, Hashable, CustomStringConvertible {
  /// The types of the columns, in order.
  public let types: [ColumnType]
  /// The number of columns of variable width.
  public let variableCount: Int
  /// The offset of the ends: flags, nulls and fixed section are before it.
  public let endsOffset: Int
  /// The columns whose values may be in side files.
  public let blobColumns: [Int]
  /// The columns with lists of references.
  package let listColumns: [Int]
  /// For a fixed column the offset of its bytes; for a variable one its ordinal among the variable.
  @usableFromInline let slots: [Int32]

  /// Creates the layout of rows with columns of these types, in this order.
  public init(_ types: [ColumnType]) {
    self.types = types
    var offset = 1 + (types.count + 7) / 8
    var variable = 0
    var slots: [Int32] = []
    slots.reserveCapacity(types.count)
    for type in types {
      if type.isVariable {
        slots.append(Int32(variable))
        variable += 1
      } else {
        slots.append(Int32(offset))
        offset += type.fixedWidth
      }
    }
    self.slots = slots
    variableCount = variable
    endsOffset = offset
    blobColumns = types.indices.filter { types[$0] == .blob }
    listColumns = types.indices.filter { types[$0] == .references }
  }

  /// The number of columns.
  public var count: Int { types.count }

  public static func == (lhs: RowLayout, rhs: RowLayout) -> Bool {
    lhs === rhs || lhs.types == rhs.types
  }
  public func hash(into hasher: inout Hasher) { hasher.combine(types) }
  public var description: String { "\(types)" }

  /// Returns the offset of a fixed-width column's bytes.
  @inlinable public func offset(of column: Int) -> Int { Int(slots[column]) }

  /// Returns the index of a column among the columns of variable width, from 0.
  @inlinable public func variableOrdinal(of column: Int) -> Int { Int(slots[column]) }
}

extension RowLayout {
  /// Returns the size of a row, in bytes.
  ///
  /// - Parameter dataByteCount: The size of the data of its columns of variable width, in bytes.
  /// - Returns: That size plus the size of the parts before the data.
  @inlinable package func byteCount(ofData dataByteCount: Int) -> Int {
    let endByteCount = dataByteCount > Int(UInt16.max) ? 4 : 2
    return endsOffset + variableCount * endByteCount + dataByteCount
  }
}

// MARK: Reading one column

extension RowLayout {
  /// Whether the column is null.
  @inlinable public func isNull(_ column: Int, in row: RawSpan) -> Bool {
    row.load(UInt8.self, at: 1 &+ column &>> 3) & (1 &<< UInt8(truncatingIfNeeded: column & 7)) != 0
  }

  /// Returns the value of an integer column; 0 for null.
  @inlinable public func integer(_ column: Int, in row: RawSpan) -> Int64 {
    row.load(Int64.self, at: Int(slots[column]))
  }

  /// Returns the value of a double or date column.
  @inlinable public func double(_ column: Int, in row: RawSpan) -> Double {
    Double(bitPattern: row.load(UInt64.self, at: Int(slots[column])))
  }

  /// Returns the value of a Boolean column; `false` for null.
  @inlinable public func bool(_ column: Int, in row: RawSpan) -> Bool {
    row.load(UInt8.self, at: Int(slots[column])) != 0
  }

  /// Returns the sixteen bytes of a UUID, as two little-endian words.
  @inlinable public func uuid(_ column: Int, in row: RawSpan) -> (UInt64, UInt64) {
    let offset = Int(slots[column])
    return (row.load(UInt64.self, at: offset), row.load(UInt64.self, at: offset &+ 8))
  }

  /// Returns the value of a reference column; ``RowReference/none`` for null.
  @inlinable public func reference(_ column: Int, in row: RawSpan) -> RowReference {
    RowReference(rawValue: row.load(UInt64.self, at: Int(slots[column])))
  }

  /// Returns the range of a variable column's bytes in the row; empty for null.
  @inlinable public func range(_ column: Int, in row: RawSpan) -> Range<Int> {
    let ordinal = Int(slots[column])
    if row.load(UInt8.self, at: 0) & 1 == 0 {
      let data = endsOffset &+ variableCount &* 2
      let at = endsOffset &+ ordinal &* 2
      let start = ordinal == 0 ? 0 : Int(row.load(UInt16.self, at: at &- 2))
      return (data &+ start)..<(data &+ Int(row.load(UInt16.self, at: at)))
    }
    let data = endsOffset &+ variableCount &* 4
    let at = endsOffset &+ ordinal &* 4
    let start = ordinal == 0 ? 0 : Int(row.load(UInt32.self, at: at &- 4))
    return (data &+ start)..<(data &+ Int(row.load(UInt32.self, at: at)))
  }

  /// Returns the text of a column; invalid UTF-8 is repaired.
  @inlinable public func text(_ column: Int, in row: RawSpan) -> String {
    let range = range(column, in: row)
    return unsafe row.extracting(range).withUnsafeBytes { bytes in
      // For any collection but a buffer of bytes, the library first has to determine how to access its bytes.
      unsafe bytes.withMemoryRebound(to: UInt8.self) { unsafe String(decoding: $0, as: UTF8.self) }
    }
  }

  /// Returns the number of references in a `references` column.
  @inlinable public func referenceCount(_ column: Int, in row: RawSpan) -> Int {
    range(column, in: row).count / 8
  }

  /// Returns the reference at an offset in a row.
  public func reference(at offset: Int, in row: RawSpan) -> RowReference {
    RowReference(rawValue: row.load(UInt64.self, at: offset))
  }

  /// Returns the offsets in a row of some of the references of a `references` column, in order.
  ///
  /// - Complexity: O(*n*) in the references of the column: a nanosecond for each if few are wanted.
  public func offsets(
    of wanted: [RowReference],
    inList column: Int,
    of row: RawSpan
  ) -> [Int] {
    if wanted.isEmpty { return [] }
    let range = range(column, in: row)
    var offsets: [Int] = []
    let places = stride(from: range.lowerBound, to: range.upperBound - 7, by: 8)
    if wanted.count == 1 {
      let only = wanted[0].rawValue
      for offset in places where row.load(UInt64.self, at: offset) == only {
        offsets.append(offset)
      }
    } else {
      let all = Set(wanted.lazy.map(\.rawValue))
      for offset in places where all.contains(row.load(UInt64.self, at: offset)) {
        offsets.append(offset)
      }
    }
    return offsets
  }

  /// Returns the references of a `references` column, in order.
  public func references(_ column: Int, in row: RawSpan) -> [RowReference] {
    let range = range(column, in: row)
    return stride(from: range.lowerBound, to: range.upperBound - 7, by: 8).map {
      RowReference(rawValue: row.load(UInt64.self, at: $0))
    }
  }
}

// MARK: Checking

extension RowLayout {
  /// Whether the bytes are a row of this layout, so that every read of a column stays inside them.
  ///
  /// Bytes that come from a file are checked once, when they enter memory; after that, reading a
  /// column needs no further check.
  ///
  /// - Complexity: O(columns of variable width).
  public func isValid(_ row: RawSpan) -> Bool {
    guard row.byteCount >= endsOffset else { return false }
    let flags = row.load(UInt8.self, at: 0)
    guard flags & ~1 == 0 else { return false }
    let width = flags & 1 == 0 ? 2 : 4
    let data = endsOffset &+ variableCount &* width
    guard row.byteCount >= data else { return false }
    var last = 0
    for ordinal in 0..<variableCount {
      let at = endsOffset &+ ordinal &* width
      let end = width == 2 ? Int(row.load(UInt16.self, at: at)) : Int(row.load(UInt32.self, at: at))
      guard end >= last else { return false }
      last = end
    }
    guard row.byteCount == data + last else { return false }
    return listColumns.isEmpty || listColumns.allSatisfy { range($0, in: row).count % 8 == 0 }
  }
}
