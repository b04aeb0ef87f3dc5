/// The rows of a run that newer runs have, too, and what they add up to: what the run says of them is out of date.
struct HiddenRows: Sendable {
  /// A bit for each row; empty as long as none is hidden.
  private var bits: [UInt64] = []
  /// Number of their texts that have words.
  private(set) var textCount = 0
  /// Number of words of their texts together.
  private(set) var length = 0

  /// Whether there are none.
  var isEmpty: Bool { bits.isEmpty }

  func contains(_ row: Int) -> Bool {
    !bits.isEmpty && bits[row >> 6] >> UInt64(row & 63) & 1 == 1
  }

  /// Hides a row of the run, by number, unless it is hidden already.
  ///
  /// - Complexity: O(1), but for the first one.
  mutating func insert(_ row: Int, of run: WordRun) {
    if contains(row) { return }
    if bits.isEmpty { bits = Array(repeating: 0, count: (run.rowCount + 63) >> 6) }
    bits[row >> 6] |= 1 << UInt64(row & 63)
    let length = run.length(ofRow: row)
    if length > 0 { textCount += 1 }
    self.length += length
  }
}
