import Synchronization

/// A growing list of objects that any thread reads without a lock while one thread at a time writes.
///
/// Readers follow one pointer to a table of references. Growing publishes a bigger table and keeps
/// the old ones, which a reader may still hold, until the list itself goes: together they are no
/// bigger than the newest. Objects that were replaced or removed are kept as long, for the same
/// reason.
@safe final class PublishedArray<Element: AnyObject & Sendable>: @unchecked Sendable {
  /// The address of the table: its capacity, then that many references, zero for none.
  private let table: Atomic<UInt>
  private var retiredTables: [UnsafeMutableRawPointer] = unsafe []
  private var owned: [Element] = []

  init() {
    table = Atomic(UInt(bitPattern: unsafe Self.makeTable(capacity: 16)))
  }

  deinit {
    unsafe UnsafeMutableRawPointer(bitPattern: table.load(ordering: .relaxed))?.deallocate()
    unsafe retiredTables.forEach { unsafe $0.deallocate() }
  }

  /// Lends the element at an index to `body`, without counting a reference.
  @inline(__always)
  func with<R, E: Error>(_ index: Int, _ body: (Element) throws(E) -> R) throws(E) -> R? {
    guard let reference = unsafe load(index) else { return nil }
    return try body(unsafe reference.takeUnretainedValue())
  }

  /// The element at an index.
  subscript(index: Int) -> Element? {
    @inline(__always) get { unsafe load(index)?.takeUnretainedValue() }
  }

  /// The elements there are, by ascending index.
  var indices: [Int] { (0..<capacity).filter { unsafe load($0) != nil } }

  private var capacity: Int {
    unsafe UnsafeMutableRawPointer(bitPattern: table.load(ordering: .acquiring))
      .unsafelyUnwrapped.load(as: Int.self)
  }

  @inline(__always)
  private func load(_ index: Int) -> Unmanaged<Element>? {
    let base = unsafe UnsafeMutableRawPointer(bitPattern: table.load(ordering: .acquiring))
      .unsafelyUnwrapped
    guard UInt(bitPattern: index) < UInt(bitPattern: unsafe base.load(as: Int.self)) else {
      return nil
    }
    let address = unsafe Self.slot(base, index).pointee.load(ordering: .acquiring)
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
    return unsafe Unmanaged.fromOpaque(pointer)
  }

  /// Puts an element at an index; one writer at a time.
  func store(_ element: Element?, at index: Int) {
    var base = unsafe UnsafeMutableRawPointer(bitPattern: table.load(ordering: .relaxed))
      .unsafelyUnwrapped
    let capacity = unsafe base.load(as: Int.self)
    if index >= capacity {
      let bigger = unsafe Self.makeTable(capacity: max(capacity * 2, index + 1))
      unsafe (bigger + 8).copyMemory(from: base + 8, byteCount: capacity * 8)
      unsafe retiredTables.append(base)
      unsafe base = bigger
      table.store(UInt(bitPattern: base), ordering: .releasing)
    }
    var address: UInt = 0
    if let element {
      owned.append(element)
      address = UInt(bitPattern: unsafe Unmanaged.passUnretained(element).toOpaque())
    }
    unsafe Self.slot(base, index).pointee.store(address, ordering: .releasing)
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
