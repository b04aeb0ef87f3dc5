/// The rows of a run of which it says what is there as of a search: all but those of newer runs, and those whose words are
/// not known.
struct CurrentRows {
  let run: WordRun
  /// Number of texts that have words.
  let textCount: Int
  /// Number of words of all texts together.
  let length: Int
  private let hidden: HiddenRows
  /// The rows whose words are not known, as far as they are not hidden.
  private let unknown: Set<Int>

  /// - Parameters:
  ///   - run: The run.
  ///   - hidden: Those of its rows that newer runs have.
  ///   - pending: The keys of the rows whose words are not known.
  /// - Complexity: O(pending · log rows).
  init(_ run: WordRun, hiding hidden: HiddenRows, pending: Set<UInt64>) {
    self.run = run
    self.hidden = hidden
    var unknown: Set<Int> = []
    var textCount = run.textCount - hidden.textCount
    var length = run.length - hidden.length
    for key in pending {
      guard let row = run.row(ofKey: key), !hidden.contains(row) else { continue }
      unknown.insert(row)
      let words = run.length(ofRow: row)
      if words > 0 { textCount -= 1 }
      length -= words
    }
    self.unknown = unknown
    self.textCount = textCount
    self.length = length
  }

  /// Whether all rows of the run are current.
  var isComplete: Bool { hidden.isEmpty && unknown.isEmpty }

  /// Whether the run's words of a row are current.
  func contains(_ row: Int) -> Bool {
    !hidden.contains(row) && (unknown.isEmpty || !unknown.contains(row))
  }
}
