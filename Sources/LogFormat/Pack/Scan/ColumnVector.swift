/// The decoded values of one column in the rows of one block, in memory one behind the other.
///
/// The form depends on the column's type and on the encoding of the block; ``form`` determines which of the accessors apply. A
/// value under a null is unspecified.
@safe public final class ColumnVector: @unchecked Sendable {
  // Read row by row, so no access may cost a run-time exclusivity check. There are no overlapping accesses: a vector is filled
  // before other threads can see it, and refilled only by a scan with the sole reference.
  @exclusivity(unchecked) package var contents = ColumnContents()

  package init() {}

  /// The representations of the values.
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
    /// ``ColumnVector/codes``: the numbers of values in ``ColumnVector/dictionary``.
    case codes
    /// ``ColumnVector/bytes(at:)``.
    case bytes
    /// Keys without a gap, which need no values.
    case dense
  }

  /// The representation of the values.
  public var form: Form { unsafe contents.form }

  /// The number of rows.
  public var count: Int { unsafe contents.count }

  /// The number of null rows.
  public var nullCount: Int { unsafe contents.nullCount }

  /// The values that ``codes`` refer to.
  public var dictionary: PackDictionary? { unsafe contents.dictionary }

  /// Whether a row is null.
  public func isNull(_ row: Int) -> Bool { unsafe contents.isNull(row) }

  /// A bit for each row, in words of 64: set if the row is null.
  ///
  /// Empty if no row is null, or all are.
  public var nullWords: Span<UInt64> {
    @_lifetime(borrow self) get {
      unsafe _overrideLifetime(Span(_bytes: contents.nulls.bytes), borrowing: self)
    }
  }

  /// The values of an integer or reference column.
  public var integers: Span<Int64> {
    @_lifetime(borrow self) get {
      unsafe _overrideLifetime(contents.values(.integers), borrowing: self)
    }
  }

  /// The values of a double or date column.
  public var doubles: Span<Double> {
    @_lifetime(borrow self) get {
      unsafe _overrideLifetime(contents.values(.doubles), borrowing: self)
    }
  }

  /// The values of a bool column, a bit for each row, in words of 64.
  public var bits: Span<UInt64> {
    @_lifetime(borrow self) get {
      unsafe _overrideLifetime(contents.values(.bits), borrowing: self)
    }
  }

  /// The values of a UUID column, two little-endian words each.
  public var identifiers: Span<UInt64> {
    @_lifetime(borrow self) get {
      unsafe _overrideLifetime(contents.values(.identifiers), borrowing: self)
    }
  }

  /// The numbers of the rows' values in ``dictionary``.
  public var codes: Span<UInt16> {
    @_lifetime(borrow self) get {
      unsafe _overrideLifetime(contents.values(.codes), borrowing: self)
    }
  }

  /// The offset in ``bytes(at:)``' memory at which each value of the form bytes begins, and the end of the last.
  package var bounds: Span<UInt32> {
    @_lifetime(borrow self) get {
      unsafe _overrideLifetime(Span(_bytes: contents.bounds.bytes), borrowing: self)
    }
  }

  /// The memory of the values of the form bytes, which ``bounds`` divide.
  package var valueBytes: RawSpan {
    @_lifetime(borrow self) get {
      unsafe _overrideLifetime(contents.values.bytes, borrowing: self)
    }
  }

  /// Returns the bytes of a row's value, in a column of variable width; none for null.
  @_lifetime(borrow self)
  public func bytes(at row: Int) -> RawSpan {
    unsafe _overrideLifetime(contents.bytes(at: row), borrowing: self)
  }
}
