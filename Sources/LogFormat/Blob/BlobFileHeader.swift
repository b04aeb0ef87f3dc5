import RowFormat

/// The first 64 bytes of a blob's file, which the value's bytes follow to its end; integers are
/// little-endian.
///
///     offset  size  field
///          0     8  magic         8B 53 44 42 0D 0A 1A 0A
///          8     2  formatMajor   as in a ``SegmentHeader``
///         10     2  formatMinor
///         12     4  headerSize    64
///         16    16  store         ``StoreIdentifier``
///         32     8  number        `BlobID`, as in the file's name
///         40     8  length        of the value, in bytes
///         48     4  content       CRC-32C of the value's bytes
///         52     8  zero
///         60     4  checksum      CRC-32C of bytes 0 ..< 60
///
/// Number, length and content are in the row that owns the blob, too: so a complete file that is not the one the row refers to
/// is detected.
package struct BlobFileHeader: Hashable {
  package var store: StoreIdentifier
  package var reference: BlobReference

  @inlinable package static var byteCount: Int { 64 }
  @inlinable package static var magic: UInt64 { 0x0A1A_0A0D_4244_538B }

  package func encode(into buffer: inout ByteBuffer) {
    let start = buffer.count
    buffer.append(BlobFileHeader.magic)
    buffer.append(FormatVersion.major)
    buffer.append(FormatVersion.minor)
    buffer.append(UInt32(BlobFileHeader.byteCount))
    store.encode(into: &buffer)
    buffer.append(reference.id.rawValue)
    buffer.append(UInt64(reference.byteCount))
    buffer.append(reference.checksum)
    buffer.append(0 as UInt64)
    buffer.append(CRC32C.extend(0, over: buffer.bytes.extracting(start..<buffer.count)))
  }

  package init(store: StoreIdentifier, reference: BlobReference) {
    self.store = store
    self.reference = reference
  }

  package init(decoding bytes: RawSpan, path: String) throws(StorageError) {
    guard bytes.byteCount >= BlobFileHeader.byteCount else {
      let problem = Corruption.Problem.truncated(
        .blob,
        needed: BlobFileHeader.byteCount,
        available: bytes.byteCount
      )
      throw .corruption(Corruption(path: path, offset: 0, problem: problem))
    }
    let expected = CRC32C.extend(0, over: bytes.extracting(0..<60))
    let found = bytes.load(UInt32.self, at: 60)
    guard bytes.load(UInt64.self, at: 0) == BlobFileHeader.magic, expected == found else {
      let problem = Corruption.Problem.checksumMismatch(
        of: .blob,
        expected: expected,
        found: found
      )
      throw .corruption(Corruption(path: path, offset: 0, problem: problem))
    }
    let major = bytes.load(UInt16.self, at: 8)
    guard major == FormatVersion.major else {
      throw .unsupportedVersion(path: path, found: major, supported: FormatVersion.major)
    }
    store = StoreIdentifier(decoding: bytes, at: 16)
    reference = BlobReference(
      id: BlobID(rawValue: bytes.load(UInt64.self, at: 32)),
      byteCount: Int(clamping: bytes.load(UInt64.self, at: 40)),
      checksum: bytes.load(UInt32.self, at: 48)
    )
  }

  /// Checks that the file is the one that a row refers to.
  package func check(
    _ expected: BlobReference,
    of store: StoreIdentifier,
    path: String
  ) throws(StorageError) {
    let fields: [(String, UInt64, UInt64)] = [
      ("store", store.low, self.store.low),
      ("store", store.high, self.store.high),
      ("number", expected.id.rawValue, reference.id.rawValue),
      ("length", UInt64(expected.byteCount), UInt64(reference.byteCount)),
      ("content", UInt64(expected.checksum), UInt64(reference.checksum)),
    ]
    for (name, expected, found) in fields where expected != found {
      let problem = Corruption.Problem.invalidField(
        of: .blob,
        name: name,
        expected: expected,
        found: found
      )
      throw .corruption(Corruption(path: path, offset: 0, problem: problem))
    }
  }
}
