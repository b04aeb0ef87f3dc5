import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `A compressed chunk` {
  /// What was stored is as it was written, and stands for other bytes than those that were packed: as a fault
  /// of the compressor, or of memory while it ran, would leave it.
  @Test func `is refused if it decodes to bytes that were not packed`() throws {
    let bytes = [UInt8](repeating: 7, count: 4096)
    var stored = ByteBuffer(capacity: 4096)
    _ = try #require(LZ4.compress(bytes.span.bytes, upTo: 4096, into: &stored))
    var entry = ChunkEntry(
      end: 0,
      rawByteCount: bytes.count,
      checksum: CRC32C.extend(0, over: stored.bytes),
      rawChecksum: CRC32C.extend(0, over: bytes.span.bytes),
      encoding: .plain,
      codec: .lz4,
      hasNulls: false
    )
    func damage(_ problem: Corruption.Problem) -> StorageError {
      .corruption(Corruption(path: "pack", offset: 0, problem: problem))
    }
    var unpacked = ByteBuffer(capacity: 4096)
    try entry.unpack(stored.bytes, into: &unpacked, damage)
    #expect(unpacked.count == bytes.count)

    entry.rawChecksum ^= 1
    #expect(throws: StorageError.self) {
      try entry.unpack(stored.bytes, into: &unpacked, damage)
    }
  }
}
