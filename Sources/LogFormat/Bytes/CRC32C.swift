public import CCRC32C
import RowFormat

/// The checksum of everything the engine writes: CRC-32C, by the processor's instruction.
@usableFromInline package enum CRC32C {
  /// Extends a checksum over more bytes; the checksum of no bytes is 0.
  @inlinable @inline(__always)
  package static func extend(_ checksum: UInt32, over bytes: RawSpan) -> UInt32 {
    unsafe bytes.withUnsafeBytes { unsafe crc32c_extend(checksum, $0.baseAddress, $0.count) }
  }

  /// Extends a checksum over the eight little-endian bytes of an integer.
  @inlinable @inline(__always)
  package static func extend(_ checksum: UInt32, over value: UInt64) -> UInt32 {
    unsafe withUnsafeBytes(of: value.littleEndian) {
      unsafe crc32c_extend(checksum, $0.baseAddress, 8)
    }
  }
}
