import Synchronization

/// Notices that the blocks of a pack are read one after the other, or the pages of a segment, and says what to fetch meanwhile.
///
/// A scan need not be announced: a few blocks read in their order are one, whether by columns, by rows, by a
/// compaction or by a verification. A scan may leave out some blocks and still go on. Threads that scan at the
/// same time take each other for jumps; they then read without hints, as single reads do.
package struct ReadAhead: ~Copyable {
  private let newest = Atomic(-1)
  /// How many blocks were read in a row.
  private let length = Atomic(0)
  /// Up to where bytes were asked for.
  private let end = Atomic(0)

  /// How many blocks make a scan.
  package static let leastLength = 4
  /// How many blocks a scan may leave out.
  package static let greatestGap = 16
  /// How many bytes are asked for at a time: some milliseconds of a disk's work, and little to have read in
  /// vain.
  package static let byteCount = 4 << 20

  package init() {}

  /// Takes down that a block is read.
  ///
  /// - Parameters:
  ///   - block: Its number.
  ///   - offset: Its offset in the file.
  ///   - limit: The end of the blocks.
  /// - Returns: The bytes to ask for now; `nil` mostly.
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
    // Asked for in good time: when half of it is left.
    guard start < limit, start - offset <= Self.byteCount / 2 else { return nil }
    let end = min(limit, start + Self.byteCount)
    self.end.store(end, ordering: .relaxed)
    return start..<end
  }
}
