import LogFormat

/// How a store is opened.
public struct EngineOptions: Sendable, Hashable {
  /// Whether the store is opened for writing, or followed read-only.
  public var mode: Mode = .readWrite
  /// Whether other processes may open the store for writing, too.
  public var writers = Writers.oneProcess
  /// How long a commit waits for the turn of its process, with ``Writers-swift.enum/severalProcesses``; `nil` waits
  /// without end.
  ///
  /// Turns last some milliseconds, as long as a checkpoint or the end of a compaction takes (up to a second in a store of ten
  /// million rows), or for ever if a process was stopped in the middle of one. A commit that has waited
  /// for so long throws ``/LogFormat/StorageError/turnTimeout(path:waited:holder:)`` and has changed nothing; so does opening.
  public var turnTimeout: Duration?
  /// What a commit promises when it returns.
  public var durability: Durability = .full
  /// Whether a store is made where there is none.
  public var missingStore: MissingStorePolicy = .create
  /// The program that the store belongs to, or "" for any; a store of another program is refused.
  public var application = ""
  /// The permissions of a new store; an existing store keeps its own, which `chmod` changes.
  ///
  /// New files get the permissions of the newest manifest, new folders those of `log`.
  public var permissions = StorePermissions.owner
  /// The size of the first segments, in bytes; later ones double up to ``largestSegment``.
  ///
  /// Until the log is as long, the file of a segment is smaller, and doubles as the log grows.
  public var smallestSegment = 1 << 20
  /// The size of the first segment's file at first.
  package var smallestSegmentFile = 16 << 10
  /// The maximum size of a segment, in bytes, unless one commit alone needs more; where commits do not wait for the
  /// disk, a segment may grow by as much while the next is made ready.
  public var largestSegment = 64 << 20
  /// How the bytes of the log are read.
  public var reads: ReadMethod = .mapped
  /// Which thread does the work that no caller waits for.
  public var background: BackgroundWork = .ownThread
  /// How many bytes the log may grow past the last checkpoint before a new one is written; in a store
  /// whose checkpoint is larger than that, as many as the checkpoint has.
  public var checkpointInterval = 64 << 20
  /// When segments of the log are packed.
  public var compaction: CompactionMode = .onDemand
  /// How much of the log stays although it could be packed.
  ///
  /// By default nothing: with ``CompactionMode/onDemand`` all of it stays until the app asks for a
  /// compaction, which may keep a different amount.
  public var history = HistoryRetention.nothing
  /// How packs are written.
  public var packs = PackOptions()
  /// What happens to commits that come faster than they can be packed.
  public var backPressure = BackPressure.bounded(.milliseconds(20))
  /// The idle time after which the last segment of the log is packed, too, with
  /// ``CompactionMode/automatic`` and if that gains enough; `nil` never packs it.
  public var idleDelay: Duration? = .seconds(10)
  /// When a compaction is due.
  package var compactionPolicy = CompactionPolicy()
  /// About how many bytes of rows are packed in one step.
  package var compactionStepByteCount = 256 << 10
  /// How many bytes decoded blocks of packs may take in memory: by default 32 MiB, but no more than a tenth of what the process
  /// may have.
  public var blockCacheByteCount = EngineOptions.defaultBlockCacheByteCount
  /// How many deltas may build on one another before a row is written whole again.
  public var longestChain = 8
  /// When the folder of blobs is searched for files that no row owns.
  public var blobSweep: BlobSweepPolicy = .afterUncleanEnd

  private static let defaultBlockCacheByteCount = defaultBlockCacheByteCount(
    memoryLimit: PosixFileSystem().memoryLimit
  )

  static func defaultBlockCacheByteCount(memoryLimit: Int?) -> Int {
    min(32 << 20, (memoryLimit ?? .max) / 10)
  }

  /// Makes the default options: a store for writing, durable commits, compaction on demand.
  public init() {}

  /// What an open store may be used for.
  public enum Mode: Sendable, Hashable {
    /// The one writer.
    case readWrite
    /// A follower: reads what the writer, perhaps in another process, commits;
    /// ``StorageEngine/refresh()`` brings it up to date.
    case readOnly
    /// Reads a damaged store, up to the first damage.
    case readOnlyUpToDamage
  }

  /// Who may write a store while it is open.
  public enum Writers: Sendable, Hashable {
    /// This process alone: others get ``/LogFormat/StorageError/locked(path:holder:)``.
    case oneProcess
    /// Any number of processes that open it with this option, in turns; a process that opens it with
    /// ``oneProcess`` gets ``/LogFormat/StorageError/locked(path:holder:)``.
    ///
    /// All of them on one host, with a local file system. Nobody's commit fails because of another's: it waits for its
    /// turn, which ends after some milliseconds, or with the life of its process. What the others have committed is
    /// read before a turn begins, and by ``StorageEngine/refresh()``.
    case severalProcesses
  }

  /// What a commit promises when it returns.
  public enum Durability: Sendable, Hashable {
    /// On disk when the commit returns: survives a power cut.
    case full
    /// In the kernel's hands when the commit returns: survives the end of the process. On disk after
    /// at most this time; a power cut may take the commits since, never one without those after it.
    case relaxed(interval: Duration)
    /// Written to the file system and never synchronized; meant for ``/LogFormat/InMemoryFileSystem``.
    case memory
  }

  /// What opening does where there is no store.
  public enum MissingStorePolicy: Sendable, Hashable {
    /// Makes an empty store.
    case create
    /// Throws ``/LogFormat/StorageError/missingStore(path:)``.
    case fail
  }

  /// When a writer that opens a store looks for files in the folder of blobs that no row owns.
  ///
  /// The search reads every row of the tables that have blobs, and happens in the background.
  public enum BlobSweepPolicy: Sendable, Hashable {
    /// After a session that was not closed, or that had to leave files behind.
    case afterUncleanEnd
    /// At each opening.
    case always
    /// Not now: for stores whose rows cannot be trusted to be complete.
    case never
  }

  /// How the bytes of the log and of packs are read.
  public typealias ReadMethod = LogFormat.ReadMethod

  /// What happens to commits that come faster than they can be packed, with ``CompactionMode/automatic``.
  public enum BackPressure: Sendable, Hashable {
    /// Commits never wait for compaction, and the store may grow without bound.
    case none
    /// Once compaction runs at full speed and still falls behind, commits wait in proportion to their
    /// bytes, none of them for longer than this, until both are in balance.
    case bounded(Duration)

    var longestDelay: Duration { if case .bounded(let delay) = self { delay } else { .zero } }
  }

  /// When segments of the log are packed.
  public enum CompactionMode: Sendable, Hashable {
    /// When ``StorageEngine/compact(keeping:progress:)`` is called.
    case onDemand
    /// In the background, too: when packing would make a store smaller by a fifth of what is left, when eight
    /// segments of the log can be packed, and at half of that when no commit comes.
    ///
    /// A thread beside the callers' does it, in steps of a few milliseconds: the later it is, the faster.
    case automatic
  }

  /// Which thread does the work that no caller waits for.
  public enum BackgroundWork: Sendable, Hashable {
    /// Threads that all stores of the process share: at the lowest priority they prepare segments, synchronize and
    /// write checkpoints, at the usual one they compact. A store never has two of either kind at once.
    case ownThread
    /// The caller, in ``StorageEngine/performBackgroundWork()``: for deterministic tests.
    case caller
  }
}
