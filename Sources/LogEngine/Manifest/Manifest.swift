import RowFormat

/// The file that makes a directory a store; integers are little-endian.
///
///     offset  size  field
///          0     8  magic             89 53 44 4D 0D 0A 1A 0A
///          8     2  formatMajor
///         10     2  formatMinor
///         12     4  headerSize        4,096
///         16     8  incompatible      feature bits
///         24     8  compatible        feature bits
///         32    16  store             ``StoreIdentifier``
///         48     8  created           microseconds since 1970
///         56     2  applicationLength
///         58     n  application       UTF-8: the program the store belongs to
///       4092     4  checksum          CRC-32C of bytes 0 ..< 4092
struct Manifest {
  var store: StoreIdentifier
  var created: Int64
  var application: String

  static let magic: UInt64 = 0x0A1A_0A0D_4D44_5389

  func encode(into buffer: inout ByteBuffer) {
    let start = buffer.count
    buffer.append(Manifest.magic)
    buffer.append(FormatVersion.major)
    buffer.append(FormatVersion.minor)
    buffer.append(UInt32(BlockHeader.byteCount))
    buffer.append(0 as UInt64)
    buffer.append(0 as UInt64)
    store.encode(into: &buffer)
    buffer.append(created)
    buffer.append(UInt16(application.utf8.count))
    buffer.append(utf8: application)
    BlockHeader.seal(from: start, in: &buffer)
  }

  init(store: StoreIdentifier, created: Int64, application: String) {
    self.store = store
    self.created = created
    self.application = application
  }

  init(decoding bytes: RawSpan, path: String) throws(StorageError) {
    try BlockHeader.check(bytes, magic: Manifest.magic, part: .manifest, path: path)
    store = StoreIdentifier(decoding: bytes, at: 32)
    created = Int64(bitPattern: bytes.load(UInt64.self, at: 48))
    let length = Int(bytes.load(UInt16.self, at: 56))
    guard 58 + length <= 4092 else {
      throw .corruption(
        Corruption(
          path: path,
          offset: 56,
          problem: .truncated(.manifest, needed: 58 + length, available: 4092)
        )
      )
    }
    application = unsafe bytes.extracting(58..<(58 + length)).withUnsafeBytes {
      unsafe String(decoding: $0, as: UTF8.self)
    }
  }
}
