import RowFormat

/// The values of one column in the rows of one block, decoded, in memory one behind the other.
///
/// What it holds depends on the column's type and on how the block was written; ``form`` says which of
/// the accessors apply. A value under a null is unspecified.
@safe public final class ColumnVector: @unchecked Sendable {
  /// How the values are held.
  public enum Form: Sendable, Hashable {
    /// Every row is null.
    case absent
    /// ``ColumnVector/integers``; of references, their raw values.
    case integers
    /// ``ColumnVector/doubles``; of dates, seconds since 2001.
    case doubles
    /// ``ColumnVector/bits``.
    case bits
    /// ``ColumnVector/identifiers``.
    case identifiers
    /// ``ColumnVector/codes``, which number values of ``ColumnVector/dictionary``.
    case codes
    /// ``ColumnVector/bytes(at:)``.
    case bytes
    /// Keys without a gap, which need no values.
    case dense
  }

  public internal(set) var form = Form.absent
  /// How many rows there are.
  public internal(set) var count = 0
  /// How many of them are null.
  public internal(set) var nullCount = 0
  /// The values that ``codes`` number.
  public internal(set) var dictionary: PackDictionary?
  /// Values of fixed width; of the form bytes, the whole chunk.
  var values = ByteBuffer(capacity: 64)
  /// Where in ``values`` each value of the form bytes begins, and where the last ends.
  var bounds = ByteBuffer(capacity: 64)
  /// A bit for each row, in words; empty if no row is null.
  var nulls = ByteBuffer(capacity: 64)

  init() {}

  /// How much memory the vector takes, in bytes.
  var memoryByteCount: Int { values.count + bounds.count + nulls.count + 256 }
}

// MARK: Reading

// A class cannot promise by itself that its memory stays as long as a span. What keeps it: a vector is
// filled again only by a scan that alone refers to it.
extension ColumnVector {
  /// Whether a row is null.
  public func isNull(_ row: Int) -> Bool {
    precondition(0..<count ~= row, "row \(row) of \(count)")
    if nullCount == 0 { return false }
    return form == .absent || nulls.load(UInt64.self, at: row / 64 * 8) >> UInt64(row & 63) & 1 == 1
  }

  /// A bit for each row, in words of 64: whether it is null.
  ///
  /// Empty if no row is null, or all are.
  public var nullWords: Span<UInt64> {
    @_lifetime(borrow self) get {
      unsafe _overrideLifetime(Span(_bytes: nulls.bytes), borrowing: self)
    }
  }

  /// The values of an integer or reference column.
  public var integers: Span<Int64> {
    @_lifetime(borrow self) get {
      require(.integers)
      return unsafe _overrideLifetime(Span(_bytes: values.bytes), borrowing: self)
    }
  }

  /// The values of a double or date column.
  public var doubles: Span<Double> {
    @_lifetime(borrow self) get {
      require(.doubles)
      return unsafe _overrideLifetime(Span(_bytes: values.bytes), borrowing: self)
    }
  }

  /// The values of a bool column, a bit for each row, in words of 64.
  public var bits: Span<UInt64> {
    @_lifetime(borrow self) get {
      require(.bits)
      return unsafe _overrideLifetime(Span(_bytes: values.bytes), borrowing: self)
    }
  }

  /// The values of a UUID column, two little-endian words each.
  public var identifiers: Span<UInt64> {
    @_lifetime(borrow self) get {
      require(.identifiers)
      return unsafe _overrideLifetime(Span(_bytes: values.bytes), borrowing: self)
    }
  }

  /// The numbers of the rows' values in ``dictionary``.
  public var codes: Span<UInt16> {
    @_lifetime(borrow self) get {
      require(.codes)
      return unsafe _overrideLifetime(Span(_bytes: values.bytes), borrowing: self)
    }
  }

  /// The bytes of a row's value, in a column of variable width; none for null.
  @_lifetime(borrow self)
  public func bytes(at row: Int) -> RawSpan {
    if form == .codes, let dictionary {
      let span = dictionary.value(Int(codes[row]))
      return unsafe _overrideLifetime(span, borrowing: self)
    }
    require(.bytes)
    return unsafe _overrideLifetime(values.bytes.extracting(range(row)), borrowing: self)
  }

  @inline(__always)
  private func range(_ row: Int) -> Range<Int> {
    Int(bounds.load(UInt32.self, at: row &* 4))..<Int(bounds.load(UInt32.self, at: row &* 4 &+ 4))
  }

  private func require(_ form: Form) {
    precondition(self.form == form, "a vector of \(self.form) was asked for \(form)")
  }
}
