import RowFormat

/// Where every key was at one commit: the index on disk, so that opening a store reads only the log
/// that came after.
///
/// A checkpoint is disposable. One that is damaged, foreign or older than the log is passed
/// over, and the log read from an earlier place. Its file has three parts: a ``FileHeader``, the pages,
/// and the metadata; each ``CheckpointIncrement`` follows them. The header's particular fields are
///
///     offset  size  field
///         72     8  metadataOffset    4,096 for the header and for each page
///         80     8  metadataLength    increments begin where the metadata end
///         88     4  metadataChecksum  CRC-32C of the metadata
///
/// A page is 4,096 bytes: the ``RecordLocation`` of 512 keys in a row, 8 bytes each; page *n* of a table
/// begins with key 512 *n*. The tables' pages are in the order in which the metadata names them. There
/// numbers are varints, unless a size is given.
///
///     lineage         16 bytes, as in the ``Manifest``
///     segment         where it is in the log: the segment,
///     offset            the offset after a frame,
///     frame             the offset of that frame, 0 where a segment begins,
///     chain             4 bytes: that frame's header checksum,
///     sequence          the last commit before,
///     logPosition       and the place counted over all segments
///     durableEnd      log position up to which the log was on disk before the checkpoint was
///     usages          a count, then each: segment, table, record bytes, live bytes
///     catalogue       ``Catalogue``
///     tables          a count, then each by ascending number:
///       number, nextKey, count of rows, count of pages
///       pages         each by ascending number: how many page numbers were left out before it,
///                     and 4 bytes: CRC-32C of the page
///     nextBlob        no row of a commit before refers to this blob or a later one; nothing if none
///                     refers to any
///
/// Everything but the pages is as of exactly that commit. The pages were copied while commits went on, so
/// they may name later records; reading the log again from there ends with the same index all the same,
/// since each record names its place by itself. It must only be long enough: ``durableEnd`` is at or
/// after every record the pages name.
@usableFromInline package struct Checkpoint: Hashable {
  package var number: UInt64
  package var store: StoreIdentifier
  package var lineage: StoreIdentifier
  package var place: LogPlace
  package var nextBlob = BlobID(rawValue: 1)
  package var durableEnd: UInt64
  package var usages: SegmentUsages
  package var catalogue: Catalogue
  package var tables: [TableImage] = []

  package init(
    number: UInt64,
    store: StoreIdentifier,
    lineage: StoreIdentifier,
    place: LogPlace,
    nextBlob: BlobID = BlobID(rawValue: 1),
    durableEnd: UInt64,
    usages: SegmentUsages,
    catalogue: Catalogue,
    tables: [TableImage] = []
  ) {
    self.number = number
    self.store = store
    self.lineage = lineage
    self.place = place
    self.nextBlob = nextBlob
    self.durableEnd = durableEnd
    self.usages = usages
    self.catalogue = catalogue
    self.tables = tables
  }

  /// What a checkpoint holds of a table.
  package struct TableImage: Hashable {
    package var number: UInt16
    package var nextKey: UInt64
    package var rowCount: Int
    package var pages: [PageImage] = []

    package init(number: UInt16, nextKey: UInt64, rowCount: Int, pages: [PageImage] = []) {
      self.number = number
      self.nextKey = nextKey
      self.rowCount = rowCount
      self.pages = pages
    }
  }

  /// A page's number, and the checksum of its bytes.
  package struct PageImage: Hashable {
    package var number: UInt64
    package var checksum: UInt32

    package init(number: UInt64, checksum: UInt32) {
      self.number = number
      self.checksum = checksum
    }
  }

  /// How many keys a page holds the places of.
  @inlinable package static var slotsPerPage: Int { 512 }
  /// How many bytes a page takes.
  @inlinable package static var pageByteCount: Int { 4096 }

  /// How many pages all tables have.
  package var pageCount: Int { tables.reduce(0) { $0 + $1.pages.count } }

  /// The most bytes the metadata may have: more than any store's catalogue, usage and pages take.
  ///
  /// A file may be long and hold nothing; what it claims is read into memory.
  package static var metadataByteLimit: Int { 1 << 30 }

  /// Where the pages end in the file, and the metadata begin.
  package var pagesEnd: Int { FileHeader.byteCount + pageCount * Checkpoint.pageByteCount }
}
