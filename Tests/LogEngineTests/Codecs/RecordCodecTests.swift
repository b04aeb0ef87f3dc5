import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `A record` {
  private func record(_ kind: RecordKind, body: String) -> DamagedBytes {
    DamagedBytes { buffer in
      let header = RecordHeader(
        kind: kind,
        depth: 3,
        table: 5,
        bodyLength: 0,
        key: 0x0000_1234_5678_9ABC,
        layout: LayoutNumber(2),
        distance: 4096,
        load: 17,
        checksum: 0,
        previous: kind.hasPrevious
          ? RecordPlace(segment: SegmentID(rawValue: 9), offset: 65_536) : .none
      )
      header.encode(into: &buffer)
      buffer.append(utf8: body)
      RecordHeader.seal(at: 0, bodyLength: body.utf8.count, in: &buffer)
    }
  }

  private func decode(_ bytes: [UInt8]) -> RecordHeader? {
    RecordHeader(decoding: bytes.span.bytes)
  }

  private func accepts(_ bytes: [UInt8]) -> Bool {
    guard let header = RecordHeader(decoding: bytes.span.bytes) else { return false }
    return header.isIntact(in: bytes.span.bytes)
  }

  @Test(arguments: RecordKind.allCases, ["", "a", "eight by", "a longer body than that"])
  func `a record reads back as it was written`(kind: RecordKind, body: String) throws {
    let encoded = record(kind, body: body)
    #expect(encoded.bytes.count % 8 == 0)
    let header = try #require(decode(encoded.bytes))
    #expect(accepts(encoded.bytes))
    #expect(header.kind == kind && header.depth == 3 && header.table == 5 && header.load == 17)
    #expect(header.key == 0x1234_5678_9ABC && header.layout == LayoutNumber(2))
    #expect(header.distance == 4096 && header.bodyLength == body.utf8.count)
    #expect(header.totalByteCount == encoded.bytes.count)
    #expect(Array(encoded.bytes[header.bodyRange]) == Array(body.utf8))
    if kind.hasPrevious {
      #expect(header.previous.segment == SegmentID(rawValue: 9))
      #expect(header.previous.offset == 65_536)
    } else {
      #expect(header.previous.isNone)
    }
  }

  @Test(arguments: RecordKind.allCases)
  func `is refused with any bit turned over that its checksum covers`(kind: RecordKind) throws {
    let encoded = record(kind, body: "thirteen byte")
    let header = try #require(decode(encoded.bytes))
    let covered = 0..<header.bodyRange.upperBound
    #expect(acceptedFlips(of: encoded, in: covered, accepts) == [])
    let padding = covered.upperBound..<encoded.bytes.count
    #expect(acceptedFlips(of: encoded, in: padding, accepts).count == padding.count * 8)
  }

  @Test(arguments: RecordKind.allCases)
  func `a record is refused when it is cut`(kind: RecordKind) {
    #expect(acceptedCuts(of: record(kind, body: "thirteen byte"), accepts) == [])
  }

  @Test(arguments: RecordKind.allCases)
  func `stays inside its bytes, whatever it says of itself`(kind: RecordKind) {
    record(kind, body: "thirteen byte").forEachForgery { damaged, byte in
      guard let header = RecordHeader(decoding: damaged.span.bytes) else { return }
      #expect(header.totalByteCount <= damaged.count, "byte \(byte)")
      _ = header.isIntact(in: damaged.span.bytes)
    }
  }
}

@Suite struct `A location` {
  @Test(arguments: [1, SegmentID.maximum.rawValue], [4096, RecordLocation.offsetLimit - 8])
  func `names the same place as the record before it would`(segment: UInt32, offset: Int) {
    let id = SegmentID(rawValue: segment)
    for kind in RecordKind.allCases {
      for depth in [0, RecordLocation.maximumDepth] {
        let location = RecordLocation(segment: id, offset: offset, kind: kind, depth: depth)
        #expect(location.segment == id && location.offset == offset)
        #expect(location.kind == kind && location.depth == depth)
        #expect(location.place == RecordPlace(segment: id, offset: offset))
        #expect(location.place.segment == id && location.place.offset == offset)
      }
    }
  }
}
