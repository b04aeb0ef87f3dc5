import RowFormat
import Synchronization

/// Where each key of a table stands: dense pages of eight-byte slots, addressed by the key itself.
///
/// Keys are given out in order, so there is nothing to hash and no key to store. Three steps lead to
/// a slot: the directory (a growing table of chunks), the chunk (1,024 pages and their greatest
/// commit), the page (512 slots, 4,096 bytes). One thread at a time writes; any number read, and
/// take no lock: a slot is published by one release store.
///
/// The greatest commit of a page is stored before the slot. A reader that finds it no newer than
/// its own state knows that every slot of the page is visible to it; otherwise it asks the record.
@safe final class IndexPages: @unchecked Sendable {
  /// The address of the directory: its capacity, then that many addresses of chunks.
  private let directory: Atomic<UInt>
  private var retiredDirectories: [UnsafeMutableRawPointer] = unsafe []
  /// Memory that is not ours page by page: the mapped checkpoint.
  private var mappings: [MappedFile] = []
  /// What the pages, chunks and directories take, in bytes.
  let byteCount = Atomic<Int>(0)

  static let slotsPerPage = 512
  static let pageByteCount = 4096
  static let pagesPerChunk = 1024
  static let keysPerChunk = slotsPerPage * pagesPerChunk
  /// The greatest key: 2⁳⁸ slots are already two terabytes.
  static let maximumKey: UInt64 = 1 << 38 - 1

  /// A chunk is a table of entries: the page's address, its greatest commit, whether it is mapped.
  private static let entryByteCount = 16
  private static let chunkByteCount = pagesPerChunk * entryByteCount

  init() {
    let first = unsafe Self.makeDirectory(capacity: 8)
    directory = Atomic(UInt(bitPattern: first))
    byteCount.add(8 + 64, ordering: .relaxed)
  }

  deinit {
    unsafe retiredDirectories.forEach { unsafe $0.deallocate() }
    let base = unsafe Self.pointer(directory.load(ordering: .relaxed))
    for index in 0..<(unsafe base.load(as: Int.self)) {
      let address = unsafe Self.word(base + 8 + index * 8).pointee.load(ordering: .relaxed)
      guard let chunk = unsafe UnsafeMutableRawPointer(bitPattern: address) else { continue }
      for page in 0..<Self.pagesPerChunk {
        let entry = unsafe Self.word(chunk + page * Self.entryByteCount).pointee.load(
          ordering: .relaxed
        )
        // A page of the checkpoint's mapping goes with the mapping.
        if entry & 1 == 0, let memory = unsafe UnsafeMutableRawPointer(bitPattern: entry) {
          unsafe memory.deallocate()
        }
      }
      unsafe chunk.deallocate()
    }
    unsafe base.deallocate()
  }
}

// MARK: Reading

extension IndexPages {
  /// The location of a key's newest record, be it visible or not.
  @inline(__always)
  func location(of key: UInt64) -> RecordLocation {
    guard let page = unsafe pageAddress(of: key) else { return .none }
    return RecordLocation(rawValue: unsafe Self.slot(page, key).pointee.load(ordering: .acquiring))
  }

  /// The location of a key's newest record, and the greatest commit in its page.
  @inline(__always)
  func entry(of key: UInt64) -> (location: RecordLocation, newest: UInt64) {
    guard let entry = unsafe pageEntry(of: key) else { return (.none, 0) }
    let address = unsafe Self.word(entry).pointee.load(ordering: .acquiring) & ~1
    guard let page = unsafe UnsafeMutableRawPointer(bitPattern: address) else { return (.none, 0) }
    // The slot first: whatever commit it is from, the page's greatest was stored before it.
    let location = unsafe Self.slot(page, key).pointee.load(ordering: .acquiring)
    let newest = unsafe Self.number(entry + 8).pointee.load(ordering: .acquiring)
    return (RecordLocation(rawValue: location), newest)
  }

  /// The first key at or after `key` that has a slot in use, with its location and its page's
  /// greatest commit; `nil` if there is none before `end`.
  @inline(__always)
  func next(
    from key: UInt64,
    to end: UInt64
  ) -> (key: UInt64, location: RecordLocation, newest: UInt64)? {
    var key = key
    let base = unsafe Self.pointer(directory.load(ordering: .acquiring))
    let capacity = unsafe UInt64(base.load(as: Int.self))
    while key < end {
      let chunkNumber = key / UInt64(Self.keysPerChunk)
      guard chunkNumber < capacity else { return nil }
      let address = unsafe Self.word(base + 8 + Int(chunkNumber) &* 8).pointee.load(
        ordering: .acquiring
      )
      guard let chunk = unsafe UnsafeMutableRawPointer(bitPattern: address) else {
        key = (chunkNumber + 1) * UInt64(Self.keysPerChunk)
        continue
      }
      let pageNumber = Int(key / UInt64(Self.slotsPerPage)) & (Self.pagesPerChunk - 1)
      let entry = unsafe chunk + pageNumber &* Self.entryByteCount
      let pageAddress = unsafe Self.word(entry).pointee.load(ordering: .acquiring) & ~1
      let pageEnd = (key / UInt64(Self.slotsPerPage) + 1) * UInt64(Self.slotsPerPage)
      guard let page = unsafe UnsafeMutableRawPointer(bitPattern: pageAddress) else {
        key = pageEnd
        continue
      }
      let limit = min(pageEnd, end)
      while key < limit {
        let location = unsafe Self.slot(page, key).pointee.load(ordering: .acquiring)
        if location != 0 {
          let newest = unsafe Self.number(entry + 8).pointee.load(ordering: .acquiring)
          return (key, RecordLocation(rawValue: location), newest)
        }
        key &+= 1
      }
    }
    return nil
  }

  /// One more than the greatest key the pages have room for.
  var keyLimit: UInt64 {
    let base = unsafe Self.pointer(directory.load(ordering: .acquiring))
    return unsafe UInt64(base.load(as: Int.self)) * UInt64(Self.keysPerChunk)
  }

  /// The numbers of the pages there are, ascending; page *n* holds the keys from 512 *n* on.
  var pageNumbers: [UInt64] {
    var numbers: [UInt64] = []
    let base = unsafe Self.pointer(directory.load(ordering: .acquiring))
    for chunkNumber in 0..<(unsafe base.load(as: Int.self)) {
      let address = unsafe Self.word(base + 8 + chunkNumber * 8).pointee.load(ordering: .acquiring)
      guard let chunk = unsafe UnsafeMutableRawPointer(bitPattern: address) else { continue }
      for page in 0..<Self.pagesPerChunk
      where unsafe Self.word(chunk + page * Self.entryByteCount).pointee.load(ordering: .acquiring)
        != 0
      {
        numbers.append(UInt64(chunkNumber * Self.pagesPerChunk + page))
      }
    }
    return numbers
  }

  @inline(__always)
  private func pageEntry(of key: UInt64) -> UnsafeMutableRawPointer? {
    let base = unsafe Self.pointer(directory.load(ordering: .acquiring))
    let chunkNumber = key / UInt64(Self.keysPerChunk)
    guard chunkNumber < (unsafe UInt64(base.load(as: Int.self))) else { return nil }
    let address = unsafe Self.word(base + 8 + Int(chunkNumber) &* 8).pointee.load(
      ordering: .acquiring
    )
    guard let chunk = unsafe UnsafeMutableRawPointer(bitPattern: address) else { return nil }
    let pageNumber = Int(key / UInt64(Self.slotsPerPage)) & (Self.pagesPerChunk - 1)
    return unsafe chunk + pageNumber &* Self.entryByteCount
  }

  @inline(__always)
  private func pageAddress(of key: UInt64) -> UnsafeMutableRawPointer? {
    guard let entry = unsafe pageEntry(of: key) else { return nil }
    let address = unsafe Self.word(entry).pointee.load(ordering: .acquiring) & ~1
    return unsafe UnsafeMutableRawPointer(bitPattern: address)
  }
}

// MARK: Writing

extension IndexPages {
  /// Publishes a key's new location; one writer at a time.
  ///
  /// - Parameters:
  ///   - location: Where the newest record stands.
  ///   - key: At most ``maximumKey``.
  ///   - sequence: The commit it belongs to.
  @inline(__always)
  func store(_ location: RecordLocation, for key: UInt64, sequence: UInt64) {
    let entry = unsafe pageEntry(of: key) ?? makeEntry(of: key)
    var address = unsafe Self.word(entry).pointee.load(ordering: .relaxed)
    if address == 0 {
      address = unsafe UInt(bitPattern: Self.zeroed(Self.pageByteCount))
      unsafe Self.word(entry).pointee.store(address, ordering: .releasing)
      byteCount.add(Self.pageByteCount, ordering: .relaxed)
    }
    let newest = unsafe Self.number(entry + 8)
    if unsafe newest.pointee.load(ordering: .relaxed) < sequence {
      unsafe newest.pointee.store(sequence, ordering: .releasing)
    }
    unsafe Self.slot(Self.pointer(address & ~1), key).pointee
      .store(location.rawValue, ordering: .releasing)
  }

  /// Takes a page of a mapped checkpoint as it stands; before anyone reads.
  func adopt(pageAt offset: Int, of mapping: MappedFile, number: UInt64) {
    let entry = unsafe makeEntry(of: number * UInt64(Self.slotsPerPage))
    let address = unsafe UInt(bitPattern: mapping.base + offset)
    unsafe Self.word(entry).pointee.store(address | 1, ordering: .releasing)
    byteCount.add(Self.pageByteCount, ordering: .relaxed)
  }

  /// Keeps a mapping whose pages were adopted.
  func keep(_ mapping: MappedFile) { mappings.append(mapping) }

  /// Copies the slots of a page into a buffer, zeros if there is no such page.
  func appendPage(_ number: UInt64, to buffer: inout ByteBuffer) {
    guard let page = unsafe pageAddress(of: number * UInt64(Self.slotsPerPage)) else {
      return buffer.appendZeros(Self.pageByteCount)
    }
    buffer.reserve(Self.pageByteCount)
    for slot in 0..<UInt64(Self.slotsPerPage) {
      buffer.append(unsafe Self.slot(page, slot).pointee.load(ordering: .acquiring))
    }
  }

  /// Takes a copy of a checkpoint's page; before anyone reads.
  func insert(_ bytes: RawSpan, number: UInt64) {
    let entry = unsafe makeEntry(of: number * UInt64(Self.slotsPerPage))
    let page = unsafe Self.zeroed(Self.pageByteCount)
    unsafe bytes.withUnsafeBytes { source in
      unsafe UnsafeMutableRawBufferPointer(start: page, count: Self.pageByteCount)
        .copyMemory(from: source)
    }
    unsafe Self.word(entry).pointee.store(UInt(bitPattern: page), ordering: .releasing)
    byteCount.add(Self.pageByteCount, ordering: .relaxed)
  }

  /// The entry of a key's page, in a chunk that is made if need be.
  private func makeEntry(of key: UInt64) -> UnsafeMutableRawPointer {
    precondition(key <= Self.maximumKey, "key \(key) is beyond what the index addresses")
    let chunkNumber = Int(key / UInt64(Self.keysPerChunk))
    var base = unsafe Self.pointer(directory.load(ordering: .relaxed))
    let capacity = unsafe base.load(as: Int.self)
    if chunkNumber >= capacity {
      let newCapacity = max(capacity * 2, chunkNumber + 1)
      let bigger = unsafe Self.makeDirectory(capacity: newCapacity)
      unsafe (bigger + 8).copyMemory(from: base + 8, byteCount: capacity * 8)
      unsafe retiredDirectories.append(base)
      unsafe base = bigger
      directory.store(UInt(bitPattern: base), ordering: .releasing)
      byteCount.add(newCapacity * 8, ordering: .relaxed)
    }
    let place = unsafe Self.word(base + 8 + chunkNumber * 8)
    if unsafe place.pointee.load(ordering: .relaxed) == 0 {
      let chunk = unsafe UInt(bitPattern: Self.zeroed(Self.chunkByteCount))
      unsafe place.pointee.store(chunk, ordering: .releasing)
      byteCount.add(Self.chunkByteCount, ordering: .relaxed)
    }
    return unsafe pageEntry(of: key).unsafelyUnwrapped
  }
}

// MARK: Memory

extension IndexPages {
  private static func zeroed(_ byteCount: Int) -> UnsafeMutableRawPointer {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 64)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    return unsafe memory
  }

  private static func makeDirectory(capacity: Int) -> UnsafeMutableRawPointer {
    let base = unsafe zeroed(8 + capacity * 8)
    unsafe base.storeBytes(of: capacity, as: Int.self)
    return unsafe base
  }

  @inline(__always)
  private static func pointer(_ address: UInt) -> UnsafeMutableRawPointer {
    unsafe UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped
  }

  @inline(__always)
  private static func word(_ place: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Atomic<UInt>> {
    unsafe place.assumingMemoryBound(to: Atomic<UInt>.self)
  }

  @inline(__always)
  private static func number(
    _ place: UnsafeMutableRawPointer
  ) -> UnsafeMutablePointer<Atomic<UInt64>> {
    unsafe place.assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  @inline(__always)
  private static func slot(
    _ page: UnsafeMutableRawPointer,
    _ key: UInt64
  ) -> UnsafeMutablePointer<Atomic<UInt64>> {
    let index = Int(truncatingIfNeeded: key) & (slotsPerPage - 1)
    return unsafe (page + index &* 8).assumingMemoryBound(to: Atomic<UInt64>.self)
  }
}
