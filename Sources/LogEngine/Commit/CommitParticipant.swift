/// Keeps an index or another structure in step with the rows: sees the commits in order.
///
/// If savers notified an index themselves, the notifications would come in any order, and a row that a saver has read may have
/// been replaced by the time its commit is appended. A participant sees the rows that the commit really replaces, and the
/// commit's number, before any later commit gets one.
package protocol CommitParticipant: AnyObject {
  /// Called before each attempt to append, with the batch as it would be appended.
  ///
  /// May wait for other commits; no lock of the engine is held. The result of an earlier call is void.
  func prepare(_ batch: borrowing CommitBatch) -> CommitPreparation

  /// Called once the commit has its number, before any of it is appended.
  ///
  /// All commits wait meanwhile, so it must do no more than hand over the prepared result, and must not call the engine. An
  /// accepted commit is appended; whether it reaches the disk is not known yet.
  ///
  /// - Parameter sequence: The number.
  /// - Returns: `false` to be asked to prepare again; then nothing is appended.
  func take(_ sequence: CommitSequence) -> Bool

  /// Called once the commit is appended and later commits can be encoded against its rows; before it is written.
  func appended()
}

extension CommitParticipant {
  package func appended() {}
}

/// The result of preparing a commit.
package enum CommitPreparation: Sendable {
  case ready
  /// A row has changed since the batch was encoded against it.
  case outdated
  /// The commit is given up: nothing was appended.
  case givenUp
}

/// One side of a change that a batch makes to a row.
package enum RowSide: Sendable {
  case inserted
  /// The row before an update; the row after it follows.
  case before
  case after
  case deleted
}
