import LogEngine

extension InspectedStore {
  /// Visits the commits of a range that are still in the log, oldest first.
  ///
  /// Damage is noted and ends the walk.
  ///
  /// - Parameters:
  ///   - commits: The commits to visit; all up to the shown state, if `nil`.
  ///   - body: Called for each.
  /// - Returns: The last commit of the range that is not in the log any more, because it was packed.
  /// - Throws: What `body` throws, unless it is damage.
  @discardableResult
  func forEachCommit(
    _ commits: NumberRange? = nil,
    _ body: (LoggedCommit) throws -> ScanControl
  ) throws -> CommitSequence? {
    let lower = commits?.bounds.lowerBound ?? 0
    let first = CommitSequence(lower == 0 ? 0 : lower - 1)
    let last = min(CommitSequence(commits?.bounds.upperBound ?? .max), view.sequence)
    var oldest: CommitSequence?
    var newest: CommitSequence?
    func visit(after sequence: CommitSequence) throws {
      try engine.forEachCommit(after: sequence, upTo: last) { commit in
        try checkInterruption()
        oldest = oldest ?? commit.sequence
        let control = try body(commit)
        newest = commit.sequence
        return control
      }
    }
    do {
      do {
        try visit(after: first)
      } catch StorageError.commitGone(_, let lowWaterMark) {
        oldest = CommitSequence(lowWaterMark.rawValue + 1)
        if lowWaterMark < last { try visit(after: lowWaterMark) }
      }
    } catch let error as StorageError {
      recordDamage(error, after: newest)
    }
    guard let oldest, oldest.rawValue > first.rawValue + 1 else { return nil }
    return CommitSequence(oldest.rawValue - 1)
  }
}
