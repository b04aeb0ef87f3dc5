import RowFormat

/// The first 4,096 bytes of a manifest, a checkpoint, a pack or an index; integers are little-endian.
///
///     offset  size  field
///          0     8  magic         8B 53 44, then 4D for a manifest, 43 for a checkpoint, 50 for
///                                a pack, 4B for a secondary index, 57 for an index of words, then
///                                0D 0A 1A 0A
///          8     2  formatMajor   as in a ``SegmentHeader``, like the next four
///         10     2  formatMinor
///         12     4  headerSize    4,096
///         16     8  incompatible
///         24     8  compatible
///         32    16  store         ``StoreIdentifier``
///         48     8  number        of the manifest, checkpoint or pack; the name of an index
///         56     8  salt          random
///         64     8  created       microseconds since 1970
///         72  4020  zero, or the particular fields of the kind of file
///       4092     4  checksum      CRC-32C of bytes 0 ..< 4092
package struct FileHeader: Hashable {
  package var kind: Kind
  package var store: StoreIdentifier
  package var number: UInt64
  package var salt: UInt64
  package var created: Int64
  /// The incompatible features that the file uses.
  var features: UInt64 = 0

  package enum Kind: UInt64 {
    case manifest = 0x0A1A_0A0D_4D44_538B
    case checkpoint = 0x0A1A_0A0D_4344_538B
    case pack = 0x0A1A_0A0D_5044_538B
    case secondaryIndex = 0x0A1A_0A0D_4B44_538B
    case wordIndex = 0x0A1A_0A0D_5744_538B

    package var part: Corruption.Part {
      switch self {
      case .manifest: .manifest
      case .checkpoint: .checkpoint
      case .pack: .pack
      case .secondaryIndex, .wordIndex: .secondaryIndex
      }
    }
  }

  @inlinable package static var byteCount: Int { 4096 }
  /// The offset of the fields that are particular to the kind of file.
  @inlinable package static var particularOffset: Int { 72 }

  package var seed: FrameSeed { FrameSeed(store: store, file: number, salt: salt) }

  /// Appends the header; `body` appends the particular fields of the kind of file.
  package func encode(into buffer: inout ByteBuffer, _ body: (inout ByteBuffer) -> Void = { _ in })
  {
    let start = buffer.count
    buffer.append(kind.rawValue)
    buffer.append(FormatVersion.major)
    buffer.append(FormatVersion.minor)
    buffer.append(UInt32(FileHeader.byteCount))
    buffer.append(features)
    buffer.append(0 as UInt64)
    store.encode(into: &buffer)
    buffer.append(number)
    buffer.append(salt)
    buffer.append(created)
    body(&buffer)
    BlockHeader.seal(from: start, in: &buffer)
  }

  package init(decoding bytes: RawSpan, _ kind: Kind, path: String) throws(StorageError) {
    try BlockHeader.check(bytes, magic: kind.rawValue, part: kind.part, path: path)
    self.kind = kind
    features = bytes.load(UInt64.self, at: 16)
    store = StoreIdentifier(decoding: bytes, at: 32)
    number = bytes.load(UInt64.self, at: 48)
    salt = bytes.load(UInt64.self, at: 56)
    created = Int64(bitPattern: bytes.load(UInt64.self, at: 64))
  }

  package init(
    kind: Kind,
    store: StoreIdentifier,
    number: UInt64,
    salt: UInt64,
    created: Int64,
    features: UInt64 = 0
  ) {
    self.kind = kind
    self.store = store
    self.number = number
    self.salt = salt
    self.created = created
    self.features = features
  }
}
