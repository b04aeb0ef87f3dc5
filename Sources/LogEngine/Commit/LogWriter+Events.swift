import Locking
import LogFormat
import Synchronization

// What the writer has to tell; the calls stand where it happens.

extension LogWriter {
  /// A segment that is about to be left, and when that began.
  struct Sealing {
    fileprivate let segment: Segment
    fileprivate let start: Int64
  }

  /// Records that the log is about to go on in another segment.
  ///
  /// - Returns: `nil` without a handler, or if there is no segment yet.
  func beginSealing() -> Sealing? {
    guard state.events.isObserved, let segment = state.log.tail.withLock({ $0.segment }) else {
      return nil
    }
    return Sealing(segment: segment, start: state.fileSystem.microseconds())
  }

  /// Tells that the log has gone on; by the one who leads.
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
  /// Runs a step whose failure no caller sees yet, and reports a full device.
  func reportingLackOfSpace(_ body: () throws(StorageError) -> Void) throws(StorageError) {
    do throws(StorageError) {
      try body()
    } catch {
      state.events.reportLackOfSpace(error, state.fileSystem.microseconds())
      throw error
    }
  }
}
