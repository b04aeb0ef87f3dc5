import RowFormat

/// The identity of an index's file, and the commit it is up to date with: the same fields in every index's header.
///
///     offset  size  field
///         72     8  sequence  the last commit that the index includes
///         80     8  mark      identifies the commit of that number: a ``CommitMark``
///         88    16  digest    of the index's definition and its tables
///        136     8  segment   of the mark
///        144     8  offset    of the mark
package struct IndexStamp: Hashable, Sendable {
  package var sequence: CommitSequence
  package var mark: CommitMark
  package var digest: Digest

  /// The identity of an index's definition.
  package struct Digest: Hashable, Sendable {
    package let low: UInt64
    package let high: UInt64

    package init(low: UInt64, high: UInt64) {
      self.low = low
      self.high = high
    }
  }

  package init(sequence: CommitSequence, mark: CommitMark, digest: Digest) {
    self.sequence = sequence
    self.mark = mark
    self.digest = digest
  }

  /// Appends the stamp; `body` appends the 32 bytes between its parts.
  func encode(into buffer: inout ByteBuffer, _ body: (inout ByteBuffer) -> Void) {
    buffer.append(sequence.rawValue)
    buffer.append(mark.value)
    buffer.append(digest.low)
    buffer.append(digest.high)
    body(&buffer)
    buffer.append(UInt64(mark.segment.rawValue))
    buffer.append(UInt64(mark.offset))
  }

  /// - Returns: `nil` if the place of the mark cannot be one.
  init?(decoding bytes: RawSpan) {
    guard let segment = UInt32(exactly: bytes.load(UInt64.self, at: 136)),
      let offset = Int(exactly: bytes.load(UInt64.self, at: 144))
    else { return nil }
    sequence = CommitSequence(bytes.load(UInt64.self, at: 72))
    digest = Digest(low: bytes.load(UInt64.self, at: 88), high: bytes.load(UInt64.self, at: 96))
    mark = CommitMark(
      value: bytes.load(UInt64.self, at: 80),
      segment: SegmentID(rawValue: segment),
      offset: offset
    )
  }
}

/// The header of an index's file.
package protocol IndexFileHeader: Hashable, Sendable {
  /// The kind of file with this header.
  static var kind: FileHeader.Kind { get }
  /// The suffix of the files' names.
  static var suffix: String { get }
  var stamp: IndexStamp { get set }

  func encode(_ file: FileHeader, into buffer: inout ByteBuffer)

  /// Reads the fields of a header with a valid checksum.
  ///
  /// - Returns: `nil` if they are invalid for a file of this size.
  init?(decoding bytes: RawSpan, fileSize: Int)
}

extension IndexFileHeader {
  package var sequence: CommitSequence { stamp.sequence }
  package var mark: CommitMark { stamp.mark }
  package var digest: IndexStamp.Digest { stamp.digest }
}
