import LogFormat
import RowFormat
import Synchronization

/// The pages of a mapped checkpoint that were adopted without being checked: each is checked when it is first used.
///
/// To check all pages takes a millisecond for each million keys, and longer if they have to be read from the disk; a program that
/// opens a large store to read a few rows should not wait for it. So a lookup checks the page that it needs, and one more in order:
/// all are checked after as many lookups as there are pages.
///
/// No page is read or written before it was checked. A damaged one is filled from the log, as if there were no checkpoint.
@safe final class UncheckedPages: Sendable {
  private let images: [Checkpoint.PageImage]
  private let table: UInt16
  private let mapping: MappedFile
  /// The offset of the first page in the mapping.
  private let start: Int
  private let checked: CheckedBlocks
  private let uncheckedCount: Atomic<Int>
  /// The page that the next lookup checks beside its own.
  private let next = Atomic<Int>(0)
  private let damage: PageDamage

  /// - Parameters:
  ///   - images: The pages, as they follow each other in the mapping.
  ///   - start: The offset of the first.
  ///   - mapping: The checkpoint.
  ///   - table: The table whose pages they are.
  ///   - damage: What is done about damaged ones.
  init(
    _ images: [Checkpoint.PageImage],
    at start: Int,
    of mapping: MappedFile,
    table: UInt16,
    _ damage: PageDamage
  ) {
    self.images = images
    self.table = table
    self.mapping = mapping
    self.start = start
    self.damage = damage
    checked = CheckedBlocks(images.count)
    uncheckedCount = Atomic(images.count)
  }

  var areAllChecked: Bool { uncheckedCount.load(ordering: .acquiring) == 0 }

  /// Makes sure that a page may be read and written.
  ///
  /// - Parameters:
  ///   - address: The page's address; that of any other page is ignored.
  ///   - replace: Called with the right contents of a damaged page, which it must store.
  func check(pageAt address: UInt, orElse replace: (CopiedPage) -> Void) {
    let first = mapping.addresses.lowerBound + UInt(start)
    guard address >= first else { return }
    let index = Int(address - first) / Checkpoint.pageByteCount
    guard index < images.count, !checked.isChecked(index), let problem = problem(of: index)
    else { return }
    damage.mend(
      page: images[index].number,
      ofTable: table,
      at: start + index * Checkpoint.pageByteCount,
      problem,
      unless: { checked.isChecked(index) }
    ) { page in
      replace(page)
      record(index)
    }
  }

  /// Checks the next page in order.
  func checkNext() {
    guard next.load(ordering: .relaxed) < images.count else { return }
    let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
    // Damage waits for the lookup that needs the page.
    if index < images.count, !checked.isChecked(index) { _ = problem(of: index) }
  }

  /// Compares the checksum of a page.
  ///
  /// - Returns: `nil` if it is right, or was when another thread compared it.
  private func problem(of index: Int) -> Corruption.Problem? {
    let offset = start + index * Checkpoint.pageByteCount
    // What is checked is what is read from then on, and written into later checkpoints.
    mapping.detach(offset..<(offset + Checkpoint.pageByteCount))
    let found = mapping.withBytes { bytes in
      CRC32C.extend(0, over: bytes.extracting(offset..<(offset + Checkpoint.pageByteCount)))
    }
    let expected = images[index].checksum
    if found == expected {
      record(index)
      return nil
    }
    // A page is changed only after it was recorded as checked.
    atomicMemoryFence(ordering: .acquiring)
    if checked.isChecked(index) { return nil }
    return .checksumMismatch(of: .checkpoint, expected: expected, found: found)
  }

  private func record(_ index: Int) {
    if checked.record(index) { uncheckedCount.subtract(1, ordering: .acquiringAndReleasing) }
  }
}
