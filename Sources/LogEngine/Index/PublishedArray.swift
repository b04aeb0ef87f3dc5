import Locking
import Synchronization

/// A growing list of objects that any thread reads without a lock while one thread at a time writes.
///
/// Readers follow one pointer to a table of references. Growing publishes a bigger table and keeps the old ones, which a reader
/// may still use, until the list itself is freed: together they are no bigger than the newest. Objects that were replaced or
/// removed are kept as long, for the same reason.
///
/// A struct, so that it is part of the object that contains it: a lookup follows one pointer less.
@safe package struct PublishedArray<Element: AnyObject & Sendable>: ~Copyable, Sendable {
  /// The address of the table: its capacity, then that many references, zero for none.
  private let table: Atomic<UInt>
  private let kept = Lock(Kept(), .publishedArray)

  private struct Kept {
    /// The addresses of outgrown tables.
    var tables: [UInt] = []
    var elements: [Element] = []
  }

  init() {
    table = Atomic(UInt(bitPattern: unsafe Self.makeTable(capacity: 16)))
  }

  deinit {
    unsafe Self.base(table.load(ordering: .relaxed)).deallocate()
    for address in kept.withLock({ $0.tables }) { unsafe Self.base(address).deallocate() }
  }

  /// Lends the element at an index to `body`, without counting a reference.
  @inline(__always)
  func with<R>(_ index: Int, _ body: (Element) throws -> R) rethrows -> R? {
    guard let reference = unsafe load(index) else { return nil }
    // Counting would cost more than the lookup: an atomic instruction also ends all overlap with the lookups before and after.
    // The list retains every element it ever had until it is freed.
    return try unsafe reference._withUnsafeGuaranteedRef(body)
  }

  /// The element at an index.
  package subscript(index: Int) -> Element? {
    @inline(__always) get { unsafe load(index)?.takeUnretainedValue() }
  }

  /// The indices that have an element, ascending.
  package var indices: [Int] { indices(from: 0) }

  /// Returns the indices, from one on, that have an element.
  func indices(from first: Int) -> [Int] {
    (min(first, capacity)..<capacity).filter { unsafe load($0) != nil }
  }

  private var capacity: Int {
    unsafe Self.base(table.load(ordering: .acquiring)).load(as: Int.self)
  }

  @inline(__always)
  private func load(_ index: Int) -> Unmanaged<Element>? {
    let base = unsafe Self.base(table.load(ordering: .acquiring))
    guard UInt(bitPattern: index) < UInt(bitPattern: unsafe base.load(as: Int.self)) else {
      return nil
    }
    let address = unsafe Self.slot(base, index).pointee.load(ordering: .acquiring)
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
    return unsafe Unmanaged.fromOpaque(pointer)
  }

  /// Stores an element at an index; called by one writer at a time.
  package func store(_ element: Element?, at index: Int) {
    var base = unsafe Self.base(table.load(ordering: .relaxed))
    let capacity = unsafe base.load(as: Int.self)
    if index >= capacity {
      let bigger = unsafe Self.makeTable(capacity: max(capacity * 2, index + 1))
      unsafe (bigger + 8).copyMemory(from: base + 8, byteCount: capacity * 8)
      let address = UInt(bitPattern: base)
      kept.withLock { $0.tables.append(address) }
      unsafe base = bigger
      table.store(UInt(bitPattern: base), ordering: .releasing)
    }
    var address: UInt = 0
    if let element {
      kept.withLock { $0.elements.append(element) }
      address = UInt(bitPattern: unsafe Unmanaged.passUnretained(element).toOpaque())
    }
    unsafe Self.slot(base, index).pointee.store(address, ordering: .releasing)
  }

  /// Removes an element, and all earlier ones at its index; called by one writer at a time.
  ///
  /// - Returns: The removed elements. Readers may still use them for a while, so the caller must keep them until those readers
  ///   are gone.
  func remove(at index: Int, _ belongsThere: (Element) -> Bool) -> [Element] {
    guard self[index] != nil else { return [] }
    let base = unsafe Self.base(table.load(ordering: .relaxed))
    unsafe Self.slot(base, index).pointee.store(0, ordering: .sequentiallyConsistent)
    return kept.withLock { kept in
      let removed = kept.elements.filter(belongsThere)
      kept.elements.removeAll(where: belongsThere)
      return removed
    }
  }

  @inline(__always)
  private static func base(_ address: UInt) -> UnsafeMutableRawPointer {
    unsafe UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped
  }

  private static func makeTable(capacity: Int) -> UnsafeMutableRawPointer {
    let base = UnsafeMutableRawPointer.allocate(byteCount: 8 + capacity * 8, alignment: 16)
    unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: 8 + capacity * 8)
    unsafe base.storeBytes(of: capacity, as: Int.self)
    return unsafe base
  }

  @inline(__always)
  private static func slot(
    _ base: UnsafeMutableRawPointer,
    _ index: Int
  ) -> UnsafeMutablePointer<Atomic<UInt>> {
    unsafe (base + 8 + index &* 8).assumingMemoryBound(to: Atomic<UInt>.self)
  }
}
