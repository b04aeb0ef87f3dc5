/// The values of one column in the rows of one block, decoded, in memory one behind the other.
///
/// What it holds depends on the column's type and on how the block was written; ``form`` says which of
/// the accessors apply. A value under a null is unspecified.
@safe public final class ColumnVector: @unchecked Sendable {
  // Read row by row, so no access may cost a check at run time against overlapping ones. There are none: a
  // vector is filled before other threads know of it, and filled again only by a scan that alone refers to
  // it.
  @exclusivity(unchecked) package var contents = ColumnContents()

  package init() {}

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

  /// How the values are held.
  public var form: Form { unsafe contents.form }

  /// How many rows there are.
  public var count: Int { unsafe contents.count }

  /// How many of them are null.
  public var nullCount: Int { unsafe contents.nullCount }

  /// The values that ``codes`` number.
  public var dictionary: PackDictionary? { unsafe contents.dictionary }

  /// Whether a row is null.
  public func isNull(_ row: Int) -> Bool { unsafe contents.isNull(row) }

  /// A bit for each row, in words of 64: whether it is null.
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

  /// Where in ``bytes(at:)``' memory each value of the form bytes begins, and where the last ends.
  package var bounds: Span<UInt32> {
    @_lifetime(borrow self) get {
      unsafe _overrideLifetime(Span(_bytes: contents.bounds.bytes), borrowing: self)
    }
  }

  /// The bytes of a row's value, in a column of variable width; none for null.
  @_lifetime(borrow self)
  public func bytes(at row: Int) -> RawSpan {
    unsafe _overrideLifetime(contents.bytes(at: row), borrowing: self)
  }
}
