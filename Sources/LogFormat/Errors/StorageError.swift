public import RowFormat

/// The errors of a store: everything that can go wrong between the engine and the disk.
///
/// Each case names its file or row, with the expected and the found value, so that `logstore-inspect` finds the place from the
/// error alone.
public enum StorageError: Error, Hashable, Sendable {
  // MARK: The system

  /// A call of the system failed.
  case inputOutput(path: String, operation: FileOperation, errno: Int32)
  /// There is no room on the device; `needed` is 0 if it has none for another name. Nothing was written; the same save may
  /// succeed later.
  case noSpace(path: String, needed: Int)
  /// A required file is missing.
  case missingFile(path: String)

  /// An entry of the store's folder is not of the kind that the engine creates there: a link, a pipe or a device, for instance,
  /// which it neither follows nor waits for nor removes.
  case unexpectedFile(path: String, expected: FileKind, found: FileKind)

  // MARK: The store as a whole

  /// There is no store at this path, and the options do not allow creating one.
  case missingStore(path: String)
  /// The path is not the folder of a store.
  case notAStore(path: String, found: String)
  /// The store belongs to another program.
  case foreignStore(path: String, expected: String, found: String)
  /// The store was written by a newer version of the format.
  case unsupportedVersion(path: String, found: UInt16, supported: UInt16)
  /// The store uses features that this version does not know.
  case unsupportedFeatures(path: String, bits: UInt64)
  /// Another process has the store open for writing, or this one has it open already; `holder` names those that live, and says
  /// so if none is known.
  case locked(path: String, holder: String)
  /// Several processes were to write a store on a file system whose files other hosts may change, too.
  case networkFileSystem(path: String, type: String)
  /// This process's turn to write has not come in time: another process, named by `holder`, has not ended its own. Nothing was
  /// written; the same save may succeed later.
  case turnTimeout(path: String, waited: Duration, holder: String)
  /// The bytes of a file contradict its checksums or its neighbours.
  case corruption(Corruption)
  /// A write or a synchronization failed earlier, so no further save can be trusted; reads still work. Close the store and open
  /// it again.
  indirect case poisoned(path: String, cause: StorageError)
  /// The store was opened read-only.
  case readOnly(path: String)
  /// The store was closed.
  case closed(path: String)
  /// A store was to be created in a folder that does not exist.
  case missingFolder(path: String)
  /// A copy was to be created at a path that is in use.
  case destinationExists(path: String)
  /// The store has used up all its numbers of files, commits or bytes, up to `limit`; it can be read, and rewritten by
  /// `logstore-inspect salvage`.
  case numbersSpent(path: String, limit: UInt64)
  /// There is no such commit yet.
  case unknownCommit(CommitSequence, newest: CommitSequence)
  /// A commit can no longer be read: compaction has folded all commits before `oldest`.
  case commitGone(CommitSequence, oldest: CommitSequence)

  // MARK: Errors of a batch

  /// A row to update or delete does not exist.
  case rowNotFound(RowReference)
  /// A row to insert exists, or existed: keys are never reused.
  case rowExists(RowReference)
  /// A batch names the same row twice.
  case duplicateRow(RowReference)
  /// The bytes of a row do not match its layout.
  case invalidRow(RowReference, layout: LayoutNumber)
  /// A table has no such layout.
  case unknownLayout(table: UInt16, layout: LayoutNumber)
  /// The catalogue has no such table.
  case unknownTable(UInt16)
  /// A row names a blob that is neither new in the batch nor the row's own: no two rows share a blob.
  case foreignBlob(RowReference, BlobReference)
  /// A key is zero or beyond what the index addresses.
  case invalidKey(RowReference)
  /// A row or an author's name is too long to be stored.
  case tooLarge(byteCount: Int, limit: Int)
  /// A change conflicts with the catalogue.
  case invalidCatalogueChange(CatalogueProblem)
}

/// The call that failed.
public enum FileOperation: String, Sendable, Hashable {
  /// Opening or creating a file; or opening a directory that is to be synchronized.
  case open
  /// Reading from a file.
  case read
  /// Writing to a file.
  case write
  /// Waiting for a file's bytes to be on disk.
  case synchronize
  /// Asking for a file's size.
  case size
  /// Reserving space for a file.
  case allocate
  /// Changing a file's size.
  case truncate
  /// Mapping a file into memory.
  case map
  /// Giving a file another name.
  case rename
  /// Giving a file a second name.
  case link
  /// Removing a file.
  case unlink
  /// Listing a directory.
  case list
  /// Creating a directory.
  case makeDirectory
  /// Waiting for a directory's entries to be on disk.
  case synchronizeDirectory
  /// Locking a file against other processes.
  case lock
}

/// Damage in a store: its place and the evidence.
public struct Corruption: Hashable, Sendable {
  /// The file.
  public var path: String
  /// The offset of the first byte that cannot be trusted.
  public var offset: Int
  /// The problem at that place.
  public var problem: Problem

  /// The kinds of damage.
  public enum Problem: Hashable, Sendable {
    /// A checksum does not match the bytes it covers.
    case checksumMismatch(of: Part, expected: UInt32, found: UInt32)
    /// A field has an invalid value.
    case invalidField(of: Part, name: String, expected: UInt64, found: UInt64)
    /// A part is shorter than it claims.
    case truncated(Part, needed: Int, available: Int)
    /// The log ends here, but was once known to be on disk up to a later position.
    case lostDurableBytes(logPosition: UInt64, durableUpTo: UInt64, witness: Witness)
    /// A part that must be present is not.
    case missing(Part)
    /// A record refers to an impossible row, layout or record.
    case inconsistent(Part, table: UInt16, key: UInt64)
  }

  /// The parts of a store.
  public enum Part: String, Hashable, Sendable {
    /// A manifest: the file that names all others.
    case manifest
    /// A file of the log.
    case segment
    /// The first bytes of a segment.
    case segmentHeader
    /// A frame: the bytes of a commit, or a part of them.
    case frame
    /// The first bytes of a frame.
    case frameHeader
    /// The contents of a frame.
    case payload
    /// One change in a payload.
    case record
    /// The description of tables and columns.
    case catalogue
    /// A checkpoint of the index.
    case checkpoint
    /// The keys or words of a secondary index.
    case secondaryIndex
    /// A file with one large value.
    case blob
    /// A file of packed rows.
    case pack
    /// A block of a pack.
    case packBlock
    /// A column of a block.
    case packColumn
    /// The values that columns of a pack share.
    case packDictionary
    /// The list of a pack's blocks.
    case packFooter
    /// The last bytes of a pack.
    case packTrailer
  }

  /// The evidence that bytes had been on disk.
  public enum Witness: String, Hashable, Sendable {
    /// A frame that was written later.
    case laterFrame
    /// A manifest.
    case manifest
    /// A checkpoint of the index.
    case checkpoint
    /// The header of the next segment.
    case successor
  }

  /// Creates a finding of damage, for code that reads a store's files itself.
  public init(path: String, offset: Int, problem: Problem) {
    self.path = path
    self.offset = offset
    self.problem = problem
  }
}

/// The reasons for refusing a change of the catalogue.
public enum CatalogueProblem: Hashable, Sendable {
  /// Another table has the name.
  case tableExists(name: String)
  /// Another column of the table has the name.
  case columnExists(table: UInt16, name: String)
  /// No table has the number.
  case unknownTable(UInt16)
  /// No column of the table has the number.
  case unknownColumn(table: UInt16, column: UInt16)
  /// The column is retired, and cannot be used again.
  case retiredColumn(table: UInt16, column: UInt16)
  /// The layout names the column twice.
  case repeatedColumn(table: UInt16, column: UInt16)
  /// A table or column needs a name.
  case emptyName
  /// A name is longer than 1,024 bytes of UTF-8.
  case nameTooLong(byteCount: Int)
  /// The store has had 32,767 tables, the most it can number.
  case tooManyTables
  /// The table has had 32,766 columns, the most it can number.
  case tooManyColumns(table: UInt16)
  /// The table has had 32,767 layouts, the most it can number.
  case tooManyLayouts(table: UInt16)
  /// A value of the metadata is longer than 64 MiB.
  case valueTooLarge(byteCount: Int, limit: Int)
}
