import RowFormat

/// A segment's file, opened alone, whatever state it is in.
struct SegmentFile {
  /// For reading; with a made-up header if the file's own cannot be read.
  let segment: Segment
  /// What the first bytes say, if they say it.
  let header: SegmentHeader?
  /// Why they do not.
  let damage: StorageError?
  let byteCount: Int

  init(
    _ id: SegmentID,
    paths: StorePaths,
    fileSystem: any FileSystem,
    reads: EngineOptions.ReadMethod
  ) throws(StorageError) {
    let path = paths.segment(id)
    let file = try fileSystem.open(path, .read)
    byteCount = try file.size()
    var header: SegmentHeader?
    var damage: StorageError?
    do throws(StorageError) {
      let bytes = try file.readBytes(SegmentHeader.byteCount, at: 0)
      header = try SegmentHeader(decoding: bytes.bytes, path: path)
      guard header?.segment == id else {
        let problem = Corruption.Problem.invalidField(
          of: .segmentHeader,
          name: "segment",
          expected: UInt64(id.rawValue),
          found: UInt64(header?.segment.rawValue ?? 0)
        )
        header = nil
        throw .corruption(Corruption(path: path, offset: 48, problem: problem))
      }
    } catch {
      damage = error
    }
    self.header = header
    self.damage = damage
    segment = try Segment(
      header: header ?? SegmentHeader(unknown: id),
      file: file,
      capacity: byteCount,
      readableEnd: min(byteCount, SegmentHeader.byteCount),
      reads: byteCount == 0 ? .copied : reads
    )
  }

  /// Whether this is a segment that was being made and holds nothing.
  func isUnfinished() throws -> Bool {
    guard header == nil else { return false }
    let end = min(byteCount, SegmentHeader.byteCount + 64 << 10)
    guard end > SegmentHeader.byteCount else { return true }
    return try segment.withAvailableBytes(SegmentHeader.byteCount..<end) {
      $0.endOfNonzeroBytes(from: 0) == 0
    }
  }
}

extension SegmentHeader {
  /// A header that says nothing but which segment it is.
  fileprivate init(unknown id: SegmentID) {
    let store = StoreIdentifier(low: 0, high: 0)
    self.init(
      store: store,
      segment: id,
      salt: 0,
      firstSequence: .zero,
      logPosition: 0,
      previousSegment: .none,
      previousEnd: 0,
      previousSequence: .zero,
      previousChain: 0,
      epoch: 0,
      created: 0
    )
  }
}
