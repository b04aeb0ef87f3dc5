import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

private let store = StoreIdentifier(low: 1, high: 2)
private let seed = FrameSeed(store: store, file: 3, salt: 4)

@Suite struct `A frame's header` {
  private let header = FrameHeader(
    payloadLength: 4096,
    kind: .commit,
    sequence: CommitSequence(77),
    durableEnd: 1 << 33,
    payloadChecksum: 0x1234_5678,
    chain: 0x9ABC_DEF0
  )
  private var encoded: DamagedBytes { DamagedBytes { $0.append(header, seed: seed.at(4096)) } }

  @Test func `a frame's header reads back as it was written`() throws {
    #expect(encoded.bytes.count == 40)
    let found = FrameHeader(decoding: encoded.bytes.span.bytes, seed: seed.at(4096))
    var decoded = try #require(found)
    decoded.headerChecksum = 0
    #expect(decoded == header)
  }

  @Test func `is refused with any bit turned over`() {
    let accepted = acceptedFlips(of: encoded) {
      FrameHeader(decoding: $0.span.bytes, seed: seed.at(4096)) != nil
    }
    #expect(accepted == [])
  }

  @Test func `a frame's header is refused when it is cut`() {
    let accepted = acceptedCuts(of: encoded) {
      FrameHeader(decoding: $0.span.bytes, seed: seed.at(4096)) != nil
    }
    #expect(accepted == [])
  }

  @Test func `is refused at any other place`() {
    let bytes = encoded.bytes
    let elsewhere = [
      seed.at(4104), seed.at(0),
      FrameSeed(store: StoreIdentifier(low: 2, high: 1), file: 3, salt: 4).at(4096),
      FrameSeed(store: store, file: 4, salt: 4).at(4096),
      FrameSeed(store: store, file: 3, salt: 5).at(4096),
    ]
    for seed in elsewhere {
      let found = FrameHeader(decoding: bytes.span.bytes, seed: seed)
      #expect(found == nil)
    }
  }

  /// What the article on the format says, byte by byte.
  @Test func `has the checksum of its place and its bytes from eight on`() {
    let bytes = encoded.bytes
    let rest = Array(bytes[8...])
    let covered = DamagedBytes { buffer in
      store.encode(into: &buffer)
      buffer.append(3 as UInt64)
      buffer.append(4 as UInt64)
      buffer.append(4096 as UInt64)
      buffer.append(rest.span.bytes)
    }
    let found = bytes.span.bytes.load(UInt32.self, at: 4)
    let expected = CRC32C.extend(0, over: covered.bytes.span.bytes)
    #expect(found == expected)
  }

  @Test(arguments: [1, 7, FrameHeader.payloadLimit + 8])
  func `is refused with a length that cannot be, under a right checksum`(length: Int) {
    var forged = header
    forged.payloadLength = length
    let bytes = DamagedBytes { $0.append(forged, seed: seed.at(4096)) }.bytes
    let found = FrameHeader(decoding: bytes.span.bytes, seed: seed.at(4096))
    #expect(found == nil)
  }

  @Test(arguments: [0, 9, 255] as [UInt8])
  func `is refused with a kind that is not known, under a right checksum`(kind: UInt8) {
    var buffer = ByteBuffer()
    buffer.append(header, seed: seed.at(4096))
    buffer.store(kind, at: 12)
    buffer.store(CRC32C.extend(seed.at(4096), over: buffer.bytes.extracting(8..<40)), at: 4)
    let found = FrameHeader(decoding: buffer.bytes, seed: seed.at(4096))
    #expect(found == nil)
  }
}

@Suite struct `A commit's payload` {
  @Test(arguments: [0, -1, Int64.max >> 8, Int64.min >> 8, 1_700_000_000_000_000])
  func `keeps its time`(microseconds: Int64) throws {
    let bytes = DamagedBytes {
      $0.append(CommitPayload.encode(microseconds: microseconds, authorLength: 0))
    }.bytes
    let found = CommitPayload(decoding: bytes.span.bytes)
    let payload = try #require(found)
    #expect(payload.microseconds == microseconds)
    #expect(payload.recordRange == 8..<8)
  }

  @Test func `stays inside itself, however it is damaged`() {
    let encoded = DamagedBytes { buffer in
      buffer.append(CommitPayload.encode(microseconds: 1, authorLength: 5))
      buffer.appendZeros(48)
      buffer.append(utf8: "Alice")
      buffer.appendZeros(3)
    }
    func check(_ bytes: [UInt8]) {
      guard let payload = CommitPayload(decoding: bytes.span.bytes) else { return }
      #expect(payload.recordRange.upperBound <= bytes.count)
      #expect(payload.authorRange.upperBound <= bytes.count)
      _ = payload.author(in: bytes.span.bytes)
    }
    encoded.forEachFlip { damaged, _ in check(damaged) }
    encoded.forEachForgery { damaged, _ in check(damaged) }
    encoded.forEachCut { check($0) }
  }
}
