import RowFormat

/// Reads a value from a row; `reference` names the row.
typealias RowReader<Value> =
  (_ row: RawSpan, _ reference: RowReference, _ scope: QueryScope) throws -> Value

/// Tests whether a row passes.
typealias RowTest = (_ row: RawSpan, _ reference: RowReference, _ scope: QueryScope) throws -> Bool

/// The rows of the outer levels while a list's closure is evaluated.
///
/// A span cannot be kept in a class, so the rows are kept by their addresses; each is pushed and popped
/// inside the borrow of its bytes.
@safe final class QueryScope {
  private var outer: [(bytes: UnsafeRawBufferPointer, reference: RowReference)] = unsafe []

  /// Pushes a row as the next outer level while a closure runs.
  func nesting<R>(
    _ row: RawSpan,
    _ reference: RowReference,
    _ body: () throws -> R
  ) rethrows -> R {
    try unsafe row.withUnsafeBytes { bytes in
      unsafe outer.append((bytes, reference))
      defer { unsafe outer.removeLast() }
      return try body()
    }
  }

  /// Reads from the row of an outer level.
  func read<R>(_ level: Int, _ reader: RowReader<R>) throws -> R {
    let row = unsafe outer[level]
    return try unsafe reader(row.bytes.bytes, row.reference, self)
  }
}

/// The reason an expression has no value for a row; the row then does not match.
///
/// In the user's code these would throw, or trap.
enum QueryFailure: Error {
  case unwrappedNil
  case overflow
  case otherClass
  case unreadable
}
