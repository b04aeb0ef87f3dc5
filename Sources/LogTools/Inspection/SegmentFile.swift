import LogEngine
import LogFormat
import RowFormat

/// A segment's file, opened alone, whatever state it is in.
struct SegmentFile {
  /// For reading; with a made-up header if the file's own cannot be read.
  let segment: Segment
  /// The header; `nil` if the first bytes are none.
  let header: SegmentHeader?
  /// The reason why they are none.
  let damage: StorageError?
  /// Whether this is a segment that was being made and holds nothing.
  let isUnfinished: Bool
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
    var found = Self.readHeader(of: file, id)
    var isUnfinished = false
    if found.damage != nil {
      isUnfinished = try Self.isBlank(file, byteCount)
      // If there are frames, there is a header: it was perhaps written just now.
      if !isUnfinished { found = Self.readHeader(of: file, id) }
    }
    header = found.header
    damage = found.damage
    self.isUnfinished = isUnfinished
    segment = try Segment(
      header: header ?? SegmentHeader(unknown: id),
      file: file,
      capacity: byteCount,
      readableEnd: min(byteCount, SegmentHeader.byteCount),
      reads: byteCount == 0 ? .copied : reads
    )
    segment.expect(.sequential)
  }

  private static func readHeader(
    of file: any OpenFile,
    _ id: SegmentID
  ) -> (header: SegmentHeader?, damage: StorageError?) {
    do throws(StorageError) {
      let bytes = try file.readBytes(SegmentHeader.byteCount, at: 0)
      let header = try SegmentHeader(decoding: bytes.bytes, path: file.path)
      if header.segment == id { return (header, nil) }
      let problem = Corruption.Problem.invalidField(
        of: .segmentHeader,
        name: "segment",
        expected: UInt64(id.rawValue),
        found: UInt64(header.segment.rawValue)
      )
      throw .corruption(Corruption(path: file.path, offset: 48, problem: problem))
    } catch {
      return (nil, error)
    }
  }

  /// Whether no frame was ever written to a file.
  private static func isBlank(
    _ file: any OpenFile,
    _ byteCount: Int
  ) throws(StorageError) -> Bool {
    guard byteCount > SegmentHeader.byteCount else { return true }
    let bytes = try file.readBytes(64 << 10, at: SegmentHeader.byteCount)
    return bytes.bytes.isZero
  }
}

extension SegmentHeader {
  /// A header that has nothing but the number of the segment.
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
