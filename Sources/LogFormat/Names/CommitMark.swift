/// The identity of a commit, different from that of any other commit with its number: in a copy of the store that continued
/// separately, or after the store was restored to an earlier state.
package struct CommitMark: Hashable, Sendable {
  /// 2^32 and the header checksum of the frame that completes the commit; for the last commit before the beginning of the log,
  /// 2^33 and the checksum of the last frame there.
  package let value: UInt64
  /// The segment of that frame; none for a commit before the beginning of the log.
  package let segment: SegmentID
  /// The frame's offset in it.
  package let offset: Int

  package init(value: UInt64, segment: SegmentID, offset: Int) {
    self.value = value
    self.segment = segment
    self.offset = offset
  }

  /// The mark of a commit in the log.
  package init(frame checksum: UInt32, in segment: SegmentID, at offset: Int) {
    self.init(value: 1 << 32 | UInt64(checksum), segment: segment, offset: offset)
  }

  /// The mark of the last commit before the beginning of the log.
  package init(base chain: UInt32) {
    self.init(value: 2 << 32 | UInt64(chain), segment: .none, offset: 0)
  }
}
