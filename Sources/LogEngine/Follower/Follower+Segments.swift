import Locking
import LogFormat

// From segment to segment.
extension Follower {
  /// Returns the segments that were begun after the current one.
  ///
  /// Some of them may have been packed. If those contained no new commits, reading continues behind them.
  func findSuccessors(_ position: inout Position) throws(StorageError) -> [SegmentHeader] {
    do throws(StorageError) {
      return try findSuccessors(of: position.lastSegment)
    } catch {
      try findBase(&position)
      guard passOverPacked(&position) else { throw error }
      return try findSuccessors(of: position.lastSegment)
    }
  }

  /// Skips to the beginning of the compacted log, if no unread commit is before it.
  private func passOverPacked(_ position: inout Position) -> Bool {
    guard let base = position.newBase ?? state.files.base.withLock({ $0 }),
      base.segment > position.lastSegment, base.sequence == position.end.sequence
    else { return false }
    position.end.segment = nil
    position.end.hasBase = true
    position.end.offset = base.end
    position.end.frame = 0
    position.end.chain = base.chain
    position.end.logPosition = base.logPosition
    position.passedSegment = base.segment
    return true
  }

  private func findSuccessors(of segment: SegmentID) throws(StorageError) -> [SegmentHeader] {
    let files = try LogFiles(
      paths: state.paths,
      fileSystem: state.fileSystem,
      mode: .readOnly,
      after: segment
    )
    if let stranger = files.headers.first(where: { $0.store != state.store }) {
      let problem = Corruption.Problem.invalidField(
        of: .segmentHeader,
        name: "store",
        expected: state.store.low,
        found: stranger.store.low
      )
      let path = state.paths.segment(stranger.segment)
      throw .corruption(Corruption(path: path, offset: 32, problem: problem))
    }
    return files.headers
  }

  /// Ends the current segment at the end that its successor names, and begins the successor.
  func goOn(to header: SegmentHeader, _ position: inout Position) throws {
    if let segment = position.end.segment, header.previousEnd > position.end.offset {
      _ = try readOn(&position, upTo: header.previousEnd)
      guard position.end.offset == header.previousEnd else {
        let limit = max(header.previousEnd, SegmentHeader.byteCount)
        throw position.end.lost(
          in: segment,
          durableUpTo: segment.logPosition(of: limit),
          .successor
        )
      }
    }
    let file = try state.fileSystem.open(
      state.paths.segment(header.segment),
      state.options.mode == .readWrite ? .write : .read
    )
    let segment = try Segment(
      header: header,
      file: file,
      capacity: max(try file.size(), SegmentHeader.byteCount),
      readableEnd: SegmentHeader.byteCount,
      reads: state.options.reads
    )
    try position.end.checkLink(to: segment)
    state.add(segment)
    position.end.segment = segment
    position.end.offset = SegmentHeader.byteCount
  }
}

extension Follower.Position {
  /// The segment whose successor comes next.
  var lastSegment: SegmentID { end.segment?.id ?? passedSegment }
}
