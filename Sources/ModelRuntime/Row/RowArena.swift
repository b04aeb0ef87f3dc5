public import RowFormat

/// A block of rows that fetched objects read from; it lives as long as the last of them.
///
/// Rows are copied here from wherever a store keeps them (17 ns for 200 bytes), so that an object
/// never holds a store's file, mapping or cache in place.
public final class RowArena: @unchecked Sendable {
  /// The bytes a block has room for, unless one row needs more.
  public static let blockSize = 64 * 1024

  @usableFromInline let base: UnsafeMutableRawPointer
  @usableFromInline let capacity: Int
  @usableFromInline var used = 0

  public init(capacity: Int = RowArena.blockSize) {
    self.capacity = capacity
    base = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { base.deallocate() }

  /// Copies a row into the block, or returns `nil` when it does not fit.
  public func append(_ row: RawSpan) -> UnsafeRawPointer? {
    let count = row.byteCount
    guard count <= capacity - used else { return nil }
    let target = base + used
    row.withUnsafeBytes { source in
      if let start = source.baseAddress { target.copyMemory(from: start, byteCount: count) }
    }
    used += (count + 7) & ~7
    return UnsafeRawPointer(target)
  }
}

/// A row as a store hands it to a context: its name, and its bytes in the layout of its entity.
public struct FetchedRow {
  /// The row's table and key in the store.
  public let reference: RowReference
  /// Keeps the bytes; an object that reads the row takes it over.
  var arena: RowArena?
  let base: UnsafeRawPointer
  let byteCount: Int

  /// Lends the row's bytes.
  package func withBytes<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    try body(UnsafeRawBufferPointer(start: base, count: byteCount).bytes)
  }
}

/// Collects the rows of a fetch, block by block.
public struct FetchedRowBuilder {
  /// The rows collected so far, in the order they were appended.
  public private(set) var rows: [FetchedRow] = []
  private var arena: RowArena?

  public init() {}

  /// Copies a row; it must be valid for the layout of its entity.
  public mutating func append(_ reference: RowReference, row: RawSpan) {
    if let arena, let base = arena.append(row) {
      rows.append(
        FetchedRow(reference: reference, arena: arena, base: base, byteCount: row.byteCount)
      )
      return
    }
    // The first block of a fetch is small: most fetches return a handful of rows.
    let size = arena == nil ? 4096 : RowArena.blockSize
    let next = RowArena(capacity: max(size, row.byteCount + 8))
    arena = next
    guard let base = next.append(row) else { preconditionFailure("a new block holds one row") }
    rows.append(
      FetchedRow(reference: reference, arena: next, base: base, byteCount: row.byteCount)
    )
  }

  /// Keeps the rows in a range and in another order: what sorting and limiting leave over.
  public mutating func rearrange(_ order: [Int]) { rows = order.map { rows[$0] } }
}
