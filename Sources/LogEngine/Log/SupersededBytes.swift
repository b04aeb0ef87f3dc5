/// How many bytes of each segment a commit makes dead.
struct SupersededBytes {
  private(set) var bySegment: [SegmentID: Int] = [:]

  mutating func add(_ byteCount: Int, in segment: SegmentID) {
    bySegment[segment, default: 0] += byteCount
  }

  mutating func removeAll() { bySegment.removeAll(keepingCapacity: true) }
}
