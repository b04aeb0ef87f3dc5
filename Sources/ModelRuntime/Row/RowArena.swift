public import RowFormat

/// A block of rows that fetched objects read from; it lives as long as the last of them.
///
/// Rows are copied here from wherever a store keeps them (17 ns for 200 bytes), so that an object
/// never holds a store's file, mapping or cache in place.
///
/// An object may know nothing of itself but which row it stands for, so a row's entry leads to all else. Entries
/// stand together, four to a cache line, because objects come and go one after the other:
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
/// Unchecked, because one thread fills the block, and what it is given to afterwards only reads it.
@safe public final class RowArena: @unchecked Sendable {
  /// The bytes a block has room for, unless one row needs more.
  public static let blockSize = 64 * 1024

  private static let headerSize = 16
  private static let entrySize = 16

  private let base: UnsafeMutableRawPointer
  /// Where the entry of the next row is, and that row.
  @safe @exclusivity(unchecked) private var nextEntry: Int
  @safe @exclusivity(unchecked) private var nextRow = RowArena.headerSize
  /// Where objects that stand for these rows are registered, once there are any.
  ///
  /// Not kept: those objects keep the context, and that the rest. So it may be used only while there are objects.
  @exclusivity(unchecked) private(set) var home: Home?
  /// What the context knew of the store when the first object was made of these rows.
  @safe @exclusivity(unchecked) private(set) var epoch: UInt32 = 0
  /// How many objects without a state stand for these rows.
  @safe @exclusivity(unchecked) private var faultCount = 0
  /// Who holds these objects.
  @safe @exclusivity(unchecked) private(set) var holder = Holder.app
  /// The rows that came in the same answer of a store that is far away.
  var companions: RowCompanions?

  /// Who holds the objects of a block.
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
    /// What is known of the class. (Descriptors are never freed.)
    let descriptor: UnsafeMutableRawPointer
    let layout: UnsafeMutableRawPointer

    // The compiler's own would not say that it compares pointers.
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

  /// Makes a block with room for one row at least.
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

  /// Makes the rows those of one context's objects.
  ///
  /// A store may hand out the same rows again. As long as objects stand for them, their context lives, so its address is that
  /// of no other. Once there are none, a new context may have come to be at the address of theirs, and what is known of
  /// the rows begins anew.
  ///
  /// - Returns: Whether they are: rows that another context reads already, or that are held otherwise, stay so.
  func settle(in home: Home, epoch: UInt32, heldBy holder: Holder) -> Bool {
    // Rows that were read before, by objects that are there, count as old as those.
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
  /// Whether objects without a state stand for these rows.
  var hasFaults: Bool { faultCount > 0 }

  /// Counts in an object without a state, of the context that the rows are settled in.
  ///
  /// Together such objects keep the block and, if they do, their context once, and are counted by an ordinary number: the
  /// context's thread alone makes them and lets them go, and counting two references for each takes longer than making it.
  func addFault() {
    if faultCount == 0, let home = unsafe home {
      _ = unsafe Unmanaged.passUnretained(self).retain()
      if holder == .app { _ = unsafe Unmanaged<AnyObject>.fromOpaque(home.context).retain() }
    }
    faultCount += 1
  }

  /// Counts out an object that has left its context's map, or has got a state that keeps what it needs.
  ///
  /// The block and the context may go with it, so nobody may use them afterwards who does not keep them otherwise.
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

/// A row in a block, by the address of its entry; somebody keeps the block.
@unsafe @frozen @usableFromInline struct StoredRow {
  @usableFromInline let entry: UnsafeRawPointer

  @inlinable init(entry: UnsafeRawPointer) { unsafe self.entry = unsafe entry }

  @inlinable var block: UnsafeRawPointer { unsafe entry - Int(entry.load(as: UInt32.self)) }

  @inlinable var base: UnsafeRawPointer {
    unsafe block + Int(entry.load(fromByteOffset: 4, as: UInt32.self))
  }

  @inlinable var byteCount: Int {
    // Up to where the next row starts, which the entry below says.
    unsafe Int(entry.load(fromByteOffset: -12, as: UInt32.self))
      - Int(entry.load(fromByteOffset: 4, as: UInt32.self))
  }

  /// The layout of the row, once an object stands for it. (Layouts of models are never freed.)
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

  /// Gives the block up, to one who keeps it from now on.
  @inline(__always)
  mutating func takeArena() -> Unmanaged<RowArena>? {
    // Taken as bits, because counting twice would take longer than all else.
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
  /// The table of the rows in the block: those of another have a block of their own, and a layout.
  private var table: UInt16 = 0

  /// Makes a builder without rows.
  public init() {}

  /// Copies a row; it must be valid for the layout of its entity.
  public mutating func append(_ reference: RowReference, row: RawSpan) {
    rows.append(take(reference, row: row))
  }

  /// Copies a row, which is handed out instead of collected.
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

  /// Keeps the rows in a range and in another order: what sorting and limiting leave over.
  public mutating func rearrange(_ order: [Int]) { rows = order.map { rows[$0] } }
}
