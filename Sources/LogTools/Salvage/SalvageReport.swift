public import LogEngine
public import LogFormat
public import RowFormat

/// The rows and commits that could be saved of a damaged store, and those that could not.
public struct SalvageReport: Hashable, Sendable {
  /// The newest commit of which any part was found.
  public internal(set) var lastCommit = CommitSequence.zero
  /// Number of commits that were found whole in the log.
  public internal(set) var commitCount = 0
  /// Bytes of the log in which no commit was found, though data once was there.
  public internal(set) var lostBytes: [LostBytes] = []
  /// Packs that are missing or cannot be opened.
  ///
  /// Rows that were only there are missing, and nothing tells which; of others an older pack's version may
  /// have been saved, and deleted ones may be there again.
  public internal(set) var lostPacks: [String] = []
  /// Blocks of packs whose keys cannot be read.
  public internal(set) var lostBlocks: [LostBlock] = []
  /// Commits of which nothing was found, though they were not packed.
  public internal(set) var lostCommits: [ClosedRange<CommitSequence>] = []
  /// Commits of which a part was found: their rows were saved, so a commit is no longer all or nothing.
  public internal(set) var partialCommits: [CommitSequence] = []
  /// The damage that concerns a file as a whole, or kept it from being read.
  public internal(set) var damage: [StorageError] = []
  /// Whether every change of the catalogue was found; if not, tables and columns may be missing, and
  /// with them their values.
  public internal(set) var isCatalogueComplete = true
  /// Values in files of their own that are missing or damaged: their rows were saved without them.
  public internal(set) var lostBlobs: [OwnedBlob] = []
  /// The outcome for the rows, by table.
  public internal(set) var tables: [SalvagedTable] = []

  /// Whether nothing that was ever committed is missing.
  public var isComplete: Bool {
    lostPacks.isEmpty && lostBlocks.isEmpty && lostCommits.isEmpty && partialCommits.isEmpty
      && isCatalogueComplete && lostBlobs.isEmpty
      && tables.allSatisfy { $0.stale.isEmpty && $0.lost.isEmpty }
  }
}

/// Bytes of a file that could not be interpreted.
public struct LostBytes: Hashable, Sendable {
  /// The file.
  public let path: String
  /// The offsets of the bytes in it.
  public let range: Range<Int>
}

/// A block of a pack of which not even the keys can be read.
///
/// Its rows are missing where the log has no newer version, or were saved as an older pack has them.
public struct LostBlock: Hashable, Sendable {
  /// The pack's file.
  public let path: String
  /// The number of the table whose rows it holds.
  public let table: UInt16
  /// The keys of its first and its last row; there may be keys in between that it does not have.
  public let keys: ClosedRange<UInt64>
  /// Number of rows in the block.
  public let rowCount: Int
}

/// The outcome for the rows of a table.
///
/// If commits are lost altogether, a row that was saved may have been changed or deleted in one of
/// them, and nothing tells.
public struct SalvagedTable: Hashable, Sendable {
  /// The number of the table.
  public let number: UInt16
  /// The name of the table.
  public let name: String
  /// Number of rows that were saved.
  public internal(set) var rowCount = 0
  /// Rows of which a later version was found and could not be put together: an earlier one was saved.
  public internal(set) var stale: [RowReference] = []
  /// Rows of which something was found, and no version could be put together.
  public internal(set) var lost: [RowReference] = []
  /// Number of keys, below the greatest that was found, for which nothing was found: rows of lost commits, or
  /// keys that never became rows.
  public internal(set) var unseenKeyCount = 0
}
