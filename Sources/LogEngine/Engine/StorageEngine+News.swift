import LogFormat

// What other processes commit, for those who follow it.
extension StorageEngine {
  /// Begins to collect which commits of other processes are read; each call is ended by one of ``endCollectingNews()``.
  package func beginCollectingNews() { follower?.news.begin() }

  /// Ends what one ``beginCollectingNews()`` began.
  package func endCollectingNews() { follower?.news.end() }

  /// Takes the commits of other processes that were read since the last call.
  ///
  /// Waits for who is reading the log: a commit that is counted is among those taken, by this call or by one before.
  package func takeNews() -> News {
    guard let follower else { return News(newest: .zero, commits: []) }
    return follower.withPosition { _ in
      News(newest: lastForeignCommit, commits: follower.news.take())
    }
  }

  /// Calls back soon after the log was written to, from a thread of its own, until what is returned is released.
  ///
  /// Needs no permission to write. The thread sleeps as long as nobody writes.
  ///
  /// - Parameter look: Called some three hundred times a second at most.
  /// - Returns: `nil` where nobody tells of changes.
  package func watchLog(_ look: @escaping @Sendable () -> Void) -> LogWatch? {
    let watch = TurnWatch.start(state.paths.log, state.fileSystem) {
      look()
      return false
    }
    return watch.map(LogWatch.init)
  }
}

/// The commits of other processes that were read, and not yet taken.
package struct News: Sendable {
  /// The newest commit of another process that was read, whether or not it is among ``commits``.
  package let newest: CommitSequence
  /// The commits, in runs, ascending; none if nobody collected them.
  ///
  /// A process that commits and reads very many in turn may find its own in between.
  package let commits: [ClosedRange<UInt64>]
}

/// The wish to hear of what is appended to a log, for as long as it lives.
package final class LogWatch: Sendable {
  private let watch: TurnWatch

  init(_ watch: TurnWatch) { self.watch = watch }

  deinit { watch.stop() }
}
