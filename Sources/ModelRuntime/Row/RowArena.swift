public import RowFormat

/// A block of rows that fetched objects read from; it lives as long as the last of them.
///
/// Rows are copied here from a store's own memory (17 ns for 200 bytes), so that an object
/// never keeps a store's file, mapping or cache alive.
///
/// An object may have nothing but the address of its row's entry, so the entry leads to all else. Entries
/// are contiguous, four to a cache line, because objects come and go one after the other:
///
///     place in the block     what
///     first 16 bytes         the arena; the layout of the rows, once there are objects
///     from there upwards     the rows, one behind the other
///     from the end down      an entry for each row, and one that only says where the last row ends:
///                              4 bytes   the distance from the block's start to the entry
///                              4         the distance from the block's start to the row
///                              8         the row's reference
///
/// Safe to use, because nothing outside of the block's bounds is read or written, and the bytes of rows never change.
/// Unchecked, because one thread fills the block, and later ones only read it.
@safe public final class RowArena: @unchecked Sendable {
  /// The capacity of a block in bytes, unless one row needs more.
  public static let blockSize = 64 * 1024

  private static let headerSize = 16
  private static let entrySize = 16

  private let base: UnsafeMutableRawPointer
  /// The offset of the next row's entry, and of that row.
  @safe @exclusivity(unchecked) private var nextEntry: Int
  @safe @exclusivity(unchecked) private var nextRow = RowArena.headerSize
  /// The context and map of the objects for these rows, once there are any.
  ///
  /// Unretained: those objects keep the context, and the context the rest. So it may be used only while there are objects.
  @exclusivity(unchecked) private(set) var home: Home?
  /// The context's epoch of the store when the first object was made of these rows.
  @safe @exclusivity(unchecked) private(set) var epoch: UInt32 = 0
  /// Number of objects without a state for these rows.
  @safe @exclusivity(unchecked) private var faultCount = 0
  /// The holder of these objects.
  @safe @exclusivity(unchecked) private(set) var holder = Holder.app
  /// The rows of the same answer of a remote store.
  var companions: RowCompanions?

  /// The holder of a block's objects.
  enum Holder {
    /// An app that fetched them: they keep their context.
    case app
    /// A relationship: they do not keep their context, which may hold the object at the other end.
    case relationship
  }

  /// The context, the store, the identity map and the class of objects, and the layout of their rows.
  @unsafe struct Home: Equatable {
    let context: UnsafeMutableRawPointer
    let connection: UnsafeMutableRawPointer
    let map: UnsafeMutableRawPointer
    /// The descriptor of the class. (Descriptors are never freed.)
    let descriptor: UnsafeMutableRawPointer
    let layout: UnsafeMutableRawPointer

    // The synthesized operator would not be marked as comparing pointers.
    static func == (a: Home, b: Home) -> Bool {
      unsafe a.context == b.context && a.connection == b.connection && a.map == b.map
        && a.descriptor == b.descriptor && a.layout == b.layout
    }
  }

  init(capacity: Int = RowArena.blockSize) {
    let capacity = (capacity + RowArena.entrySize - 1) & ~(RowArena.entrySize - 1)
    unsafe base = .allocate(byteCount: capacity, alignment: 16)
    nextEntry = capacity - RowArena.entrySize
    unsafe base.storeBytes(of: Unmanaged.passUnretained(self).toOpaque(), as: UnsafeRawPointer.self)
    unsafe base.storeBytes(of: nil, toByteOffset: 8, as: UnsafeRawPointer?.self)
  }

  /// Makes a block with room for at least one row.
  convenience init(capacity: Int, for row: RawSpan) {
    let needed = RowArena.headerSize + row.byteCount + 2 * RowArena.entrySize
    precondition(needed <= UInt32.max - 64, "a row of \(row.byteCount) bytes")
    self.init(capacity: max(capacity, needed))
  }

  deinit { unsafe base.deallocate() }

  /// Copies a row into the block, or returns `nil` when it does not fit.
  func append(_ reference: RowReference, _ row: RawSpan) -> StoredRow? {
    let (entry, start) = (nextEntry, nextRow)
    let end = start + row.byteCount
    guard end <= entry - RowArena.entrySize else { return nil }
    unsafe row.withUnsafeBytes { source in
      if let bytes = source.baseAddress {
        unsafe (base + start).copyMemory(from: bytes, byteCount: source.count)
      }
    }
    write(entry, row: start, reference.rawValue)
    write(entry - RowArena.entrySize, row: end, 0)
    nextEntry = entry - RowArena.entrySize
    nextRow = end
    return unsafe StoredRow(entry: UnsafeRawPointer(base + entry))
  }

  private func write(_ entry: Int, row: Int, _ reference: UInt64) {
    unsafe base.storeBytes(
      of: UInt32(truncatingIfNeeded: entry),
      toByteOffset: entry,
      as: UInt32.self
    )
    unsafe base.storeBytes(
      of: UInt32(truncatingIfNeeded: row),
      toByteOffset: entry + 4,
      as: UInt32.self
    )
    unsafe base.storeBytes(of: reference, toByteOffset: entry + 8, as: UInt64.self)
  }

  /// Assigns the rows to one context's objects.
  ///
  /// A store may hand out the same rows again. As long as objects exist for them, their context lives, so its address is
  /// unique. After that, a new context may have the same address, and the assignment
  /// begins anew.
  ///
  /// - Returns: Whether the rows are assigned: rows that another context reads already, or that are held otherwise, stay so.
  func settle(in home: Home, epoch: UInt32, heldBy holder: Holder) -> Bool {
    // Rows read before, by objects that still exist, keep the age of those objects.
    if hasFaults { return unsafe self.home == home && self.holder == holder }
    unsafe self.home = unsafe home
    self.holder = holder
    self.epoch = epoch
    unsafe base.storeBytes(of: home.layout, toByteOffset: 8, as: UnsafeMutableRawPointer.self)
    return true
  }
}

// MARK: Objects without a state

extension RowArena {
  /// Whether objects without a state exist for these rows.
  var hasFaults: Bool { faultCount > 0 }

  /// Counts an object without a state, of the context that the rows are assigned to.
  ///
  /// Together such objects keep the block and, if they do, their context once, and are counted by an ordinary number: only the
  /// context's thread creates and releases them, and counting two references for each takes longer than making it.
  func addFault() {
    if faultCount == 0, let home = unsafe home {
      _ = unsafe Unmanaged.passUnretained(self).retain()
      if holder == .app { _ = unsafe Unmanaged<AnyObject>.fromOpaque(home.context).retain() }
    }
    faultCount += 1
  }

  /// Uncounts an object that has left its context's map, or has got a state that keeps the block and the context.
  ///
  /// The block and the context may be freed by it, so callers may use them afterwards only if they keep them otherwise.
  static func removeFault(of arena: Unmanaged<RowArena>, in home: Home) {
    let (isLast, holder) = unsafe arena._withUnsafeGuaranteedRef { arena in
      arena.faultCount -= 1
      return (arena.faultCount == 0, arena.holder)
    }
    guard isLast else { return }
    unsafe arena.release()
    if holder == .app { unsafe Unmanaged<AnyObject>.fromOpaque(home.context).release() }
  }
}

/// A row in a block, by the address of its entry; the caller keeps the block.
@unsafe @frozen @usableFromInline struct StoredRow {
  @usableFromInline let entry: UnsafeRawPointer

  @inlinable init(entry: UnsafeRawPointer) { unsafe self.entry = unsafe entry }

  @inlinable var block: UnsafeRawPointer { unsafe entry - Int(entry.load(as: UInt32.self)) }

  @inlinable var base: UnsafeRawPointer {
    unsafe block + Int(entry.load(fromByteOffset: 4, as: UInt32.self))
  }

  @inlinable var byteCount: Int {
    // The row ends where the next one starts, which the entry below has.
    unsafe Int(entry.load(fromByteOffset: -12, as: UInt32.self))
      - Int(entry.load(fromByteOffset: 4, as: UInt32.self))
  }

  /// The layout of the row, once an object exists for it. (Layouts of models are never freed.)
  @inlinable var layout: Unmanaged<RowLayout> {
    unsafe .fromOpaque(block.load(fromByteOffset: 8, as: UnsafeRawPointer.self))
  }

  var reference: RowReference {
    unsafe RowReference(rawValue: entry.load(fromByteOffset: 8, as: UInt64.self))
  }

  var arena: Unmanaged<RowArena> { unsafe .fromOpaque(block.load(as: UnsafeRawPointer.self)) }
}

/// A row as a store hands it to a context: its name, and its bytes in the layout of its entity.
///
/// Safe to use, because it keeps the block until an object takes that over.
@safe public struct FetchedRow {
  /// Keeps the bytes; an object that reads the row takes it over.
  var arena: RowArena?
  let row: StoredRow

  /// The row's table and key in the store.
  public var reference: RowReference { unsafe row.reference }
  var base: UnsafeRawPointer { unsafe row.base }
  var byteCount: Int { unsafe row.byteCount }

  /// Lends the row's bytes.
  package func withBytes<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    try unsafe body(UnsafeRawBufferPointer(start: base, count: byteCount).bytes)
  }

  /// Gives up the block to a caller who keeps it from now on.
  @inline(__always)
  mutating func takeArena() -> Unmanaged<RowArena>? {
    // Taken as bits, because two reference counts would take longer than everything else.
    unsafe withUnsafeMutablePointer(to: &arena) { arena in
      unsafe arena.withMemoryRebound(to: Unmanaged<RowArena>?.self, capacity: 1) { arena in
        defer { unsafe arena.pointee = nil }
        return unsafe arena.pointee
      }
    }
  }
}

extension FetchedRow {
  /// Copies one row into a block of its own.
  package init(copying row: RawSpan, _ reference: RowReference) {
    let arena = RowArena(capacity: 0, for: row)
    guard let stored = unsafe arena.append(reference, row) else {
      preconditionFailure("a new block holds one row")
    }
    unsafe self.init(arena: arena, row: stored)
  }
}

/// Collects the rows of a fetch, block by block.
public struct FetchedRowBuilder {
  /// The rows collected so far, in the order they were appended.
  public private(set) var rows: [FetchedRow] = []
  private var arena: RowArena?
  /// The table of the rows in the block: rows of another table have a block of their own, and a layout.
  private var table: UInt16 = 0

  /// Makes a builder without rows.
  ///
  /// - Parameter count: The number of rows to make room for: that of a page, for instance.
  public init(expecting count: Int = 0) {
    rows.reserveCapacity(min(count, Self.greatestReserve))
  }

  /// Maximum number of rows to make room for: a limit may be greater than the number of rows that match.
  private static let greatestReserve = 256

  /// Copies a row; it must be valid for the layout of its entity.
  public mutating func append(_ reference: RowReference, row: RawSpan) {
    rows.append(take(reference, row: row))
  }

  /// Copies a row, which is returned instead of collected.
  package mutating func take(_ reference: RowReference, row: RawSpan) -> FetchedRow {
    if let arena, table == reference.table, let stored = unsafe arena.append(reference, row) {
      return unsafe FetchedRow(arena: arena, row: stored)
    }
    // The first block of a fetch is small: most fetches return a handful of rows.
    let next = RowArena(capacity: arena == nil ? 4096 : RowArena.blockSize, for: row)
    arena = next
    table = reference.table
    guard let stored = unsafe next.append(reference, row) else {
      preconditionFailure("a new block holds one row")
    }
    return unsafe FetchedRow(arena: next, row: stored)
  }

  /// Keeps a selection of the rows in a new order: the result of sorting and limiting.
  public mutating func rearrange(_ order: [Int]) {
    rows = order.map { rows[$0] }
  }
}
