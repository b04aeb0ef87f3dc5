import Locking
import LogFormat
import Synchronization

/// A place at which a log can be cut off: everything before it is on disk and does not change any more.
struct LogCut: Sendable {
  /// The segments up to the place, each with its end.
  var segments: [(segment: Segment, end: Int)] = []
  /// The last commit before the place.
  var sequence = CommitSequence.zero
  /// The place, counted over all segments.
  var logPosition: UInt64 = 0
  /// The catalogue as of that commit.
  var catalogue = Catalogue()
  /// The beginning of the log, and the packs that hold the rows from before it.
  var base: LogBase?
  var packs: [PackReader] = []
  /// The program the store belongs to.
  var application = ""
  /// The lineage of the store: it differs from copy to copy.
  var lineage: StoreIdentifier?

  /// Cuts the log after a commit, which must be the newest visible one for as long as this takes.
  ///
  /// - Parameters:
  ///   - state: The store.
  ///   - last: The last segment; `nil` in a log that was never begun.
  ///   - end: The end of the log in it.
  ///   - newBase: The beginning of the log after a compaction of another process that is not adopted yet.
  init(_ state: StoreState, last: Segment?, end: Int, newBase: LogBase? = nil) {
    catalogue = state.visibility.catalogue.withLock { $0 }
    sequence = CommitSequence(state.visibility.visible.load(ordering: .acquiring))
    guard let last else { return }
    logPosition = last.logPosition(of: end)
    base = state.files.base.withLock { $0 }
    packs = state.files.packList.withLock { $0 }
    // A reader of this process may keep it from being adopted, although the log continues behind segments that were packed
    // before this process had opened them.
    if let newBase, newBase.segment < last.id {
      base = newBase
      packs = newBase.packs.compactMap { state.files.packs[Int($0.id.rawValue)] }
    }
    let first = base?.segment ?? .none
    segments = state.files.segmentList.compactMap { segment in
      guard first < segment.id, segment.id < last.id, !state.files.isRetired(segment.id) else {
        return nil
      }
      return (segment, segment.readableEnd.load(ordering: .acquiring))
    }
    segments.append((last, end))
  }
}
