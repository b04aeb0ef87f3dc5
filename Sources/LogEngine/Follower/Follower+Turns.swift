import Locking
import LogFormat
import Synchronization

// Reading the commits of other processes in a process that also writes.
extension Follower {
  /// Reads the whole log, so that this process may append; nothing is read until the turn ends.
  ///
  /// - Parameter catchesUp: Whether others may have written since.
  /// - Throws: ``StorageError``; then the turn has not begun.
  func beginTurn(catchingUp catchesUp: Bool) throws(StorageError) {
    try withPosition { (position) throws(StorageError) in
      if let failure = position.failure { throw failure }
      if catchesUp { try readAll(&position) }
      position.isInTurn = true
    }
  }

  func endTurn(_ change: (inout Position) -> Void) {
    withPosition { position in
      position.isInTurn = false
      change(&position)
    }
  }

  /// Reads to the end of the log, and adopts compactions.
  private func readAll(_ position: inout Position) throws(StorageError) {
    var attempts = 0
    while true {
      do {
        try findBase(&position)
        while try readSegments(&position) {}
        _ = try takeUpBase(&position)
        position.isHeldBack = false
        return
      } catch is MustWaitForReader {
        // The reader has no view and is about to end: no compaction takes files that a member's view needs.
        attempts += 1
        guard attempts < Self.attemptLimit else {
          let visible = CommitSequence(state.visibility.visible.load(ordering: .relaxed))
          throw .commitGone(visible, oldest: CommitSequence(visible.rawValue + 1))
        }
        state.fileSystem.pause(microseconds: 50)
      } catch let error as StorageError {
        throw error
      } catch {
        // Nothing below throws anything else.
        preconditionFailure("following threw \(error)")
      }
    }
  }

  private static let attemptLimit = 100_000
}
