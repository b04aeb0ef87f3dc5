import LogFormat

extension StorageEngine {
  /// Brings a follower up to date with what the writer, perhaps in another process, has committed.
  ///
  /// For a store opened with ``EngineOptions/Mode-swift.enum/readOnly``. The engine's own reads then see
  /// the newest commit found; a ``ReadView`` goes on seeing the one it was made at. Each commit becomes
  /// visible whole. Nothing is read, locked or written that the writer would notice, and any number of
  /// processes may follow.
  ///
  /// A follower sees a commit as soon as the writer has handed it to the system, which may be a moment
  /// before it is on disk and before the writer's own commit has returned: whatever takes such a commit
  /// back takes the follower's process, too. Writers may come and go: the follower goes on where the
  /// next one does.
  ///
  /// When the writer compacts its log, commits that build on the new packs may not become visible as long
  /// as there is a ``ReadView`` of an earlier commit, and files that the writer has removed stay open.
  ///
  /// Of a store that several processes write, each does this by itself, soon after another's commit; a call makes sure
  /// that commits are seen which returned before it. It costs a read of eight bytes if there are none.
  ///
  /// Does nothing in the only process that writes, whose reads are always up to date, and in a store opened
  /// up to its damage.
  ///
  /// - Returns: The newest commit that is now visible.
  /// - Throws: ``/LogFormat/StorageError/corruption(_:)`` if the log is damaged after what was read so far;
  ///   ``/LogFormat/StorageError/commitGone(_:oldest:)`` if the writer has packed what comes next before it could be
  ///   read, and ``/LogFormat/StorageError/poisoned(path:cause:)`` if others have written since this process could not:
  ///   then the store has to be opened anew. What was read so far stays readable.
  /// - Complexity: O(bytes committed since the last call), and a look at the log's directory. A commit
  ///   that is only partly there is read again.
  @discardableResult
  public func refresh() throws(StorageError) -> CommitSequence {
    guard let follower else { return lastCommit }
    if let writer, let turns = writer.turns {
      do throws(StorageError) {
        try readNews(writer, turns)
        return lastCommit
      } catch {
        state.reportDamage(error)
        throw error
      }
    }
    do throws(StorageError) {
      return try follower.refresh()
    } catch {
      if case .commitGone = error {
        state.events.reportLeftBehind(error)
        state.events.deliver()
      } else {
        state.reportDamage(error)
      }
      throw error
    }
  }

  /// Whether the last ``refresh()`` left out commits that become visible once views of this process are released.
  package var isHeldBack: Bool { follower?.isHeldBack ?? false }
}
