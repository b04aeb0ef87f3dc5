import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `A manifest` {
  private static func makeManifest() -> Manifest {
    var manifest = Manifest(
      number: 9,
      store: StoreIdentifier(low: 1, high: 2),
      lineage: StoreIdentifier(low: 3, high: 4)
    )
    manifest.isClean = true
    manifest.epoch = 5
    manifest.nextSegment = SegmentID(rawValue: 300)
    manifest.durableEnd = 1 << 40
    manifest.sequence = CommitSequence(12_345)
    manifest.checkpoint = 6
    manifest.application = "Tests"
    manifest.segments = [
      .init(id: SegmentID(rawValue: 298), end: 1 << 20),
      .init(id: SegmentID(rawValue: 299), end: 4096),
    ]
    return manifest
  }

  private static let encoded = DamagedBytes {
    makeManifest().encode(salt: 7, created: 8, into: &$0)
  }

  private static func accepts(_ bytes: [UInt8]) -> Bool {
    (try? Manifest(decoding: bytes.span.bytes, path: "-")) != nil
  }

  @Test func `a manifest reads back as it was written`() throws {
    let bytes = Self.encoded.bytes
    let decoded = try Manifest(decoding: bytes.span.bytes, path: "-")
    #expect(decoded == Self.makeManifest())
  }

  @Test func `is refused with any bit turned over`() {
    #expect(acceptedFlips(of: Self.encoded, Self.accepts) == [])
  }

  @Test func `a manifest is refused when it is cut`() {
    #expect(acceptedCuts(of: Self.encoded, Self.accepts) == [])
  }

  @Test func `may say anything under a right checksum`() {
    let start = FileHeader.byteCount + FrameHeader.byteCount
    let payload = DamagedBytes(Array(Self.encoded.bytes[start...]))
    payload.forEachForgery { damaged, _ in
      _ = Self.accepts(Self.sealed(damaged))
    }
    payload.forEachCut { damaged in
      if damaged.count % 8 == 0 { _ = Self.accepts(Self.sealed(damaged)) }
    }
  }

  /// The manifest with another payload, its checksums right.
  private static func sealed(_ payload: [UInt8]) -> [UInt8] {
    let header = FileHeader(
      kind: .manifest,
      store: StoreIdentifier(low: 1, high: 2),
      number: 9,
      salt: 7,
      created: 8
    )
    return DamagedBytes { buffer in
      header.encode(into: &buffer)
      let frame = FrameHeader(
        payloadLength: payload.count,
        kind: .manifest,
        sequence: .zero,
        durableEnd: 0,
        payloadChecksum: CRC32C.extend(0, over: payload.span.bytes),
        chain: 0
      )
      buffer.append(frame, seed: header.seed.at(FileHeader.byteCount))
      buffer.append(payload.span.bytes)
    }.bytes
  }
}
