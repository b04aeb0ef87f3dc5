import RowFormat

/// The header of the file of a secondary index: keys in order, each with its row.
///
/// The file is derived data, which can always be left out.
///
/// Three parts: the header, blocks, and the directory. An *entry* is `wordCount` words of a key and then the raw
/// ``/RowFormat/RowReference`` of its row, eight bytes each; entries ascend, word by word. A block has 1 to 256 entries
/// and nothing else. The directory has for each block, in the order of their keys:
///
///     first     an entry     the block's first
///     offset    8            of the block in the file, a multiple of eight
///     count     4            of its entries
///     checksum  4            CRC-32C of its bytes, from the ``FrameSeed`` of its offset
///
/// The header is a ``FileHeader``, in which these follow:
///
///     offset  size  field
///         72    32                     of the ``IndexStamp``
///        104     4  wordCount          of a key, 1 to 4
///        108     4  directoryChecksum  CRC-32C of the directory, from the ``FrameSeed`` of its offset
///        112     8  directoryOffset
///        120     8  blockCount
///        128     8  entryCount
///        136    16                     of the stamp
///
/// A file is extended in place: changed blocks and another directory are appended, and the header is written last. So a process
/// that stops before that leaves the file unchanged. A power cut may leave anything: a disposable file is not synchronized, and
/// parts that do not match their checksums are ignored.
package struct SecondaryIndexHeader: IndexFileHeader {
  package static let kind = FileHeader.Kind.secondaryIndex
  package static let suffix = StorePaths.secondaryIndexSuffix

  package var stamp: IndexStamp
  package var wordCount: Int
  package var directoryChecksum: UInt32 = 0
  package var directoryOffset = FileHeader.byteCount
  package var blockCount = 0
  package var entryCount = 0

  /// The maximum number of words in a key.
  package static let wordLimit = 4
  /// The maximum number of entries in a block.
  package static let blockLimit = 256
  /// Limit of a directory, in bytes: for about 500 million entries.
  static let directoryByteLimit = 96 << 20

  package init(_ stamp: IndexStamp, wordCount: Int) {
    precondition(1...Self.wordLimit ~= wordCount, "a key of \(wordCount) words")
    self.stamp = stamp
    self.wordCount = wordCount
  }

  /// The number of words in an entry.
  var stride: Int { wordCount + 1 }
  /// The number of words in the directory for a block.
  var directoryStride: Int { stride + 2 }
  var directoryByteCount: Int { blockCount * directoryStride * 8 }

  package func encode(_ file: FileHeader, into buffer: inout ByteBuffer) {
    file.encode(into: &buffer) { buffer in
      stamp.encode(into: &buffer) { buffer in
        buffer.append(UInt32(wordCount))
        buffer.append(directoryChecksum)
        buffer.append(UInt64(directoryOffset))
        buffer.append(UInt64(blockCount))
        buffer.append(UInt64(entryCount))
      }
    }
  }

  package init?(decoding bytes: RawSpan, fileSize: Int) {
    guard let stamp = IndexStamp(decoding: bytes) else { return nil }
    self.stamp = stamp
    wordCount = Int(bytes.load(UInt32.self, at: 104))
    directoryChecksum = bytes.load(UInt32.self, at: 108)
    guard 1...Self.wordLimit ~= wordCount,
      let directoryOffset = Int(exactly: bytes.load(UInt64.self, at: 112)),
      let blockCount = Int(exactly: bytes.load(UInt64.self, at: 120)),
      let entryCount = Int(exactly: bytes.load(UInt64.self, at: 128))
    else { return nil }
    self.directoryOffset = directoryOffset
    self.blockCount = blockCount
    self.entryCount = entryCount
    // Each bound makes the next computation safe.
    guard blockCount <= Self.directoryByteLimit / 8 / directoryStride,
      FileHeader.byteCount...max(fileSize, FileHeader.byteCount) ~= directoryOffset,
      directoryOffset.isMultiple(of: 8), directoryByteCount <= fileSize - directoryOffset,
      blockCount <= entryCount, entryCount <= blockCount * Self.blockLimit
    else { return nil }
  }
}
