import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

/// The bytes behind the last frame are looked at by pieces of a mebibyte.
@Suite struct `A frame among torn bytes` {
  private static let header = SegmentHeader(
    store: StoreIdentifier(low: 1, high: 2),
    segment: SegmentID(rawValue: 1),
    salt: 3,
    firstSequence: CommitSequence(1),
    logPosition: 0,
    previousSegment: .none,
    previousEnd: 0,
    previousSequence: .zero,
    previousChain: 0,
    epoch: 1,
    created: 0
  )

  /// A segment in which one frame stands among bytes that are not zero.
  private func makeSegment(frameAt offset: Int, byteCount: Int) throws -> Segment {
    let fileSystem = InMemoryFileSystem()
    let file = try fileSystem.open("segment", .create)
    var head = ByteBuffer(capacity: SegmentHeader.byteCount)
    Self.header.encode(into: &head)
    try head.write(to: file, at: 0)
    let torn = [UInt8](repeating: 0xA5, count: byteCount - SegmentHeader.byteCount)
    try file.writeAll(torn.span.bytes, at: SegmentHeader.byteCount)
    var frame = ByteBuffer(capacity: FrameHeader.byteCount)
    _ = frame.append(
      FrameHeader(
        payloadLength: 0,
        kind: .sync,
        sequence: CommitSequence(9),
        durableEnd: 123_456,
        payloadChecksum: 0,
        chain: 7
      ),
      seed: Self.header.seed.at(offset)
    )
    try frame.write(to: file, at: offset)
    return try Segment(
      header: Self.header,
      file: file,
      capacity: byteCount,
      readableEnd: byteCount,
      reads: .copied
    )
  }

  /// Where it begins, in relation to the end of a piece.
  @Test(arguments: Array(stride(from: -2 * FrameHeader.byteCount, through: 16, by: 8)))
  func `is found wherever it lies across two pieces`(distance: Int) throws {
    let piece = 1 << 20
    for end in [1, 2] {
      let start = SegmentHeader.byteCount
      let offset = start + end * piece + distance
      let segment = try makeSegment(frameAt: offset, byteCount: 3 * piece)
      let tail = try TornTail(in: segment, from: start, to: segment.capacity)
      #expect(tail.durableEnd == 123_456)
      #expect(tail.end == segment.capacity)
    }
  }
}
