import LogFormat

/// The options with which a store is opened.
public struct EngineOptions: Sendable, Hashable {
  /// Whether the store is opened for writing, or followed read-only.
  public var mode: Mode = .readWrite
  /// Whether other processes may open the store for writing, too.
  public var writers = Writers.oneProcess
  /// The time for which a commit waits for its process's turn, with ``Writers-swift.enum/severalProcesses``; `nil` waits
  /// without end.
  ///
  /// Turns last some milliseconds, as long as a checkpoint or the end of a compaction takes (up to a second in a store of ten
  /// million rows), or for ever if a process was stopped during one. A commit that times out throws
  /// ``/LogFormat/StorageError/turnTimeout(path:waited:holder:)`` and has changed nothing; so does opening.
  public var turnTimeout: Duration?
  /// The durability that a commit promises.
  public var durability: Durability = .full
  /// The policy for a missing store: to create one, or to fail.
  public var missingStore: MissingStorePolicy = .create
  /// The program that the store belongs to, or "" for any; a store of another program is refused.
  public var application = ""
  /// The permissions of a new store; an existing store keeps its own, which `chmod` changes.
  ///
  /// New files get the permissions of the newest manifest, new folders those of `log`.
  public var permissions = StorePermissions.owner
  /// The size of the first segments, in bytes; later ones double up to ``largestSegment``.
  ///
  /// Until the log is that long, the file of a segment is smaller, and doubles as the log grows.
  public var smallestSegment = 1 << 20
  /// The initial size of the first segment's file, in bytes.
  package var smallestSegmentFile = 16 << 10
  /// The size, in bytes, from which the log takes the memory of a commit over instead of copying it: copying that much takes
  /// longer than the rest of the commit.
  package var takeoverByteCount = 256 << 10
  /// The maximum size of a segment, in bytes, unless one commit alone needs more; if commits do not wait for the disk, a
  /// segment may grow by as much while the next is being prepared.
  public var largestSegment = 64 << 20
  /// The way in which the bytes of the log are read.
  public var reads: ReadMethod = .mapped
  /// The number of pages up to which those of a checkpoint are checked when the store is opened, in a tenth of a millisecond; if
  /// there are more, each page is checked when it is first used.
  package var checkedPageLimit = 32
  /// The thread that does the work that no caller waits for.
  public var background: BackgroundWork = .ownThread
  /// The growth of the log, in bytes, after which a new checkpoint is written; if the last checkpoint is larger than this, its
  /// size.
  public var checkpointInterval = 64 << 20
  /// The mode in which segments of the log are packed.
  public var compaction: CompactionMode = .onDemand
  /// The part of the log that stays although it could be packed.
  ///
  /// By default none: with ``CompactionMode/onDemand`` all of it stays until the app requests a compaction, which may keep a
  /// different part.
  public var history = HistoryRetention.nothing
  /// The options with which packs are written.
  public var packs = PackOptions()
  /// The treatment of commits that come faster than they can be packed.
  public var backPressure = BackPressure.bounded(.milliseconds(20))
  /// The idle time after which the last segment of the log is packed, too, with ``CompactionMode/automatic`` and if the gain is
  /// worth it; `nil` never packs it.
  public var idleDelay: Duration? = .seconds(10)
  /// The policy that decides when a compaction is due.
  package var compactionPolicy = CompactionPolicy()
  /// The approximate size of the rows packed in one step, in bytes.
  package var compactionStepByteCount = 256 << 10
  /// The memory for decoded blocks of packs, in bytes: by default 32 MiB, but no more than a tenth of the process's limit.
  public var blockCacheByteCount = EngineOptions.defaultBlockCacheByteCount
  /// The maximum number of deltas that build on one another before a row is written whole again.
  public var longestChain = 8
  /// The policy that decides when the folder of blobs is searched for files that no row owns.
  public var blobSweep: BlobSweepPolicy = .afterUncleanEnd

  private static let defaultBlockCacheByteCount = defaultBlockCacheByteCount(
    memoryLimit: PosixFileSystem().memoryLimit
  )

  static func defaultBlockCacheByteCount(memoryLimit: Int?) -> Int {
    min(32 << 20, (memoryLimit ?? .max) / 10)
  }

  /// Creates the default options: a store for writing, durable commits, compaction on demand.
  public init() {}

  /// The modes in which a store is opened.
  public enum Mode: Sendable, Hashable {
    /// Reads and writes the store.
    case readWrite
    /// A follower: reads the commits of the writer, which may be another process; ``StorageEngine/refresh()`` brings it up to
    /// date.
    case readOnly
    /// Reads a damaged store up to its first damage.
    case readOnlyUpToDamage
  }

  /// The processes that may write a store while it is open.
  public enum Writers: Sendable, Hashable {
    /// This process alone: others get ``/LogFormat/StorageError/locked(path:holder:)``.
    case oneProcess
    /// Any number of processes that open it with this option, in turns; a process that opens it with
    /// ``oneProcess`` gets ``/LogFormat/StorageError/locked(path:holder:)``.
    ///
    /// All of them run on one host, with a local file system. No commit fails because of another process: it waits for its
    /// turn, which comes after some milliseconds, or when the other process ends. The commits of other processes are read
    /// before a turn begins, and by ``StorageEngine/refresh()``.
    case severalProcesses
  }

  /// The durability that a commit promises.
  public enum Durability: Sendable, Hashable {
    /// On disk when the commit returns: survives a power cut.
    case full
    /// Handed to the kernel when the commit returns: survives the end of the process. On disk after at most this time; a power
    /// cut may undo the commits since, but never one without all later ones.
    case relaxed(interval: Duration)
    /// Written to the file system and never synchronized; meant for ``/LogFormat/InMemoryFileSystem``.
    case memory
  }

  /// The policies for opening a missing store.
  public enum MissingStorePolicy: Sendable, Hashable {
    /// Creates an empty store.
    case create
    /// Throws ``/LogFormat/StorageError/missingStore(path:)``.
    case fail
  }

  /// The policies for the sweep of the folder of blobs, which finds files that no row owns.
  ///
  /// A writer that opens the store runs it in the background; it reads every row of the tables that have blobs.
  public enum BlobSweepPolicy: Sendable, Hashable {
    /// After a session that did not close the store, or had to leave files behind.
    case afterUncleanEnd
    /// At each opening.
    case always
    /// Never: for stores whose rows cannot be trusted to be complete.
    case never
  }

  /// The ways in which the bytes of the log and of packs are read.
  public typealias ReadMethod = LogFormat.ReadMethod

  /// The treatment of commits that come faster than they can be packed, with ``CompactionMode/automatic``.
  public enum BackPressure: Sendable, Hashable {
    /// Commits never wait for compaction, and the store may grow without bound.
    case none
    /// Once compaction runs at full speed and still falls behind, commits wait in proportion to their
    /// bytes, none of them for longer than this, until both are in balance.
    case bounded(Duration)

    var longestDelay: Duration { if case .bounded(let delay) = self { delay } else { .zero } }
  }

  /// The modes of compaction.
  public enum CompactionMode: Sendable, Hashable {
    /// Only at calls of ``StorageEngine/compact(keeping:progress:)``.
    case onDemand
    /// In the background, too: when packing would make a store smaller by a fifth of its remaining size, when eight segments of
    /// the log can be packed, and at half of that when no commits come.
    ///
    /// It runs on a thread beside the callers' in steps of a few milliseconds: the further it is behind, the faster.
    case automatic
  }

  /// The threads that do the work that no caller waits for.
  public enum BackgroundWork: Sendable, Hashable {
    /// Threads that all stores of the process share: at the lowest priority they prepare segments, synchronize and
    /// write checkpoints, at the usual one they compact. A store never has two of either kind at once.
    case ownThread
    /// The caller, in ``StorageEngine/performBackgroundWork()``: for deterministic tests.
    case caller
  }
}
