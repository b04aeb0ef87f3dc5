import Foundation
import LogEngine
package import ModelRuntime
import RowFormat

extension LogStore: EarlierStateReading {
  package func store(asOf moment: StoreMoment) throws -> any DataStore {
    LogStore(try lease(asOf: moment), configuration)
  }
}

extension DefaultStore: EarlierStateReading {
  package func store(asOf moment: StoreMoment) throws -> any DataStore {
    DefaultStore(try lease(asOf: moment), configuration)
  }
}

extension LogBackedStore {
  package func prepareToShow(_ moment: StoreMoment) throws -> () -> Void {
    let tables = try openTables()
    guard let past = tables.past else { preconditionFailure("the store shows what is newest") }
    let view = try past.origin.openTables().makeReadView(of: moment)
    return { past.show(view) }
  }

  package func showRows(behind number: Int64) throws {
    guard let past = try openTables().past else {
      preconditionFailure("the store shows what is newest")
    }
    past.showRows(of: CommitSequence(UInt64(clamping: number)))
  }

  /// Makes a store of tables as they were.
  fileprivate func lease(asOf moment: StoreMoment) throws -> StoreLease {
    let tables = try openTables()
    let origin = tables.past?.origin ?? lease
    let view = try origin.openTables().makeReadView(of: moment)
    var configuration = TableStore.Configuration(path: tables.path, schema: tables.schema)
    configuration.allowsSave = false
    configuration.aggregateByteLimit = tables.aggregateByteLimit
    configuration.observation = tables.observation
    configuration.closing = .byOwner
    configuration.past = PastState(view, of: origin)
    return StoreLease(try TableStore(tables.engine, configuration))
  }
}

extension TableStore {
  /// A view of the store as it was.
  ///
  /// - Throws: ``SwiftDataError/historyTokenExpired`` if the log no longer says how the store was then; ``LogStoreError``.
  /// - Complexity: O(bytes of the log up to there); for a time, also O(bytes saved since).
  fileprivate func makeReadView(of moment: StoreMoment) throws -> ReadView {
    // Of a time that is now, nothing is removed by a save that comes between, here or in another process.
    let held = makeReadView()
    defer { withExtendedLifetime(held) {} }
    try follow()
    return try perform(.fetching) {
      let sequence = try commit(of: moment)
      do {
        return try engine.makeReadView(at: sequence)
      } catch StorageError.commitGone(_, let oldest) {
        throw SwiftDataError.historyTokenExpired.explained(
          "the state of \(path) behind transaction \(sequence.rawValue) is no longer known: compaction has folded the log "
            + "up to \(oldest.rawValue); LogStoreConfiguration.compaction says how much history is kept"
        )
      } catch StorageError.unknownCommit(_, let newest) {
        throw SwiftDataError.historyTokenExpired.explained(
          "the token is of transaction \(sequence.rawValue) of \(path), whose newest commit is \(newest.rawValue): an "
            + "earlier state of the store was restored"
        )
      }
    }
  }

  private func commit(of moment: StoreMoment) throws -> CommitSequence {
    switch moment {
    case .token(let token):
      // A store that the token does not name has had no transaction.
      return CommitSequence(UInt64(clamping: token.counter(of: identifier) ?? 0))
    case .date(let date):
      let time = (date.timeIntervalSince1970 * 1_000_000).rounded(.down)
      // Greater than any time that is in a log; a date that is not a number is before all.
      let microseconds = time.isNaN ? Int64.min : Int64(exactly: time) ?? (time < 0 ? .min : .max)
      if let sequence = try engine.lastCommit(at: microseconds) { return sequence }
      throw SwiftDataError.historyTokenExpired.explained(
        "the state of \(path) at \(date) is no longer known: compaction has folded the log up to "
          + "\(engine.lastCommitBeforeHistory.rawValue); LogStoreConfiguration.compaction says how much history is kept"
      )
    }
  }
}
