import Locking
import LogFormat
import RowFormat
import Synchronization

/// The location of each key of a table: dense pages of eight-byte slots, addressed by the key itself.
///
/// Keys are reserved in order, so there is nothing to hash and no key to store. Three steps lead to a slot: the directory (a
/// growing table of chunks), the chunk (1,024 pages and their greatest commit), the page (512 slots, 4,096 bytes). One thread
/// at a time writes; any number of threads read without a lock: a slot is published by one release store.
///
/// The greatest commit of a page is stored before the slot. If a reader finds it no newer than its own state, every slot of the
/// page is visible to it; otherwise it asks the record.
///
/// Keys are not used again, so a queue leaves pages behind whose rows have all ended. The first scan that finds such a page marks
/// it with its greatest commit, and the next ones pass over it, as long as that is still its greatest: a row that is inserted
/// afterwards belongs to a later commit.
///
/// A lookup that misses the caches overlaps with the next ones only as far as the processor sees ahead, so each instruction on
/// the way counts. Hence a struct that is part of its table; and a missing chunk or page is an empty one, so that no check is
/// needed.
///
/// Pages of a checkpoint may have to be checked first (``UncheckedPages``). Until all are, readers are shown a directory without
/// room for any key: each of them takes the way of keys that are beyond the directory, where pages are checked.
@safe package struct IndexPages: ~Copyable, Sendable {
  /// The address of the directory: its capacity, then that many addresses of chunks.
  private let directory: Atomic<UInt>
  /// The address of the directory that readers are shown: the same, or one without room while pages have to be checked.
  private let shown: Atomic<UInt>
  /// The address of the retained ``UncheckedPages``, or 0.
  private let unchecked = Atomic<UInt>(0)
  private let kept = Lock(Kept(), .indexPages)
  /// The size of the pages, chunks and directories, in bytes.
  let byteCount = Atomic<Int>(0)

  static var slotsPerPage: Int { Checkpoint.slotsPerPage }
  static var pageByteCount: Int { Checkpoint.pageByteCount }
  static let pagesPerChunk = 1024
  static var keysPerChunk: Int { slotsPerPage * pagesPerChunk }
  static var maximumKey: UInt64 { RowReference.maximumStoredKey }

  /// A chunk is a table of entries, each the address of a page and its greatest commit; behind them are the marks of the pages.
  private static let entryByteCount = 16
  private static let chunkByteCount = pagesPerChunk * (entryByteCount + 8)
  /// The mark of a page of which nothing may be concluded from its greatest commit.
  private static let neverEnded = UInt64.max

  private struct Kept {
    /// The addresses of outgrown directories.
    var directories: [UInt] = []
    /// Memory that is not freed page by page: the mapped checkpoint.
    var mapping: MappedFile?
  }

  /// A page of unused keys, which all tables share and which is never written.
  private static let emptyPage = UInt(bitPattern: unsafe zeroed(pageByteCount))
  /// A chunk of such pages.
  private static let emptyChunk = UInt(bitPattern: unsafe makeChunk())
  /// A directory without room.
  private static let noDirectory = UInt(bitPattern: unsafe makeDirectory(capacity: 0))

  init() {
    let first = unsafe Self.makeDirectory(capacity: 8)
    directory = Atomic(UInt(bitPattern: first))
    shown = Atomic(UInt(bitPattern: first))
    byteCount.add(8 + 64, ordering: .relaxed)
  }

  deinit {
    let (directories, mapping) = kept.withLock { ($0.directories, $0.mapping) }
    for address in directories { unsafe Self.pointer(address).deallocate() }
    // The pages of the checkpoint are freed with their mapping.
    let mapped = mapping?.addresses ?? 0..<0
    let base = unsafe Self.pointer(directory.load(ordering: .relaxed))
    for index in 0..<(unsafe base.load(as: Int.self)) {
      let address = unsafe Self.word(base + 8 + index * 8).pointee.load(ordering: .relaxed)
      if address == Self.emptyChunk { continue }
      let chunk = unsafe Self.pointer(address)
      for number in 0..<Self.pagesPerChunk {
        let page = unsafe Self.word(chunk + number * Self.entryByteCount).pointee.load(
          ordering: .relaxed
        )
        if page != Self.emptyPage, !mapped.contains(page) {
          unsafe Self.pointer(page).deallocate()
        }
      }
      unsafe chunk.deallocate()
    }
    unsafe base.deallocate()
    if let unchecked = unsafe uncheckedReference { unsafe unchecked.release() }
  }
}

// MARK: Reading

extension IndexPages {
  /// Returns the location of a key's newest record, whether visible or not.
  @inline(__always)
  package func location(of key: UInt64) -> RecordLocation {
    guard let entry = unsafe entry(at: key) else { return .none }
    let page = unsafe Self.pointer(Self.word(entry).pointee.load(ordering: .acquiring))
    return RecordLocation(rawValue: unsafe Self.slot(page, key).pointee.load(ordering: .acquiring))
  }

  /// Returns the location of a key's newest record, and the greatest commit in its page.
  @inline(__always)
  func entry(of key: UInt64) -> (location: RecordLocation, newest: UInt64) {
    guard let entry = unsafe entry(at: key) else { return (.none, 0) }
    let page = unsafe Self.pointer(Self.word(entry).pointee.load(ordering: .acquiring))
    // The slot is read first: whatever commit it is from, the page's greatest was stored before it.
    let location = unsafe Self.slot(page, key).pointee.load(ordering: .acquiring)
    let newest = unsafe Self.number(entry + 8).pointee.load(ordering: .acquiring)
    return (RecordLocation(rawValue: location), newest)
  }

  /// Finds the next slot that tells a reader more than that there is no row.
  ///
  /// - Parameters:
  ///   - key: The first key to look at.
  ///   - end: The key after the last one.
  ///   - sequence: The reader's commit. Without one, each slot in use counts, also of a row that has ended.
  /// - Returns: The slot's key, its location, and the greatest commit of its page; `nil` if there is none before `end`.
  /// - Complexity: O(1) for each page whose rows have all ended, once a scan has passed through it; O(keys) for the other pages.
  @inline(__always)
  package func next(
    from key: UInt64,
    to end: UInt64,
    asOf sequence: UInt64? = nil
  ) -> (key: UInt64, location: RecordLocation, newest: UInt64)? {
    var key = key
    while key < end {
      guard let chunk = unsafe chunk(of: key) else { return nil }
      if UInt(bitPattern: chunk) == Self.emptyChunk {
        key = (key / UInt64(Self.keysPerChunk) + 1) * UInt64(Self.keysPerChunk)
        continue
      }
      let entry = unsafe Self.entry(in: chunk, of: key)
      let address = unsafe Self.word(entry).pointee.load(ordering: .acquiring)
      let pageEnd = (key / UInt64(Self.slotsPerPage) + 1) * UInt64(Self.slotsPerPage)
      if address == Self.emptyPage {
        key = pageEnd
        continue
      }
      let limit = min(pageEnd, end)
      // A scan that has met a row of a page has nothing to ask or to say about the page as a whole.
      let isWhole = sequence != nil && key % UInt64(Self.slotsPerPage) == 0 && limit == pageEnd
      if isWhole, let sequence, unsafe hasEnded(entry, Self.mark(in: chunk, of: key), sequence) {
        key = pageEnd
        continue
      }
      let before = unsafe Self.number(entry + 8).pointee.load(ordering: .acquiring)
      let page = unsafe Self.pointer(address)
      while key < limit {
        let location = unsafe Self.slot(page, key).pointee.load(ordering: .acquiring)
        if location != 0 {
          let newest = unsafe Self.number(entry + 8).pointee.load(ordering: .acquiring)
          let found = RecordLocation(rawValue: location)
          let isNews = if let sequence { newest > sequence } else { true }
          if found.isRow || isNews { return (key, found, newest) }
        }
        key &+= 1
      }
      if isWhole, let sequence {
        unsafe noteEnd(entry, Self.mark(in: chunk, of: pageEnd - 1), before, sequence)
      }
    }
    return nil
  }

  /// Marks a page in whose slots a reader has found no row.
  ///
  /// - Parameters:
  ///   - entry: The entry of the page.
  ///   - mark: Its mark.
  ///   - newest: The page's greatest commit, as it was before or after the slots were read.
  ///   - sequence: The reader's commit.
  private func noteEnd(
    _ entry: UnsafeMutableRawPointer,
    _ mark: UnsafeMutablePointer<Atomic<UInt64>>,
    _ newest: UInt64,
    _ sequence: UInt64
  ) {
    // If it is the same now, the slots were in their state as of that commit, all of which is visible.
    let known = unsafe mark.pointee.load(ordering: .acquiring)
    guard known != Self.neverEnded, newest <= sequence,
      unsafe Self.number(entry + 8).pointee.load(ordering: .acquiring) == newest
    else { return }
    _ = unsafe mark.pointee.compareExchange(
      expected: known,
      desired: newest &+ 1,
      ordering: .acquiringAndReleasing
    )
  }

  /// Marks a page in whose copied slots a reader has found no row.
  ///
  /// - Parameters:
  ///   - number: The page.
  ///   - newest: The page's greatest commit, as it was after the slots were read: a slot of a later commit was not among them, and
  ///     commits that the reader sees have stored all of theirs.
  ///   - sequence: The reader's commit.
  func noteEnd(ofPage number: UInt64, newest: UInt64, asOf sequence: UInt64) {
    let key = number &* UInt64(Self.slotsPerPage)
    guard let chunk = unsafe chunk(of: key), UInt(bitPattern: chunk) != Self.emptyChunk else {
      return
    }
    unsafe noteEnd(Self.entry(in: chunk, of: key), Self.mark(in: chunk, of: key), newest, sequence)
  }

  /// Whether scans of a commit pass over a page; for tests.
  package func isPassedOver(page number: UInt64, asOf sequence: UInt64) -> Bool {
    let key = number &* UInt64(Self.slotsPerPage)
    guard let chunk = unsafe chunk(of: key), UInt(bitPattern: chunk) != Self.emptyChunk else {
      return true
    }
    return unsafe hasEnded(Self.entry(in: chunk, of: key), Self.mark(in: chunk, of: key), sequence)
  }

  /// Whether all rows of a page are known to have ended by a commit.
  @inline(__always)
  private func hasEnded(
    _ entry: UnsafeMutableRawPointer,
    _ mark: UnsafeMutablePointer<Atomic<UInt64>>,
    _ sequence: UInt64
  ) -> Bool {
    let newest = unsafe Self.number(entry + 8).pointee.load(ordering: .acquiring)
    return unsafe newest <= sequence && mark.pointee.load(ordering: .acquiring) == newest &+ 1
  }

  /// One more than the greatest key that the pages have room for.
  package var keyLimit: UInt64 {
    let base = unsafe Self.pointer(directory.load(ordering: .acquiring))
    return unsafe UInt64(base.load(as: Int.self)) * UInt64(Self.keysPerChunk)
  }

  /// The numbers of the existing pages, ascending; page *n* holds the keys from 512 *n* on.
  var pageNumbers: [UInt64] {
    var numbers: [UInt64] = []
    let base = unsafe Self.pointer(directory.load(ordering: .acquiring))
    for chunkNumber in 0..<(unsafe base.load(as: Int.self)) {
      let address = unsafe Self.word(base + 8 + chunkNumber * 8).pointee.load(ordering: .acquiring)
      if address == Self.emptyChunk { continue }
      let chunk = unsafe Self.pointer(address)
      for page in 0..<Self.pagesPerChunk
      where unsafe Self.word(chunk + page * Self.entryByteCount).pointee.load(ordering: .acquiring)
        != Self.emptyPage
      {
        numbers.append(UInt64(chunkNumber * Self.pagesPerChunk + page))
      }
    }
    return numbers
  }

  /// Finds the next existing page, except for those whose rows are known to have ended by a commit.
  ///
  /// - Parameters:
  ///   - number: The first page to look at.
  ///   - end: The page after the last one.
  ///   - sequence: The reader's commit.
  /// - Returns: The page's number; `nil` if there is none before `end`.
  func nextPage(from number: UInt64, to end: UInt64, asOf sequence: UInt64) -> UInt64? {
    var number = number
    while number < end, let chunk = unsafe chunk(of: number &* UInt64(Self.slotsPerPage)) {
      let chunkEnd = (number / UInt64(Self.pagesPerChunk) + 1) * UInt64(Self.pagesPerChunk)
      if UInt(bitPattern: chunk) == Self.emptyChunk {
        number = chunkEnd
        continue
      }
      while number < min(chunkEnd, end) {
        let key = number &* UInt64(Self.slotsPerPage)
        let entry = unsafe Self.entry(in: chunk, of: key)
        if unsafe Self.word(entry).pointee.load(ordering: .acquiring) != Self.emptyPage,
          unsafe !hasEnded(entry, Self.mark(in: chunk, of: key), sequence)
        {
          return number
        }
        number += 1
      }
    }
    return nil
  }

  /// Visits the slots that name a record at or after a place in the log, by ascending key.
  ///
  /// - Parameters:
  ///   - place: The place.
  ///   - sequence: The last commit before it: pages without later ones are skipped.
  ///   - body: Called with each slot's key and location.
  func forEachSlot(
    from place: RecordPlace,
    after sequence: UInt64,
    _ body: (UInt64, RecordLocation) -> Void
  ) {
    let first = place.rawValue << 10
    let base = unsafe Self.pointer(directory.load(ordering: .acquiring))
    for chunkNumber in 0..<(unsafe base.load(as: Int.self)) {
      let address = unsafe Self.word(base + 8 + chunkNumber * 8).pointee.load(ordering: .acquiring)
      if address == Self.emptyChunk { continue }
      for number in 0..<Self.pagesPerChunk {
        let entry = unsafe Self.pointer(address) + number * Self.entryByteCount
        let page = unsafe Self.word(entry).pointee.load(ordering: .acquiring)
        if page == Self.emptyPage { continue }
        if unsafe Self.number(entry + 8).pointee.load(ordering: .acquiring) <= sequence { continue }
        unsafe check(entry)
        let key = UInt64((chunkNumber * Self.pagesPerChunk + number) * Self.slotsPerPage)
        for index in 0..<UInt64(Self.slotsPerPage) {
          let slot = unsafe Self.slot(Self.pointer(page), index).pointee.load(ordering: .acquiring)
          if slot >= first, slot & 1 == 0 { body(key + index, RecordLocation(rawValue: slot)) }
        }
      }
    }
  }

  /// Copies the slots of a page.
  ///
  /// - Returns: The page's greatest commit, no older than any of the slots; `nil` if there is no such page.
  func copyPage(_ number: UInt64, into slots: inout [UInt64]) -> UInt64? {
    guard let entry = unsafe entry(at: number &* UInt64(Self.slotsPerPage)) else { return nil }
    let address = unsafe Self.word(entry).pointee.load(ordering: .acquiring)
    if address == Self.emptyPage { return nil }
    let page = unsafe Self.pointer(address)
    if slots.count != Self.slotsPerPage { slots = Array(repeating: 0, count: Self.slotsPerPage) }
    unsafe slots.withUnsafeMutableBufferPointer { slots in
      for index in 0..<Self.slotsPerPage {
        unsafe slots[index] = Self.slot(page, UInt64(index)).pointee.load(ordering: .acquiring)
      }
    }
    return unsafe Self.number(entry + 8).pointee.load(ordering: .acquiring)
  }

  /// Returns the chunk of a key, which may be the empty one; `nil` beyond the directory.
  ///
  /// The key's page, and no other, may be read and written then.
  @inline(__always)
  private func chunk(of key: UInt64) -> UnsafeMutableRawPointer? {
    let base = unsafe Self.pointer(shown.load(ordering: .acquiring))
    guard let place = unsafe Self.place(ofChunkWith: key, in: base) else {
      return unsafe hiddenChunk(of: key)
    }
    return unsafe Self.pointer(Self.word(place).pointee.load(ordering: .acquiring))
  }

  /// Returns the address in a directory at which the address of a key's chunk is.
  @inline(__always)
  private static func place(
    ofChunkWith key: UInt64,
    in directory: UnsafeMutableRawPointer
  ) -> UnsafeMutableRawPointer? {
    let number = key / UInt64(keysPerChunk)
    guard number < (unsafe directory.load(as: UInt64.self)) else { return nil }
    return unsafe directory + 8 + Int(truncatingIfNeeded: number) &* 8
  }

  /// Returns the entry of a key's page, which may be the empty one; `nil` beyond the directory.
  @inline(__always)
  private func entry(at key: UInt64) -> UnsafeMutableRawPointer? {
    guard let chunk = unsafe chunk(of: key) else { return nil }
    return unsafe Self.entry(in: chunk, of: key)
  }

  @inline(__always)
  private static func entry(
    in chunk: UnsafeMutableRawPointer,
    of key: UInt64
  ) -> UnsafeMutableRawPointer {
    let number = Int(truncatingIfNeeded: key / UInt64(slotsPerPage)) & (pagesPerChunk - 1)
    return unsafe chunk + number &* entryByteCount
  }

  /// Returns the mark of a key's page: one more than the page's greatest commit by which all its rows had ended, or zero.
  @inline(__always)
  private static func mark(
    in chunk: UnsafeMutableRawPointer,
    of key: UInt64
  ) -> UnsafeMutablePointer<Atomic<UInt64>> {
    let place = Int(truncatingIfNeeded: key / UInt64(slotsPerPage)) & (pagesPerChunk - 1)
    return unsafe number(chunk + pagesPerChunk &* entryByteCount + place &* 8)
  }
}

// MARK: Writing

extension IndexPages {
  /// Publishes a key's new location; called by one writer at a time.
  ///
  /// - Parameters:
  ///   - location: The location of the newest record.
  ///   - key: At most ``maximumKey``.
  ///   - sequence: The commit it belongs to; zero if the record was moved, and says what it said before.
  @inline(__always)
  package func store(_ location: RecordLocation, for key: UInt64, sequence: UInt64) {
    let entry = unsafe ownEntry(of: key)
    var address = unsafe Self.word(entry).pointee.load(ordering: .relaxed)
    if address == Self.emptyPage {
      address = unsafe UInt(bitPattern: Self.zeroed(Self.pageByteCount))
      unsafe install(address, in: entry)
    }
    let newest = unsafe Self.number(entry + 8)
    if unsafe newest.pointee.load(ordering: .relaxed) < sequence {
      unsafe newest.pointee.store(sequence, ordering: .releasing)
    } else if sequence == 0 {
      unsafe keepMark(of: key, Self.pointer(address), location)
    }
    unsafe Self.slot(Self.pointer(address), key).pointee
      .store(location.rawValue, ordering: .releasing)
  }

  /// Takes the mark off a page for good if a moved record is a row where there was none.
  private func keepMark(
    of key: UInt64,
    _ page: UnsafeMutableRawPointer,
    _ location: RecordLocation
  ) {
    let former = unsafe Self.slot(page, key).pointee.load(ordering: .relaxed)
    guard location.isRow, !RecordLocation(rawValue: former).isRow, let chunk = unsafe chunk(of: key)
    else { return }
    unsafe Self.mark(in: chunk, of: key).pointee.store(Self.neverEnded, ordering: .releasing)
  }

  /// Inserts a copy of a checkpoint's page; called before any read.
  func insert(_ bytes: RawSpan, number: UInt64, sequence: UInt64) {
    let page = unsafe Self.zeroed(Self.pageByteCount)
    unsafe bytes.withUnsafeBytes { source in
      unsafe UnsafeMutableRawBufferPointer(start: page, count: Self.pageByteCount)
        .copyMemory(from: source)
    }
    let entry = unsafe ownEntry(of: number * UInt64(Self.slotsPerPage))
    unsafe Self.number(entry + 8).pointee.store(sequence, ordering: .releasing)
    unsafe install(UInt(bitPattern: page), in: entry)
  }

  /// Appends the slots of a page to a buffer, or zeros if there is no such page.
  func appendPage(_ number: UInt64, to buffer: inout ByteBuffer) {
    guard let entry = unsafe entry(at: number * UInt64(Self.slotsPerPage)) else {
      return buffer.appendZeros(Self.pageByteCount)
    }
    let page = unsafe Self.pointer(Self.word(entry).pointee.load(ordering: .acquiring))
    buffer.reserve(Self.pageByteCount)
    for slot in 0..<UInt64(Self.slotsPerPage) {
      buffer.append(unsafe Self.slot(page, slot).pointee.load(ordering: .acquiring))
    }
  }

  private func install(_ page: UInt, in entry: UnsafeMutableRawPointer) {
    unsafe Self.word(entry).pointee.store(page, ordering: .releasing)
    byteCount.add(Self.pageByteCount, ordering: .relaxed)
  }

  /// Returns the entry of a key's page, in a chunk that is created if needed.
  @inline(__always)
  private func ownEntry(of key: UInt64) -> UnsafeMutableRawPointer {
    guard let chunk = unsafe chunk(of: key), UInt(bitPattern: chunk) != Self.emptyChunk
    else {
      return unsafe makeEntry(of: key)
    }
    return unsafe Self.entry(in: chunk, of: key)
  }

  private func makeEntry(of key: UInt64) -> UnsafeMutableRawPointer {
    precondition(key <= Self.maximumKey, "key \(key) is beyond what the index addresses")
    let chunkNumber = Int(key / UInt64(Self.keysPerChunk))
    var base = unsafe Self.pointer(directory.load(ordering: .relaxed))
    let capacity = unsafe base.load(as: Int.self)
    if chunkNumber >= capacity {
      let newCapacity = max(capacity * 2, chunkNumber + 1)
      let bigger = unsafe Self.makeDirectory(capacity: newCapacity)
      unsafe (bigger + 8).copyMemory(from: base + 8, byteCount: capacity * 8)
      let address = UInt(bitPattern: base)
      kept.withLock { $0.directories.append(address) }
      unsafe base = bigger
      directory.store(UInt(bitPattern: base), ordering: .sequentiallyConsistent)
      if shown.load(ordering: .sequentiallyConsistent) != Self.noDirectory { showDirectory() }
      byteCount.add(newCapacity * 8, ordering: .relaxed)
    }
    let chunk = unsafe Self.makeChunk()
    unsafe Self.word(base + 8 + chunkNumber * 8).pointee
      .store(UInt(bitPattern: chunk), ordering: .releasing)
    byteCount.add(Self.chunkByteCount, ordering: .relaxed)
    return unsafe Self.entry(in: chunk, of: key)
  }
}

// MARK: The checkpoint

extension IndexPages {
  /// Adopts the pages of a mapped checkpoint in place; called once, before any read.
  ///
  /// - Parameters:
  ///   - images: The pages, as they follow each other in the mapping.
  ///   - start: The offset of the first.
  ///   - mapping: The checkpoint.
  ///   - sequence: The checkpoint's commit, which may be the last to change the pages.
  ///   - unchecked: Checks each page when it is first used; `nil` if all were checked.
  func adopt(
    _ images: [Checkpoint.PageImage],
    at start: Int,
    of mapping: MappedFile,
    sequence: UInt64,
    _ unchecked: UncheckedPages?
  ) {
    kept.withLock { $0.mapping = mapping }
    var address = mapping.addresses.lowerBound + UInt(start)
    for image in images {
      let entry = unsafe ownEntry(of: image.number * UInt64(Self.slotsPerPage))
      unsafe Self.number(entry + 8).pointee.store(sequence, ordering: .releasing)
      unsafe install(address, in: entry)
      address += UInt(Self.pageByteCount)
    }
    guard let unchecked else { return }
    let reference = unsafe Unmanaged.passRetained(unchecked).toOpaque()
    self.unchecked.store(UInt(bitPattern: reference), ordering: .releasing)
    shown.store(Self.noDirectory, ordering: .releasing)
  }

  private var uncheckedReference: Unmanaged<UncheckedPages>? {
    let address = unchecked.load(ordering: .acquiring)
    return unsafe UnsafeRawPointer(bitPattern: address).map { unsafe Unmanaged.fromOpaque($0) }
  }

  /// Returns the chunk of a key which the directory that is shown has no room for: that of a key beyond the directory, or of any
  /// key as long as there are pages to be checked.
  ///
  /// Checks the page of the key, and one more.
  @inline(never)
  private func hiddenChunk(of key: UInt64) -> UnsafeMutableRawPointer? {
    let base = unsafe Self.pointer(directory.load(ordering: .acquiring))
    guard let place = unsafe Self.place(ofChunkWith: key, in: base) else { return nil }
    let chunk = unsafe Self.pointer(Self.word(place).pointee.load(ordering: .acquiring))
    guard UInt(bitPattern: chunk) != Self.emptyChunk else { return unsafe chunk }
    unsafe check(Self.entry(in: chunk, of: key))
    unsafe uncheckedReference?._withUnsafeGuaranteedRef { unchecked in
      unchecked.checkNext()
      if unchecked.areAllChecked { showDirectory() }
    }
    return unsafe chunk
  }

  /// Checks the page of an entry, unless it was checked before.
  private func check(_ entry: UnsafeMutableRawPointer) {
    unsafe uncheckedReference?._withUnsafeGuaranteedRef { unchecked in
      let address = unsafe Self.word(entry).pointee.load(ordering: .acquiring)
      unchecked.check(pageAt: address) { page in
        // As with any change, the greatest commit comes before the slots.
        let newest = unsafe Self.number(entry + 8)
        let known = unsafe newest.pointee.load(ordering: .relaxed)
        unsafe newest.pointee.store(max(known, page.newest), ordering: .releasing)
        for index in 0..<Self.slotsPerPage {
          unsafe Self.slot(Self.pointer(address), UInt64(index)).pointee
            .store(page.slots[index], ordering: .releasing)
        }
      }
    }
  }

  /// Shows readers the directory.
  ///
  /// A writer may replace it with a bigger one meanwhile.
  private func showDirectory() {
    while true {
      let newest = directory.load(ordering: .sequentiallyConsistent)
      shown.store(newest, ordering: .sequentiallyConsistent)
      if directory.load(ordering: .sequentiallyConsistent) == newest { return }
    }
  }
}

// MARK: Memory

extension IndexPages {
  private static func zeroed(_ byteCount: Int) -> UnsafeMutableRawPointer {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    return unsafe memory
  }

  private static func makeDirectory(capacity: Int) -> UnsafeMutableRawPointer {
    let base = unsafe zeroed(8 + capacity * 8)
    unsafe base.storeBytes(of: capacity, as: Int.self)
    unsafe (base + 8).initializeMemory(as: UInt.self, repeating: emptyChunk, count: capacity)
    return unsafe base
  }

  private static func makeChunk() -> UnsafeMutableRawPointer {
    let chunk = unsafe zeroed(chunkByteCount)
    for page in 0..<pagesPerChunk {
      unsafe chunk.storeBytes(of: emptyPage, toByteOffset: page * entryByteCount, as: UInt.self)
    }
    return unsafe chunk
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
