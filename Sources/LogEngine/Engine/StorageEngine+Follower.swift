import LogFormat

extension StorageEngine {
  /// Brings a follower up to date with the commits of the writer, which may be another process.
  ///
  /// For a store opened with ``EngineOptions/Mode-swift.enum/readOnly``. The engine's own reads then see the newest commit
  /// found; a ``ReadView`` still sees the commit it was made at. Each commit becomes visible as a whole. The writer does not
  /// notice any of the reads, there are no locks or writes, and any number of processes may follow.
  ///
  /// A follower sees a commit as soon as the writer has handed it to the system, which may be a moment before it is on disk and
  /// before the writer's own commit has returned: a crash that undoes such a commit ends the follower's process, too. Writers
  /// may change: the follower continues with the next one.
  ///
  /// After the writer has compacted its log, commits that build on the new packs may stay invisible as long as there is a
  /// ``ReadView`` of an earlier commit, and files that the writer has removed stay open.
  ///
  /// In a store that several processes write, each does this by itself soon after another's commit; a call ensures that commits
  /// that returned before it are visible. It costs a read of eight bytes if there are none.
  ///
  /// Does nothing in the only process that writes, whose reads are always up to date, and in a store opened up to its damage.
  ///
  /// - Returns: The newest commit that is now visible.
  /// - Throws: ``/LogFormat/StorageError/corruption(_:)`` if the log is damaged after the last commit read;
  ///   ``/LogFormat/StorageError/commitGone(_:oldest:)`` if the writer has packed the next commits before they could be read,
  ///   and ``/LogFormat/StorageError/poisoned(path:cause:)`` if others have written since this process could not: then the
  ///   store has to be opened anew. Commits read so far stay readable.
  /// - Complexity: O(bytes committed since the last call), and a look at the log's directory. A commit that is only partly
  ///   there is read again.
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
