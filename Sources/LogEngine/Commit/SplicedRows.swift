import RowFormat

/// The rows that a batch's splices of lists lead to, whole.
///
/// A splice says nothing without the list that it was made from, and a compaction that follows another commit may leave
/// nobody who has that list. The rows take the memory that the batch saves by splices.
struct SplicedRows: ~Copyable {
  private var ranges = RecordMap<Range<Int>>()
  private var bytes = ByteBuffer(capacity: 64)

  /// Lends the row of the record that starts at an offset.
  ///
  /// - Returns: `false` if the record has no splice.
  func withRow(of place: Int, _ body: (RawSpan) -> Void) -> Bool {
    guard let range = ranges[place] else { return false }
    body(bytes.bytes.extracting(range))
    return true
  }

  mutating func append(_ row: RawSpan, at place: Int) {
    ranges.append(bytes.count..<(bytes.count + row.byteCount), at: place)
    bytes.append(row)
  }

  mutating func removeAll() {
    ranges.removeAll()
    // Most batches have no spliced lists, and a batch may live as long as its store.
    if bytes.count > 0 { bytes = ByteBuffer(capacity: 64) }
  }
}
