import RowFormat

/// The place of every key at one commit: the index on disk, so that opening a store reads only the later part of the log.
///
/// A checkpoint is disposable. If it is damaged, foreign or older than the log, it is skipped, and the log is read from an
/// earlier place; if a page proves damaged later, it is filled from the log. Its file has three parts: a ``FileHeader``, the
/// pages, and the metadata; each ``CheckpointIncrement`` follows them. The header's particular fields are
///
///     offset  size  field
///         72     8  metadataOffset    4,096 for the header and for each page
///         80     8  metadataLength    increments begin where the metadata end
///         88     4  metadataChecksum  CRC-32C of the metadata
///
/// A page is 4,096 bytes: the ``RecordLocation`` of 512 consecutive keys, 8 bytes each; page *n* of a table begins with key 512
/// *n*. The tables' pages are in the order in which the metadata names them. The metadata's numbers are varints, unless a size
/// is given.
///
///     lineage         16 bytes, as in the ``Manifest``
///     segment         its place in the log: the segment,
///     offset            the offset after a frame,
///     frame             the offset of that frame, 0 at the start of a segment,
///     chain             4 bytes: that frame's header checksum,
///     sequence          the last commit before,
///     logPosition       and the place counted over all segments
///     durableEnd      log position up to which the log was on disk before the checkpoint was
///     usages          a count, then each: segment, table, record bytes, live bytes
///     catalogue       ``Catalogue``
///     tables          a count, then each by ascending number:
///       number, nextKey, count of rows, count of pages
///       pages         each by ascending number: the number of page numbers skipped before it,
///                     and 4 bytes: CRC-32C of the page
///     nextBlob        no row of a commit before refers to this blob or a later one; nothing if none
///                     refers to any
///
/// Everything but the pages is as of exactly that commit. Commits continued while the pages were copied, so the pages may name
/// later records; reading the log from there still ends with the same index, since each record contains its own place. The log
/// must only be long enough: ``durableEnd`` is at or after every record that the pages name.
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

  /// The contents of a checkpoint for one table.
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

  /// The number of keys in a page.
  @inlinable package static var slotsPerPage: Int { 512 }
  /// The size of a page, in bytes.
  @inlinable package static var pageByteCount: Int { 4096 }

  /// The number of pages of all tables.
  package var pageCount: Int { tables.reduce(0) { $0 + $1.pages.count } }

  /// Limit of the metadata, in bytes: more than any store's catalogue, usage and pages take.
  ///
  /// A file may be long and empty; as many bytes as it claims are read into memory.
  package static var metadataByteLimit: Int { 1 << 30 }

  /// The end of the pages in the file, where the metadata begin.
  package var pagesEnd: Int { FileHeader.byteCount + pageCount * Checkpoint.pageByteCount }
}
