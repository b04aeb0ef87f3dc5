import LogFormat

/// Notices that rows of a segment are read about in the order in which they are in it, and says what to fetch meanwhile.
struct SegmentReadAhead {
  private var segment = SegmentID.none
  private var offset = 0
  /// How many rows were read in a row.
  private var length = 0
  /// Up to where bytes were asked for.
  private var end = 0

  /// How many rows make a run.
  static let leastLength = 4
  /// How many bytes a run may leave out.
  static let greatestGap = 64 << 10
  /// How many bytes are asked for at a time.
  static let byteCount = 1 << 20

  /// Takes down that a row is read.
  ///
  /// - Parameter place: Where it is, in a segment.
  /// - Returns: The bytes to ask for now; `nil` mostly.
  mutating func next(_ place: RecordPlace) -> Range<Int>? {
    let (last, lastSegment) = (offset, segment)
    segment = place.segment
    offset = place.offset
    guard segment == lastSegment, offset >= last, offset - last <= Self.greatestGap else {
      length = 1
      end = 0
      return nil
    }
    length += 1
    guard length >= Self.leastLength else { return nil }
    let start = max(offset, end)
    // Asked for in good time: when half of it is left.
    guard start - offset <= Self.byteCount / 2 else { return nil }
    end = start + Self.byteCount
    return start..<end
  }
}
