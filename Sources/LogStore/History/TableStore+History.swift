import Foundation
import LogEngine
import ModelRuntime
import RowFormat
import Synchronization

/// The state that a store keeps for its history, beside its log.
final class StoreHistory: Sendable {
  /// The store, as its tokens name it.
  let name: HistoryStoreName
  /// The observers of saves by other processes.
  let watches = RemoteWatches()
  /// Held while transactions are deleted.
  fileprivate let deleting = Mutex<Void>(())

  init(storeIdentifier: String) { name = HistoryStoreName(storeIdentifier) }

  /// The bookmark behind a commit.
  func token(_ sequence: CommitSequence) -> DefaultHistoryToken {
    DefaultHistoryToken(name, Int64(bitPattern: sequence.rawValue))
  }

  /// The history's transaction for a commit.
  func transaction(_ commit: LoggedCommit, _ changes: [HistoryChange]) -> DefaultHistoryTransaction
  {
    DefaultHistoryTransaction(
      token: token(commit.sequence),
      timestamp: commit.timestamp,
      author: commit.author,
      changes: changes
    )
  }
}

extension LoggedCommit {
  /// The time of the commit, by its writer's clock.
  fileprivate var timestamp: Date {
    Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
  }
}

// MARK: Fetching

extension TableStore {
  /// The transactions that a request asks for.
  ///
  /// - Throws: ``SwiftDataError/historyTokenExpired``,
  ///   ``SwiftDataError/invalidTransactionFetchRequest``, ``LogStoreError``.
  /// - Complexity: O(bytes saved after the greatest token that the predicate bounds the request by).
  func fetchHistory(
    _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
  ) throws -> [DefaultHistoryTransaction] {
    try follow()
    return try perform(.fetching) { try readHistory(descriptor) }
  }

  private func readHistory(
    _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
  ) throws -> [DefaultHistoryTransaction] {
    try readingAgain { try readHistory(HistoryPlan(descriptor, store: identifier), descriptor) }
  }

  /// Reads history, again if a compaction was faster: what is left begins later then.
  private func readingAgain<R>(_ read: () throws -> R) throws -> R {
    while true {
      do {
        return try read()
      } catch let error as StorageError {
        guard case .commitGone = error else { throw error }
      }
    }
  }

  private func readHistory(
    _ plan: HistoryPlan,
    _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
  ) throws -> [DefaultHistoryTransaction] {
    let limit = descriptor.fetchLimit == 0 ? UInt64.max : descriptor.fetchLimit
    let decoder = HistoryDecoder(self)
    var transactions: [DefaultHistoryTransaction] = []
    try forEachCandidate(of: plan, decoder) { commit in
      let changes = try decoder.changes(of: commit)
      if changes.isEmpty { return .proceed }
      transactions.append(history.transaction(commit, changes))
      return plan.order != nil && transactions.count >= limit ? .stop : .proceed
    }
    if plan.order == nil {
      transactions.sort(using: descriptor.sortBy)
      if transactions.count > limit { transactions.removeLast(transactions.count - Int(limit)) }
    }
    return transactions
  }

  /// Visits the commits that match, whether they turn out to be transactions or not.
  private func forEachCandidate(
    of plan: HistoryPlan,
    _ decoder: HistoryDecoder,
    _ body: (LoggedCommit) throws -> ScanControl
  ) throws {
    let deletions = HistoryDeletions(in: engine.catalogue)
    let newest = newestCommit
    let lowWaterMark = endOfDeleted(deletions)
    try checkBookmark(of: plan)
    guard plan.through > 0 else { return }
    try engine.forEachCommit(
      after: CommitSequence(max(UInt64(plan.after), lowWaterMark)),
      upTo: CommitSequence(min(UInt64(plan.through), newest)),
      order: plan.order == .reverse ? .newestFirst : .oldestFirst
    ) { commit in
      if deletions.contains(commit.sequence.rawValue) { return .proceed }
      return try passes(commit, plan, decoder) ? body(commit) : .proceed
    }
  }

  /// Whether a commit within the bounds of a request is wanted.
  private func passes(
    _ commit: LoggedCommit,
    _ plan: HistoryPlan,
    _ decoder: HistoryDecoder
  ) throws -> Bool {
    guard plan.mayMatch(author: commit.author, timestamp: commit.timestamp) else { return false }
    return try plan.isDecidedByTests || matches(commit, plan, decoder)
  }

  private func matches(
    _ commit: LoggedCommit,
    _ plan: HistoryPlan,
    _ decoder: HistoryDecoder
  ) throws -> Bool {
    let changes = UnreadChanges { try decoder.changes(of: commit) }
    let candidate = DefaultHistoryTransaction(
      token: history.token(commit.sequence).focused,
      timestamp: commit.timestamp,
      author: commit.author,
      unread: changes
    )
    let isMatch: Bool
    do {
      isMatch = try plan.matches(candidate)
    } catch {
      throw SwiftDataError.invalidTransactionFetchRequest.explained(
        "the predicate on transactions cannot be evaluated",
        causedBy: error
      )
    }
    if let failure = changes.failure { throw failure }
    return isMatch
  }

  /// The number up to which there is no history.
  private func endOfDeleted(_ deletions: HistoryDeletions) -> UInt64 {
    max(deletions.lowWaterMark, engine.lastCommitBeforeHistory.rawValue)
  }

  /// Checks that the history after the token of a request is still there.
  private func checkBookmark(of plan: HistoryPlan) throws {
    guard let bookmark = plan.bookmark.map(UInt64.init(clamping:)) else { return }
    let newest = newestCommit
    let lowWaterMark = endOfDeleted(HistoryDeletions(in: engine.catalogue))
    if bookmark < lowWaterMark {
      throw SwiftDataError.historyTokenExpired.explained(
        "the token is of transaction \(bookmark) of \(path), and the history up to \(lowWaterMark) was "
          + "deleted or compacted: read the models as they are, and continue from the newest token"
      )
    }
    if bookmark > newest {
      throw SwiftDataError.historyTokenExpired.explained(
        "the token is of transaction \(bookmark) of \(path), whose newest commit is \(newest): an "
          + "earlier state of the store was restored; read the models as they are, and continue from the newest token"
      )
    }
  }
}

// MARK: Deleting

extension TableStore {
  /// Forgets the transactions that match, for good.
  ///
  /// - Throws: ``SwiftDataError/invalidTransactionFetchRequest`` if what stays and what goes is too mixed to be
  ///   written down; otherwise as ``fetchHistory(_:)``.
  /// - Complexity: O(1) commits for a request that says up to which token, or nothing; O(history) for any other, of which
  ///   one commit at a time is in memory.
  func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
    try history.deleting.withLock { _ in
      // The whole entry is written anew, so what other processes have deleted has to be in it: in the turn that is known.
      try perform(.saving) { try engine.inTurn { try deleteHistoryInTurn(descriptor) } }
    }
  }

  private func deleteHistoryInTurn(
    _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
  ) throws {
    let before = HistoryDeletions(in: engine.catalogue)
    let after = try deletions(before, adding: descriptor)
    if after == before { return }
    let bytes = after.encoded
    guard bytes.count <= HistoryDeletions.byteLimit else {
      throw SwiftDataError.invalidTransactionFetchRequest.explained(
        "\(after.runs.count) runs of transactions would be missing from the history of \(path), which takes "
          + "\(bytes.count) bytes of \(HistoryDeletions.byteLimit): delete up to a token or a time instead"
      )
    }
    _ = try engine.apply([.setMetadata(key: HistoryDeletions.key, value: bytes)])
  }

  private func deletions(
    _ before: HistoryDeletions,
    adding descriptor: HistoryDescriptor<DefaultHistoryTransaction>
  ) throws -> HistoryDeletions {
    let plan = HistoryPlan(descriptor, store: identifier)
    if plan.isOnlyUpperBound, descriptor.fetchLimit == 0 {
      var after = before
      if let last = try newestTransaction(upTo: plan.through) { after.delete(upTo: last) }
      return after
    }
    let isDeleted = try deletionTest(of: descriptor, plan)
    // Nothing is kept of a transaction but its number, in a run: what is deleted may be years of changes.
    return try readingAgain {
      let decoder = HistoryDecoder(self)
      let oldest = engine.lastCommitBeforeHistory.rawValue
      var addition = HistoryDeletions.Addition(to: before, since: oldest)
      let all = HistoryPlan(HistoryDescriptor(), store: identifier)
      try forEachCandidate(of: all, decoder) { commit in
        let number = commit.sequence.rawValue
        if try decoder.changes(of: commit).isEmpty {
          // Models that other processes have and this one lacks: nobody asked for the end of their history.
          if try decoder.changesOtherModels(commit) { addition.keep(number) }
          return .proceed
        }
        if try isDeleted(commit, decoder) { addition.delete(number) } else { addition.keep(number) }
        return .proceed
      }
      return addition.finish()
    }
  }

  /// The test whether a request to delete means a transaction.
  private func deletionTest(
    of descriptor: HistoryDescriptor<DefaultHistoryTransaction>,
    _ plan: HistoryPlan
  ) throws -> (LoggedCommit, HistoryDecoder) throws -> Bool {
    if descriptor.fetchLimit != 0 {
      let deleted = Set(try numbers(descriptor))
      return { commit, _ in deleted.contains(commit.sequence.rawValue) }
    }
    try checkBookmark(of: plan)
    return { [self] commit, decoder in
      let number = Int64(bitPattern: commit.sequence.rawValue)
      guard plan.after < number, number <= plan.through else { return false }
      return try passes(commit, plan, decoder)
    }
  }

  private func newestTransaction(upTo last: Int64) throws -> UInt64? {
    var request = HistoryDescriptor<DefaultHistoryTransaction>(
      sortBy: [SortDescriptor(\.transactionIdentifier, order: .reverse)]
    )
    request.predicate = #Predicate { $0.transactionIdentifier <= last }
    request.fetchLimit = 1
    return try numbers(request).first
  }

  private func numbers(
    _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
  ) throws -> [UInt64] {
    try readHistory(descriptor).map { UInt64($0.transactionIdentifier) }
  }
}
