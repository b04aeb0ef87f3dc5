import LogFormat

// The commits of other processes, for their followers in this one.
extension StorageEngine {
  /// Begins to collect the commits of other processes as they are read; each call is ended by one of ``endCollectingNews()``.
  package func beginCollectingNews() { follower?.news.begin() }

  /// Ends the collecting that one ``beginCollectingNews()`` began.
  package func endCollectingNews() { follower?.news.end() }

  /// Takes the commits of other processes that were read since the last call.
  ///
  /// Waits for a running read of the log: a counted commit is among those taken, by this call or an earlier one.
  package func takeNews() -> News {
    guard let follower else { return News(newest: .zero, commits: []) }
    return follower.withPosition { _ in
      News(newest: lastForeignCommit, commits: follower.news.take())
    }
  }

  /// Calls back soon after the log was written, from a thread of its own, until the result is released.
  ///
  /// Needs no permission to write. The thread sleeps while nothing is written.
  ///
  /// - Parameter look: Called some three hundred times a second at most.
  /// - Returns: `nil` if the file system does not report changes.
  package func watchLog(_ look: @escaping @Sendable () -> Void) -> LogWatch? {
    let watch = TurnWatch.start(state.paths.log, state.fileSystem) {
      look()
      return false
    }
    return watch.map(LogWatch.init)
  }
}

/// The commits of other processes that were read and not yet taken.
package struct News: Sendable {
  /// The newest commit of another process that was read, whether or not it is among ``commits``.
  package let newest: CommitSequence
  /// The commits, in runs, ascending; none if they were not collected.
  ///
  /// A process that commits and reads very many in turn may find its own in between.
  package let commits: [ClosedRange<UInt64>]
}

/// Watches a log for appends, for as long as it lives.
package final class LogWatch: Sendable {
  private let watch: TurnWatch

  init(_ watch: TurnWatch) { self.watch = watch }

  deinit { watch.stop() }
}
