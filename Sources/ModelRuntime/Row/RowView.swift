public import RowFormat

/// The row of a model, borrowed from its state for the length of one read.
///
/// It keeps nothing alive: the state that returned it must outlive it, and must not be given
/// another row meanwhile. So it never leaves the runtime and the accessors it generates.
@safe @frozen public struct _RowView {
  @usableFromInline let base: UnsafeRawPointer?
  @usableFromInline let byteCount: Int
  /// Not counted: layouts of models are never freed, and counting would take longer than reading.
  @usableFromInline let unmanagedLayout: Unmanaged<RowLayout>

  @inlinable init(base: UnsafeRawPointer?, byteCount: Int, layout: Unmanaged<RowLayout>) {
    unsafe self.base = unsafe base
    self.byteCount = byteCount
    unsafe unmanagedLayout = unsafe layout
  }

  init(base: UnsafeRawPointer?, byteCount: Int, layout: RowLayout) {
    unsafe self.init(base: base, byteCount: byteCount, layout: .passUnretained(layout))
  }

  /// A view of a row in a ``RowArena`` whose objects are registered.
  @inlinable init(_ row: StoredRow) {
    unsafe self.init(base: row.base, byteCount: row.byteCount, layout: row.layout)
  }

  @inlinable var layout: RowLayout { unsafe unmanagedLayout.takeUnretainedValue() }

  /// Whether there is no row to read from: the model was never saved, or its row is gone.
  @inlinable public var isAbsent: Bool { unsafe base == nil }

  /// Whether a column is null; in an absent row every column is.
  @inlinable public func isNull(_ column: Int) -> Bool {
    unsafe base == nil || unmanagedLayout._withUnsafeGuaranteedRef { $0.isNull(column, in: span) }
  }

  @inlinable var span: RawSpan {
    @_lifetime(borrow self) get {
      let span = unsafe UnsafeRawBufferPointer(start: base, count: byteCount).bytes
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  @inlinable public func integer(_ column: Int) -> Int64 {
    unsafe unmanagedLayout._withUnsafeGuaranteedRef { $0.integer(column, in: span) }
  }
  @inlinable public func double(_ column: Int) -> Double {
    unsafe unmanagedLayout._withUnsafeGuaranteedRef { $0.double(column, in: span) }
  }
  @inlinable public func bool(_ column: Int) -> Bool {
    unsafe unmanagedLayout._withUnsafeGuaranteedRef { $0.bool(column, in: span) }
  }
  @inlinable public func uuid(_ column: Int) -> (UInt64, UInt64) {
    unsafe unmanagedLayout._withUnsafeGuaranteedRef { $0.uuid(column, in: span) }
  }
  func reference(_ column: Int) -> RowReference {
    unsafe unmanagedLayout._withUnsafeGuaranteedRef { $0.reference(column, in: span) }
  }
  @inlinable public func text(_ column: Int) -> String {
    unsafe unmanagedLayout._withUnsafeGuaranteedRef { $0.text(column, in: span) }
  }

  /// The bytes of a column of variable width; none if they are in a side file.
  @inlinable public func withBytes<R>(
    _ column: Int,
    _ body: (UnsafeRawBufferPointer) throws -> R
  ) rethrows -> R {
    let range = valueRange(column)
    return try unsafe body(
      UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(start: base, count: byteCount)[range])
    )
  }

  /// The range of the value of a column of variable width in the row.
  @inlinable func valueRange(_ column: Int) -> Range<Int> {
    unsafe unmanagedLayout._withUnsafeGuaranteedRef { layout in
      let range = layout.range(column, in: span)
      guard layout.types[column] == .blob else { return range }
      if case .inline(let value) = BlobValue(decoding: span, in: range) { return value }
      return range.lowerBound..<range.lowerBound
    }
  }

  /// The side file that holds the value of a column, if any.
  func blob(_ column: Int) -> BlobReference? {
    guard unsafe base != nil, layout.types[column] == .blob else { return nil }
    return layout.blob(column, in: span)?.reference
  }
}
