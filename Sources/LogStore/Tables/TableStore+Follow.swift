import Locking
import LogEngine

extension TableStore {
  /// Takes up what another process has saved since the last fetch, in a store that is only read, or that several
  /// processes write.
  ///
  /// Does nothing in a store that this process alone may write.
  ///
  /// - Throws: ``LogStoreError`` if the log cannot be read on, or the writer compacted away what this store
  ///   had not read yet: then the container has to be made anew.
  /// - Complexity: A look at the log's directory, and O(bytes saved meanwhile). Indexes that were made take in what
  ///   was saved when they are needed next.
  func follow() throws {
    guard isFollower else { return }
    let notices = try followed.withLock { known -> [@Sendable () -> Void] in
      try perform(.fetching) { _ = try engine.refresh() }
      if engine.lastForeignCommit == known { return [] }
      let news = engine.takeNews()
      known = news.newest
      // Under the lock: if another thread has found the news first, the inboxes have it when this one finds nothing.
      return history.watches.note { rows(of: news) }
    }
    for notice in notices { notice() }
  }

  /// Makes a view of a state of which all commits by other processes have been reported to those who want to know of them.
  ///
  /// If others commit faster than that can be done, the view has commits that are not reported yet.
  ///
  /// - Throws: As ``follow()``.
  func makeReportedReadView() throws -> ReadView {
    if let view = pinnedView { return view }
    if isFollower {
      for _ in 0..<4 {
        try follow()
        let view = makeReadView()
        let newest = engine.lastForeignCommit
        if followed.withLock({ $0 >= newest }) { return view }
      }
    }
    return makeReadView()
  }

  /// Whether other processes may save what this store shows.
  var isFollower: Bool { past == nil && (!allowsSave || engine.hasOtherWriters) }
}
