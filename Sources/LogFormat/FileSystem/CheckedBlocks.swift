import Synchronization

/// The blocks of a mapped file that were checked: a bit for each.
///
/// Two threads may check one block at once, which costs nothing but time.
@safe package final class CheckedBlocks: @unchecked Sendable {
  private let words: UnsafeMutablePointer<Atomic<UInt64>>
  private let wordCount: Int

  package init(_ count: Int) {
    wordCount = (count + 63) / 64
    unsafe words = .allocate(capacity: wordCount)
    for word in 0..<wordCount { unsafe (words + word).initialize(to: Atomic(0)) }
  }

  deinit {
    unsafe words.deinitialize(count: wordCount)
    unsafe words.deallocate()
  }

  package func isChecked(_ index: Int) -> Bool {
    unsafe words[index / 64].load(ordering: .acquiring) & 1 << UInt64(index % 64) != 0
  }

  /// Records that a block was checked.
  ///
  /// - Returns: Whether it was not recorded before.
  @discardableResult
  package func record(_ index: Int) -> Bool {
    let bit = 1 << UInt64(index % 64) as UInt64
    let before = unsafe words[index / 64].bitwiseOr(bit, ordering: .acquiringAndReleasing).oldValue
    return before & bit == 0
  }
}
