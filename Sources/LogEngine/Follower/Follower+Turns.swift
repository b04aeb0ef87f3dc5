import Locking
import LogFormat
import Synchronization

// Reading the commits of other processes in a process that also writes.
extension Follower {
  /// The end of the log, as the process that wrote it last has left it.
  struct KnownEnd {
    /// The newest manifest.
    let manifest: UInt64
    let segment: SegmentID
    let offset: Int
  }

  /// Reads the whole log, so that this process may append; nothing is read until the turn ends.
  ///
  /// - Parameters:
  ///   - catchesUp: Whether others may have written since.
  ///   - end: The end of the log after the last turn, if that is known.
  /// - Throws: ``StorageError``; then the turn has not begun.
  func beginTurn(
    catchingUp catchesUp: Bool,
    to end: KnownEnd?
  ) throws(StorageError) {
    try withPosition { (position) throws(StorageError) in
      if let failure = position.failure { throw failure }
      if catchesUp { try readAll(&position, to: end) }
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
  private func readAll(
    _ position: inout Position,
    to end: KnownEnd?
  ) throws(StorageError) {
    var attempts = 0
    while true {
      do {
        if try !readSegment(&position, to: end) {
          try findBase(&position)
          while try readSegments(&position) {}
        }
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

  /// Reads to the end of the log without listing a folder, if it ends in the segment that was read last.
  ///
  /// - Returns: `false` if there may be more to read, or another manifest.
  private func readSegment(_ position: inout Position, to end: KnownEnd?) throws -> Bool {
    guard let end, end.manifest <= position.manifest, end.segment == position.end.segment?.id
    else { return false }
    _ = try readOn(&position)
    return position.end.offset == end.offset
  }

  private static let attemptLimit = 100_000
}
