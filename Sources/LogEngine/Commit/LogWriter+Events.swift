import Locking
import LogFormat
import Synchronization

// The events of the writer; the calls are where the events happen.

extension LogWriter {
  /// A segment that is about to be left, and the time at which that began.
  struct Sealing {
    fileprivate let segment: Segment
    fileprivate let start: Int64
  }

  /// Records that the log is about to continue in another segment.
  ///
  /// - Returns: `nil` without a handler, or if there is no segment yet.
  func beginSealing() -> Sealing? {
    guard state.events.isObserved, let segment = state.log.tail.withLock({ $0.segment }) else {
      return nil
    }
    return Sealing(segment: segment, start: state.fileSystem.microseconds())
  }

  /// Reports that the log continues in another segment; called under the lead's lock.
  func reportSealing(_ sealing: Sealing?, next: PreparedSegment) {
    guard let sealing else { return }
    let report = SegmentReport(
      segment: sealing.segment.id,
      byteCount: sealing.segment.readableEnd.load(ordering: .relaxed),
      lastCommit: CommitSequence(state.visibility.visible.load(ordering: .relaxed)),
      next: next.id,
      nextByteCount: next.capacity,
      duration: state.duration(since: sealing.start)
    )
    state.events.report(.segmentSealed(report))
  }
}

extension LogWriter {
  /// Runs a step whose failure is not visible to any caller yet, and reports a full device.
  func reportingLackOfSpace(_ body: () throws(StorageError) -> Void) throws(StorageError) {
    do throws(StorageError) {
      try body()
    } catch {
      state.events.reportLackOfSpace(error, state.fileSystem.microseconds())
      throw error
    }
  }
}
