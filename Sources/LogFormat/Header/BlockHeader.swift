import RowFormat

/// The common parts of the 4,096-byte headers of segments, manifests and checkpoints: magic, versions and feature bits at the
/// start, a checksum at the end.
enum BlockHeader {
  static let byteCount = 4096

  /// Pads the header that began at `start` and writes its checksum.
  static func seal(from start: Int, in buffer: inout ByteBuffer) {
    buffer.appendZeros(start + byteCount - 4 - buffer.count)
    buffer.append(CRC32C.extend(0, over: buffer.bytes.extracting(start..<buffer.count)))
  }

  /// Checks the common parts of a header.
  static func check(
    _ bytes: RawSpan,
    magic: UInt64,
    part: Corruption.Part,
    path: String
  ) throws(StorageError) {
    guard bytes.byteCount >= byteCount else {
      let problem = Corruption.Problem.truncated(
        part,
        needed: byteCount,
        available: bytes.byteCount
      )
      throw .corruption(Corruption(path: path, offset: 0, problem: problem))
    }
    let expected = CRC32C.extend(0, over: bytes.extracting(0..<(byteCount - 4)))
    let found = bytes.load(UInt32.self, at: byteCount - 4)
    guard bytes.load(UInt64.self, at: 0) == magic, expected == found else {
      let problem = Corruption.Problem.checksumMismatch(
        of: part,
        expected: expected,
        found: found
      )
      throw .corruption(Corruption(path: path, offset: 0, problem: problem))
    }
    let major = bytes.load(UInt16.self, at: 8)
    guard major == FormatVersion.major else {
      throw .unsupportedVersion(path: path, found: major, supported: FormatVersion.major)
    }
    let unknown = bytes.load(UInt64.self, at: 16) & ~FormatVersion.knownFeatures
    guard unknown == 0 else { throw .unsupportedFeatures(path: path, bits: unknown) }
  }
}
