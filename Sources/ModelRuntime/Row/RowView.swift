public import RowFormat

/// The row of a model, borrowed from its state for the length of one read.
///
/// It keeps nothing alive: the state that handed it out must outlive it, and must not be given
/// another row meanwhile. That is why it never leaves the runtime and the accessors it generates.
@frozen public struct _RowView {
  @usableFromInline let base: UnsafeRawPointer?
  @usableFromInline let byteCount: Int
  @usableFromInline unowned(unsafe) let layout: RowLayout

  @inlinable init(base: UnsafeRawPointer?, byteCount: Int, layout: RowLayout) {
    self.base = base
    self.byteCount = byteCount
    self.layout = layout
  }

  /// Whether there is no row to read from: the model was never saved, or its row is gone.
  @inlinable public var isAbsent: Bool { base == nil }

  /// Whether a column is null; in an absent row every column is.
  @inlinable public func isNull(_ column: Int) -> Bool {
    base == nil || layout.isNull(column, in: span)
  }

  @inlinable var span: RawSpan {
    @_lifetime(borrow self) get {
      let span = UnsafeRawBufferPointer(start: base, count: byteCount).bytes
      return _overrideLifetime(span, borrowing: self)
    }
  }

  @inlinable public func integer(_ column: Int) -> Int64 { layout.integer(column, in: span) }
  @inlinable public func double(_ column: Int) -> Double { layout.double(column, in: span) }
  @inlinable public func bool(_ column: Int) -> Bool { layout.bool(column, in: span) }
  @inlinable public func uuid(_ column: Int) -> (UInt64, UInt64) { layout.uuid(column, in: span) }
  @inlinable public func text(_ column: Int) -> String { layout.text(column, in: span) }

  /// The bytes of a column of variable width; none if they stand in a side file.
  @inlinable public func withBytes<R>(
    _ column: Int,
    _ body: (UnsafeRawBufferPointer) throws -> R
  ) rethrows -> R {
    let range = valueRange(column)
    return try body(
      UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(start: base, count: byteCount)[range])
    )
  }

  /// Where the value of a column of variable width stands in the row.
  @inlinable func valueRange(_ column: Int) -> Range<Int> {
    let range = layout.range(column, in: span)
    guard layout.types[column] == .blob else { return range }
    if case .inline(let value) = BlobValue(decoding: span, in: range) { return value }
    return range.lowerBound..<range.lowerBound
  }

  /// The side file that holds the value of a column, if one does.
  func blob(_ column: Int) -> BlobReference? {
    guard base != nil, layout.types[column] == .blob else { return nil }
    return layout.blob(column, in: span)?.reference
  }
}
