import RowFormat

/// Two buffers between which a row alternates while deltas are applied to it.
package struct FoldScratch: ~Copyable {
  @usableFromInline var current = RowWriter(capacity: 512)
  private var next = RowWriter(capacity: 512)

  package init() {}

  /// The current state of the row.
  package var row: RawSpan {
    @_lifetime(borrow self) get { current.bytes }
  }

  /// Starts with a whole row.
  package mutating func begin(_ row: RawSpan) {
    current.removeAll()
    _ = current.append(row: row)
  }

  /// Lends the row, the only one in its writer, to be changed where it is.
  @inlinable package mutating func edit<R>(_ body: (inout RowWriter) throws -> R) rethrows -> R {
    try body(&current)
  }

  /// Lends the row, and an empty writer for the one that takes its place.
  package mutating func replace(_ body: (RawSpan, inout RowWriter) -> Void) {
    FoldScratch.replace(current, by: &next, body)
    swap(&current, &next)
  }

  private static func replace(
    _ row: borrowing RowWriter,
    by writer: inout RowWriter,
    _ body: (RawSpan, inout RowWriter) -> Void
  ) {
    writer.removeAll()
    body(row.bytes, &writer)
  }

  /// Applies a delta.
  ///
  /// - Returns: Whether the delta was well-formed.
  package mutating func apply(_ delta: RawSpan, layout: RowLayout) -> Bool {
    if let isPatched = RowDelta.patch(delta, layout: layout, in: &current) { return isPatched }
    guard FoldScratch.apply(delta, to: current, layout: layout, into: &next) else { return false }
    swap(&current, &next)
    return true
  }

  private static func apply(
    _ delta: RawSpan,
    to row: borrowing RowWriter,
    layout: RowLayout,
    into writer: inout RowWriter
  ) -> Bool {
    writer.removeAll()
    return RowDelta.apply(delta, to: row.bytes, layout: layout, into: &writer) != nil
  }
}
