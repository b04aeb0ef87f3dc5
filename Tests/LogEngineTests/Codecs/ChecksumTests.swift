import LogFormat
import RowFormat
import Testing

@Suite struct `The checksum of bytes` {
  /// CRC-32C by its definition, a bit at a time.
  private func reference(_ bytes: some Sequence<UInt8>, from start: UInt32) -> UInt32 {
    var crc = ~start
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0x82F6_3B78 }
    }
    return ~crc
  }

  private let bytes = (0..<7000).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 5) }

  private func checksum(_ range: Range<Int>, from start: UInt32) -> UInt32 {
    CRC32C.extend(start, over: bytes.span.bytes.extracting(range))
  }

  @Test func `is that of the standard's example`() {
    let digits = Array("123456789".utf8)
    #expect(CRC32C.extend(0, over: digits.span.bytes) == 0xE306_9283)
  }

  @Test(arguments: [0, 1, 0xDEAD_BEEF, UInt32.max])
  func `is the definition's for every length of a record, aligned or not`(start: UInt32) {
    for length in 0..<1000 {
      for offset in [0, 1, 7] {
        let range = offset..<(offset + length)
        #expect(
          checksum(range, from: start) == reference(bytes[range], from: start),
          "\(length) bytes at \(offset)"
        )
      }
    }
  }

  @Test(arguments: [143, 144, 145, 767, 768, 769, 911, 912, 913, 6143, 6144, 6145, 6288, 6999])
  func `is the definition's where streams side by side begin and end`(length: Int) {
    #expect(checksum(0..<length, from: 5) == reference(bytes[..<length], from: 5))
    let half = length / 2
    #expect(
      checksum(half..<length, from: checksum(0..<half, from: 5)) == checksum(0..<length, from: 5)
    )
  }
}
