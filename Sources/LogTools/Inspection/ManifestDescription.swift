public import LogFormat

/// A manifest, as far as it says more than the log.
public struct ManifestDescription: Hashable, Sendable {
  /// The number of the manifest; the highest readable one is the store's.
  public let number: UInt64
  /// The manifest's file.
  public let path: String
  /// The size of its file, in bytes.
  public let fileByteCount: Int
  /// What it says; `nil` if it cannot be read.
  public let content: Content?
  /// Why it cannot.
  public let damage: StorageError?

  /// What a manifest says.
  public struct Content: Hashable, Sendable {
    /// The store it belongs to.
    public let store: StoreIdentifier
    /// Which copy of the store this is.
    public let lineage: StoreIdentifier
    /// The program the store belongs to; "" for any.
    public let application: String
    /// Whether the log was closed, and nothing follows.
    public let isClean: Bool
    /// How often the store had been opened for writing.
    public let epoch: UInt32
    /// The log position that was on disk.
    public let durableEnd: UInt64
    /// The last commit before it.
    public let lastCommit: CommitSequence
    /// The catalogue as of that commit.
    public let catalogue: Catalogue

    init(_ manifest: Manifest) {
      store = manifest.store
      lineage = manifest.lineage
      application = manifest.application
      isClean = manifest.isClean
      epoch = manifest.epoch
      durableEnd = manifest.durableEnd
      lastCommit = manifest.sequence
      catalogue = manifest.catalogue
    }
  }
}

/// A checkpoint of the index.
public struct CheckpointDescription: Hashable, Sendable {
  /// The number of the checkpoint.
  public let number: UInt64
  /// The checkpoint's file.
  public let path: String
  /// The size of its file, in bytes.
  public let fileByteCount: Int
  /// What it says; `nil` if it cannot be read.
  public let content: Content?
  /// Why it cannot.
  public let damage: StorageError?

  /// What a checkpoint says, but for its pages.
  public struct Content: Hashable, Sendable {
    /// The store it belongs to.
    public let store: StoreIdentifier
    /// Which copy of the store it is of.
    public let lineage: StoreIdentifier
    /// The commit whose state it is.
    public let commit: CommitSequence
    /// The log position after that commit: what an opening reads begins there.
    public let logPosition: UInt64
    /// How many pages of 512 keys it has.
    public let pageCount: Int

    init(_ checkpoint: Checkpoint) {
      store = checkpoint.store
      lineage = checkpoint.lineage
      commit = CommitSequence(checkpoint.place.sequence)
      logPosition = checkpoint.place.logPosition
      pageCount = checkpoint.pageCount
    }
  }
}
