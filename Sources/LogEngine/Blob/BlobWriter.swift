import LogFormat
import RowFormat

/// Writes the file of one blob piece by piece, under a name that nothing refers to yet.
struct BlobWriter {
  let id: BlobID
  let file: any OpenFile
  private let store: StoreIdentifier
  private var byteCount = 0
  private var checksum: UInt32 = 0

  /// Creates the file; if its length is known, a full device is detected at once.
  init(
    _ id: BlobID,
    at path: String,
    byteCount: Int?,
    _ fileSystem: any FileSystem,
    _ store: StoreIdentifier
  ) throws(StorageError) {
    self.id = id
    self.store = store
    file = try fileSystem.open(path, .create)
    if let byteCount { try file.allocate(BlobFileHeader.byteCount + byteCount) }
  }

  mutating func append(_ bytes: RawSpan) throws(StorageError) {
    guard bytes.byteCount > 0 else { return }
    guard bytes.byteCount <= BlobReference.byteCountLimit - byteCount else {
      throw .tooLarge(
        byteCount: byteCount + bytes.byteCount,
        limit: BlobReference.byteCountLimit
      )
    }
    try file.writeAll(bytes, at: BlobFileHeader.byteCount + byteCount)
    checksum = CRC32C.extend(checksum, over: bytes)
    byteCount += bytes.byteCount
  }

  /// Writes the header, which holds the length and the checksum.
  func finish() throws(StorageError) -> BlobReference {
    let reference = BlobReference(id: id, byteCount: byteCount, checksum: checksum)
    var header = ByteBuffer(capacity: BlobFileHeader.byteCount)
    BlobFileHeader(store: store, reference: reference).encode(into: &header)
    try header.write(to: file, at: 0)
    return reference
  }
}
