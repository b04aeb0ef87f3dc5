public import LogFormat

/// A manifest, as far as it says more than the log.
public struct ManifestDescription: Hashable, Sendable {
  /// The number of the manifest; the highest readable one is the store's.
  public let number: UInt64
  /// The manifest's file.
  public let path: String
  /// The size of its file, in bytes.
  public let fileByteCount: Int
  /// The content; `nil` if it cannot be read.
  public let content: Content?
  /// The reason why the manifest cannot be read.
  public let damage: StorageError?

  /// The content of a manifest.
  public struct Content: Hashable, Sendable {
    /// The store that the manifest belongs to.
    public let store: StoreIdentifier
    /// The identifier of this copy of the store.
    public let lineage: StoreIdentifier
    /// The program that the store belongs to; "" for any.
    public let application: String
    /// Whether the log was closed, and nothing follows.
    public let isClean: Bool
    /// Number of openings of the store for writing so far.
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
  /// The content; `nil` if it cannot be read.
  public let content: Content?
  /// The reason why the checkpoint cannot be read.
  public let damage: StorageError?

  /// The content of a checkpoint, except for its pages.
  public struct Content: Hashable, Sendable {
    /// The store that the checkpoint belongs to.
    public let store: StoreIdentifier
    /// The identifier of the copy of the store.
    public let lineage: StoreIdentifier
    /// The commit whose state the checkpoint has.
    public let commit: CommitSequence
    /// The log position after that commit, from which an opening reads the log.
    public let logPosition: UInt64
    /// Number of pages of 512 keys.
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
