import LogFormat

// From segment to segment.
extension Follower {
  /// The segments that were begun after the current one.
  func findSuccessors(of end: Recovery.End) throws(StorageError) -> [SegmentHeader] {
    let files = try LogFiles(
      paths: state.paths,
      fileSystem: state.fileSystem,
      mode: .readOnly,
      after: end.segment?.id ?? .none
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

  /// Ends the current segment where its successor says, and begins the latter.
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
    let file = try state.fileSystem.open(state.paths.segment(header.segment), .read)
    let segment = try Segment(
      header: header,
      file: file,
      capacity: max(try file.size(), SegmentHeader.byteCount),
      readableEnd: SegmentHeader.byteCount,
      reads: state.options.reads
    )
    try position.end.checkLink(to: segment)
    state.files.segments.store(segment, at: Int(segment.id.rawValue))
    position.end.segment = segment
    position.end.offset = SegmentHeader.byteCount
  }
}
