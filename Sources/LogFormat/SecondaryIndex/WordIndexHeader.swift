import RowFormat

/// The header of the file of an index of words: runs, and the rows whose words are in none of them.
///
/// The file is derived data, which can always be left out.
///
/// Three parts: the header, runs, and the directory. A run contains the words of some rows' texts; this layer knows only its
/// bytes. The directory has for each run, the oldest first:
///
///     offset     8  of the run in the file, a multiple of eight
///     byteCount  8
///     checksum   4  CRC-32C of its bytes, from the ``FrameSeed`` of its offset
///     zero       4
///
/// and then the keys of the pending rows, eight bytes each, ascending. The header is a ``FileHeader``, in which these
/// follow:
///
///     offset  size  field
///         72    32                     of the ``IndexStamp``
///        104     4  runCount
///        108     4  directoryChecksum  CRC-32C of the directory, from the ``FrameSeed`` of its offset
///        112     8  directoryOffset
///        120     8  pendingCount       of the rows whose words have to be read again
///        128     8  zero
///        136    16                     of the stamp
///
/// A file is extended in place, like that of a ``SecondaryIndexHeader``: new runs and another directory are appended, and the
/// header is written last.
package struct WordIndexHeader: IndexFileHeader {
  package static let kind = FileHeader.Kind.wordIndex
  package static let suffix = StorePaths.wordIndexSuffix

  package var stamp: IndexStamp
  package var runCount = 0
  package var directoryChecksum: UInt32 = 0
  package var directoryOffset = FileHeader.byteCount
  package var pendingCount = 0

  /// Limits of the runs and pending rows that are read.
  static let runLimit = 1 << 16
  static let pendingLimit = 1 << 22

  package init(_ stamp: IndexStamp) { self.stamp = stamp }

  var directoryByteCount: Int { runCount * WordIndexEntry.byteCount + pendingCount * 8 }

  package func encode(_ file: FileHeader, into buffer: inout ByteBuffer) {
    file.encode(into: &buffer) { buffer in
      stamp.encode(into: &buffer) { buffer in
        buffer.append(UInt32(runCount))
        buffer.append(directoryChecksum)
        buffer.append(UInt64(directoryOffset))
        buffer.append(UInt64(pendingCount))
        buffer.append(0 as UInt64)
      }
    }
  }

  package init?(decoding bytes: RawSpan, fileSize: Int) {
    guard let stamp = IndexStamp(decoding: bytes) else { return nil }
    self.stamp = stamp
    runCount = Int(bytes.load(UInt32.self, at: 104))
    directoryChecksum = bytes.load(UInt32.self, at: 108)
    guard let directoryOffset = Int(exactly: bytes.load(UInt64.self, at: 112)),
      let pendingCount = Int(exactly: bytes.load(UInt64.self, at: 120))
    else { return nil }
    self.directoryOffset = directoryOffset
    self.pendingCount = pendingCount
    // Each bound makes the next computation safe.
    guard runCount <= Self.runLimit, pendingCount <= Self.pendingLimit,
      FileHeader.byteCount...max(fileSize, FileHeader.byteCount) ~= directoryOffset,
      directoryOffset.isMultiple(of: 8), directoryByteCount <= fileSize - directoryOffset
    else { return nil }
  }
}

/// The place of a run in its file.
package struct WordIndexEntry: Hashable, Sendable {
  let offset: Int
  package let byteCount: Int
  let checksum: UInt32

  static let byteCount = 24

  init(offset: Int, byteCount: Int, checksum: UInt32) {
    self.offset = offset
    self.byteCount = byteCount
    self.checksum = checksum
  }

  func encode(into buffer: inout ByteBuffer) {
    buffer.append(UInt64(offset))
    buffer.append(UInt64(byteCount))
    buffer.append(checksum)
    buffer.append(0 as UInt32)
  }

  /// - Returns: `nil` if the run would not be in a file of this size.
  init?(decoding bytes: RawSpan, at place: Int, fileSize: Int) {
    guard let offset = Int(exactly: bytes.load(UInt64.self, at: place)),
      let byteCount = Int(exactly: bytes.load(UInt64.self, at: place + 8)),
      offset.isMultiple(of: 8), FileHeader.byteCount...fileSize ~= offset,
      byteCount <= fileSize - offset
    else { return nil }
    self.offset = offset
    self.byteCount = byteCount
    checksum = bytes.load(UInt32.self, at: place + 16)
  }
}
