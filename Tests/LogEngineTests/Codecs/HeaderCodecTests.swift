import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

private let store = StoreIdentifier(low: 0x0123_4567_89AB_CDEF, high: 0xFEDC_BA98_7654_3210)

private let segmentHeader = SegmentHeader(
  store: store,
  segment: SegmentID(rawValue: 7),
  salt: 0x1122_3344_5566_7788,
  firstSequence: CommitSequence(100),
  logPosition: 1 << 40,
  previousSegment: SegmentID(rawValue: 6),
  previousEnd: 65_536,
  previousSequence: CommitSequence(99),
  previousChain: 0xDEAD_BEEF,
  epoch: 3,
  created: -1
)

private func decodesSegment(_ bytes: [UInt8]) -> Bool {
  (try? SegmentHeader(decoding: bytes.span.bytes, path: "-")) != nil
}

@Suite struct `A segment's header` {
  private let encoded = DamagedBytes { segmentHeader.encode(into: &$0) }

  @Test func `a segment's header reads back as it was written`() throws {
    #expect(encoded.bytes.count == 4096)
    let decoded = try SegmentHeader(decoding: encoded.bytes.span.bytes, path: "-")
    #expect(decoded == segmentHeader)
  }

  @Test func `is refused with any bit turned over`() {
    #expect(acceptedFlips(of: encoded, decodesSegment) == [])
  }

  @Test func `a segment's header is refused when it is cut`() {
    #expect(acceptedCuts(of: encoded, decodesSegment) == [])
  }

  @Test(arguments: [0, 1 << 22, UInt64.max])
  func `is refused with a number that is no segment's, under a right checksum`(number: UInt64) {
    let forged = reseal(encoded.bytes) { $0.store(number, at: 48) }
    if number == 0 {
      // Of the segment itself: a predecessor may be none. Which one it is, the name tells.
      #expect(decodesSegment(forged))
    } else {
      #expect(!decodesSegment(forged))
    }
  }
}

@Suite struct `What all headers share` {
  private let encoded = DamagedBytes { segmentHeader.encode(into: &$0) }

  @Test func `names a version that is not known`() {
    let forged = reseal(encoded.bytes) { $0.store(2 as UInt16, at: 8) }
    #expect(throws: StorageError.unsupportedVersion(path: "-", found: 2, supported: 1)) {
      try SegmentHeader(decoding: forged.span.bytes, path: "-")
    }
  }

  @Test func `names features that are not known and must be`() {
    let forged = reseal(encoded.bytes) { $0.store(6 as UInt64, at: 16) }
    #expect(throws: StorageError.unsupportedFeatures(path: "-", bits: 6)) {
      try SegmentHeader(decoding: forged.span.bytes, path: "-")
    }
  }

  @Test(arguments: [10, 24])
  func `passes over what need not be known`(offset: Int) throws {
    let forged = reseal(encoded.bytes) { $0.store(UInt16.max, at: offset) }
    let decoded = try SegmentHeader(decoding: forged.span.bytes, path: "-")
    #expect(decoded == segmentHeader)
  }
}

@Suite struct `A file's header` {
  private static let kinds: [FileHeader.Kind] = [.manifest, .checkpoint]

  private func header(_ kind: FileHeader.Kind) -> FileHeader {
    FileHeader(kind: kind, store: store, number: 12, salt: 34, created: 56)
  }

  @Test(arguments: kinds)
  func `a file's header reads back as it was written`(kind: FileHeader.Kind) throws {
    let encoded = DamagedBytes { header(kind).encode(into: &$0) }
    #expect(encoded.bytes.count == 4096)
    let decoded = try FileHeader(decoding: encoded.bytes.span.bytes, kind, path: "-")
    #expect(decoded == header(kind))
  }

  @Test(arguments: kinds)
  func `is refused with any bit turned over, when it is cut, and as another kind`(
    kind: FileHeader.Kind
  ) {
    let encoded = DamagedBytes { header(kind).encode(into: &$0) }
    func decodes(_ bytes: [UInt8]) -> Bool {
      (try? FileHeader(decoding: bytes.span.bytes, kind, path: "-")) != nil
    }
    #expect(acceptedFlips(of: encoded, decodes) == [])
    #expect(acceptedCuts(of: encoded, decodes) == [])
    for other in Self.kinds where other != kind {
      #expect(throws: StorageError.self) {
        try FileHeader(decoding: encoded.bytes.span.bytes, other, path: "-")
      }
    }
    #expect(!decodesSegment(encoded.bytes))
  }
}

/// Changes a header and makes its checksum right again.
private func reseal(_ bytes: [UInt8], _ change: (inout ByteBuffer) -> Void) -> [UInt8] {
  var buffer = ByteBuffer()
  buffer.append(bytes.span.bytes)
  change(&buffer)
  let checksum = CRC32C.extend(0, over: buffer.bytes.extracting(0..<4092))
  buffer.store(checksum, at: 4092)
  return buffer.bytes.withUnsafeBytes { Array($0) }
}
