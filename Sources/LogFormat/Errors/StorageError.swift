public import RowFormat

/// Everything that can go wrong between the engine and the disk.
///
/// Each case names the file or row it speaks of, and says what was expected and what was found, so
/// that `logstore-inspect` finds the place from the error alone.
public enum StorageError: Error, Hashable, Sendable {
  // MARK: The system

  /// A call of the system failed.
  case inputOutput(path: String, operation: FileOperation, errno: Int32)
  /// There is no room on the device. Nothing was written; the same save may succeed later.
  case noSpace(path: String, needed: Int)
  /// A file that should be there is not.
  case missingFile(path: String)

  /// A name of the store is not what the engine makes there: a link, a pipe or a device, say, which it
  /// neither follows nor waits for nor removes.
  case unexpectedFile(path: String, expected: FileKind, found: FileKind)

  // MARK: The store as a whole

  /// There is no store at this path, and the options do not say to make one.
  case missingStore(path: String)
  /// The path holds something else than a store.
  case notAStore(path: String, found: String)
  /// The store belongs to another program.
  case foreignStore(path: String, expected: String, found: String)
  /// The store was written by a newer version of the format.
  case unsupportedVersion(path: String, found: UInt16, supported: UInt16)
  /// The store uses features this version does not know.
  case unsupportedFeatures(path: String, bits: UInt64)
  /// Another process, named by `holder`, has the store open for writing.
  case locked(path: String, holder: String)
  /// The bytes of a file contradict its checksums or its neighbours.
  case corruption(Corruption)
  /// A write or a sync failed earlier, so no further save can be trusted; reads go on. Close the
  /// store and open it again.
  indirect case poisoned(path: String, cause: StorageError)
  /// The store was opened to be read only.
  case readOnly(path: String)
  /// The store was closed.
  case closed(path: String)
  /// A copy is to be made where something is already.
  case destinationExists(path: String)
  /// There is no such commit yet.
  case unknownCommit(CommitSequence, newest: CommitSequence)
  /// A commit can no longer be read: compaction has folded what came before the oldest that can.
  case commitGone(CommitSequence, oldest: CommitSequence)

  // MARK: What a batch asks for

  /// A row to update or delete does not exist.
  case rowNotFound(RowReference)
  /// A row to insert exists, or existed: keys are never reused.
  case rowExists(RowReference)
  /// A batch names the same row twice.
  case duplicateRow(RowReference)
  /// The bytes given for a row are not a row of the layout named.
  case invalidRow(RowReference, layout: LayoutNumber)
  /// A table has no such layout.
  case unknownLayout(table: UInt16, layout: LayoutNumber)
  /// The catalogue has no such table.
  case unknownTable(UInt16)
  /// A row names a blob that is neither new in the batch nor the row's own: no two rows share one.
  case foreignBlob(RowReference, BlobReference)
  /// A key is zero or beyond what the index addresses.
  case invalidKey(RowReference)
  /// A row or an author's name is too long to be stored.
  case tooLarge(byteCount: Int, limit: Int)
  /// A change of the catalogue contradicts it.
  case invalidCatalogueChange(CatalogueProblem)
}

/// Which call failed.
public enum FileOperation: String, Sendable, Hashable {
  case open, read, write, synchronize, size, allocate, truncate, map, rename, link, unlink, list
  case makeDirectory, synchronizeDirectory, lock
}

/// Where a store is damaged, and how that was seen.
public struct Corruption: Hashable, Sendable {
  /// The file.
  public var path: String
  /// The offset of the first byte that cannot be trusted.
  public var offset: Int
  /// What is wrong there.
  public var problem: Problem

  /// What can be wrong.
  public enum Problem: Hashable, Sendable {
    /// A checksum does not match the bytes it covers.
    case checksumMismatch(of: Part, expected: UInt32, found: UInt32)
    /// A field has a value it cannot have.
    case invalidField(of: Part, name: String, expected: UInt64, found: UInt64)
    /// A part is shorter than it says.
    case truncated(Part, needed: Int, available: Int)
    /// The log ends here, but was once known to be on disk up to a later position.
    case lostDurableBytes(logPosition: UInt64, durableUpTo: UInt64, witness: Witness)
    /// A part that must be present is not.
    case missing(Part)
    /// A record refers to a row, a layout or a record that cannot be.
    case inconsistent(Part, table: UInt16, key: UInt64)
  }

  /// Which part of a store.
  public enum Part: String, Hashable, Sendable {
    case manifest, segment, segmentHeader, frame, frameHeader, payload, record, catalogue
    case checkpoint, blob
    case pack, packBlock, packColumn, packDictionary, packFooter, packTrailer
  }

  /// Who had said that bytes were on disk.
  public enum Witness: String, Hashable, Sendable {
    case laterFrame, manifest, checkpoint, successor
  }

  public init(path: String, offset: Int, problem: Problem) {
    self.path = path
    self.offset = offset
    self.problem = problem
  }
}

/// Why a change of the catalogue was refused.
public enum CatalogueProblem: Hashable, Sendable {
  case tableExists(name: String)
  case columnExists(table: UInt16, name: String)
  case unknownTable(UInt16)
  case unknownColumn(table: UInt16, column: UInt16)
  case retiredColumn(table: UInt16, column: UInt16)
  case repeatedColumn(table: UInt16, column: UInt16)
  case emptyName
  case nameTooLong(byteCount: Int)
  case tooManyTables
  case tooManyColumns(table: UInt16)
  case tooManyLayouts(table: UInt16)
  case valueTooLarge(byteCount: Int, limit: Int)
}
