import Synchronization

/// Detects sequential reads of a pack's blocks or a segment's pages, and returns the bytes to fetch meanwhile.
///
/// A scan need not be announced: a few blocks read in order count as one, whether by columns, by rows, by a compaction or by a
/// verification. A scan may skip some blocks. Threads that scan at the same time look like jumps to each other; they then read
/// without hints, like single reads.
package struct ReadAhead: ~Copyable {
  private let newest = Atomic(-1)
  /// The number of blocks read in a row.
  private let length = Atomic(0)
  /// The end of the bytes requested so far.
  private let end = Atomic(0)

  /// The minimum number of blocks in a row that count as a scan.
  package static let leastLength = 4
  /// The maximum number of blocks that a scan may skip.
  package static let greatestGap = 16
  /// The number of bytes requested at a time: some milliseconds of a disk's work, and little waste if they are not needed.
  package static let byteCount = 4 << 20

  package init() {}

  /// Records that a block is read.
  ///
  /// - Parameters:
  ///   - block: The block's number.
  ///   - offset: The block's offset in the file.
  ///   - limit: The end of the blocks.
  /// - Returns: The bytes to request now; mostly `nil`.
  @inline(__always)
  package func next(_ block: Int, at offset: Int, limit: Int) -> Range<Int>? {
    let last = newest.load(ordering: .relaxed)
    return block == last ? nil : step(from: last, to: block, at: offset, limit: limit)
  }

  private func step(from last: Int, to block: Int, at offset: Int, limit: Int) -> Range<Int>? {
    newest.store(block, ordering: .relaxed)
    guard block > last, block - last <= Self.greatestGap else {
      length.store(1, ordering: .relaxed)
      end.store(0, ordering: .relaxed)
      return nil
    }
    let length = self.length.load(ordering: .relaxed) + 1
    self.length.store(length, ordering: .relaxed)
    guard length >= Self.leastLength else { return nil }
    let start = max(offset, end.load(ordering: .relaxed))
    // Requested in advance: when half of the previous range is left.
    guard start < limit, start - offset <= Self.byteCount / 2 else { return nil }
    let end = min(limit, start + Self.byteCount)
    self.end.store(end, ordering: .relaxed)
    return start..<end
  }
}
