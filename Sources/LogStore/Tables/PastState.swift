import LogEngine
import Synchronization

/// The earlier state that a store shows.
///
/// Such a store reads the engine of another one, as of one commit. As long as it is there, the other one stays open, and
/// compaction keeps what the state needs.
final class PastState: Sendable {
  /// The use of the store whose past it is.
  let origin: StoreLease
  private let shown: Mutex<ReadView>

  init(_ view: ReadView, of origin: StoreLease) {
    self.origin = origin
    shown = Mutex(view)
  }

  /// The state.
  var view: ReadView { shown.withLock { $0 } }

  /// Shows another state from now on.
  func show(_ view: ReadView) { shown.withLock { $0 = view } }

  /// Shows the rows of a commit that is not earlier than what is shown first.
  func showRows(of sequence: CommitSequence) {
    shown.withLock { $0 = $0.rows(of: sequence) }
  }
}

extension TableStore {
  /// A view of what the store shows: the newest commit, the earlier one that the store is made for, or the one that the current
  /// thread reads for a while.
  func makeReadView() -> ReadView { past?.view ?? pinnedView ?? engine.makeReadView() }

  /// Number of rows of a table in the state that the store shows.
  func rowCount(of table: UInt16) -> Int {
    (past?.view ?? pinnedView)?.rowCount(of: table) ?? engine.rowCount(of: table)
  }
}
