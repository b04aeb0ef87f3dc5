import LogEngine
import LogFormat
import ModelRuntime
import RowFormat

extension LogBackedStore {
  package func observeRemoteRows(
    _ note: @escaping @Sendable (ChangedRows) -> [@Sendable () -> Void]
  ) -> (any AnyObject & Sendable)? { tables.observeRemoteRows(note) }

  package func common(_ make: () -> any AnyObject & Sendable) -> any AnyObject & Sendable {
    tables.common(make)
  }

  package func lookForRemoteSaves() {
    // The next fetch reports what cannot be read now.
    try? openTables().follow()
  }
}

extension TableStore {
  /// Limit of the number of rows that are reported one by one.
  private static var newsLimit: Int { 1 << 16 }

  /// Reads which rows were changed by commits of other processes.
  ///
  /// - Complexity: O(bytes of the commits).
  func rows(of news: News) -> ChangedRows {
    var rows = ChangedRows()
    var count = 0
    do {
      for run in news.commits {
        try engine.forEachCommit(
          after: CommitSequence(run.lowerBound - 1),
          upTo: CommitSequence(run.upperBound)
        ) { commit in
          try commit.forEachRecord { header, _, _ in
            count += 1
            rows.add(header)
            return count <= Self.newsLimit ? .proceed : .stop
          }
          return count <= Self.newsLimit ? .proceed : .stop
        }
      }
    } catch {
      // Packed, most likely, before it could be read.
      count = .max
    }
    if count > Self.newsLimit {
      rows = ChangedRows()
      rows.isComplete = false
    }
    rows.commit = news.newest.rawValue
    return rows
  }
}

extension ChangedRows {
  fileprivate mutating func add(_ header: RecordHeader) {
    switch header.kind {
    case .insert: inserted.append(header.reference)
    case .delta, .fullImage: updated.append(header.reference)
    case .delete: deleted.append(header.reference)
    case .catalogue: break
    }
  }
}
