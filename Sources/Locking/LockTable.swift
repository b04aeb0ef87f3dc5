// The locks of contexts and of an open store, in the order in which a thread takes them: each is taken by threads that hold
// only locks above it in this list. Debug builds stop a program that breaks the order.
//
// "Waits for the disk" means that a thread may hold the lock through calls of the file system.
extension LockRank {
  // MARK: Contexts and stores of models

  /// Guards the commit up to which a read-only store has followed its writer.
  ///
  /// Waits for the disk.
  package static let followedCommit = LockRank(4, "followed commit")
  /// Guards the entries of an index.
  ///
  /// Waits for the disk while the index is built by a scan.
  package static let indexContent = LockRank(6, "index content")

  // MARK: Long operations

  /// The lock of the store's file: guards its release.
  ///
  /// Waits for the disk.
  package static let storeFile = LockRank(10, "store file")
  /// Orders changes of the catalogue.
  ///
  /// Waits for the disk: the change is a commit.
  package static let catalogueChange = LockRank(12, "catalogue change")
  /// Guards the follower's position in the writer's log.
  ///
  /// Waits for the disk.
  package static let followerPosition = LockRank(14, "follower position")
  /// Guards the running compaction.
  ///
  /// Waits for the disk.
  package static let compaction = LockRank(20, "compaction")
  /// Orders checkpoints.
  ///
  /// Waits for the disk.
  package static let checkpoint = LockRank(22, "checkpoint")
  /// Guards the sweep for blobs without an owner.
  ///
  /// Waits for the disk.
  package static let blobSweep = LockRank(24, "blob sweep")
  /// Guards the move of slots that name files which are gone.
  ///
  /// Waits for the disk.
  package static let slotMove = LockRank(25, "slot move")

  /// Guards the position up to which one of several writers has read the others' commits; taken when a turn begins.
  ///
  /// Waits for the disk.
  package static let memberPosition = LockRank(26, "member position")

  // MARK: Committing

  /// Guards the thread that writes for others, and the list of threads that wait for it.
  package static let writeRounds = LockRank(28, "write rounds")
  /// Guards writing to the log, and the manifest.
  ///
  /// Waits for the disk; committing threads wait for it.
  package static let lead = LockRank(30, "lead")
  /// Guards the next segment.
  ///
  /// Waits for the disk while a file is filled.
  package static let segmentPreparation = LockRank(32, "segment preparation")
  /// Held through a synchronization of the log.
  ///
  /// Waits for the disk.
  package static let synchronization = LockRank(34, "synchronization")
  /// Guards the end of the log; held while a commit is copied into memory.
  package static let tail = LockRank(40, "tail")

  /// Guards the commits that an index has not applied yet; they are posted when they get their numbers.
  package static let indexInbox = LockRank(44, "index inbox")

  // MARK: Held for a look or a change, never through a call that waits

  /// Guards the replacement of a damaged file of an index.
  package static let indexFallback = LockRank(48, "index fallback")

  /// Guards the catalogue of the newest visible commit.
  package static let catalogue = LockRank(50, "catalogue")
  /// Guards the list of packs.
  package static let packList = LockRank(52, "pack list")
  /// Guards the beginning of the log.
  package static let logBase = LockRank(54, "log base")
  /// Guards the pinned commits.
  package static let pins = LockRank(56, "pins")
  /// Guards the objects that are released once their readers are gone.
  package static let retiredObjects = LockRank(58, "retired objects")
  /// Guards the blobs that are removed once their readers are gone.
  package static let retiredBlobs = LockRank(60, "retired blobs")
  /// Guards the set of existing folders of blobs.
  ///
  /// Waits for the disk, once for each folder.
  package static let blobFolders = LockRank(62, "blob folders")
  /// Guards the places at which readers of history can begin.
  package static let commitMarks = LockRank(64, "commit marks")
  /// Guards the schedule of compactions.
  package static let compactionSchedule = LockRank(66, "compaction schedule")
  /// Guards the time since which the store has been idle.
  package static let idleWatch = LockRank(68, "idle watch")
  /// Guards the growth of an index's pages.
  package static let indexPages = LockRank(70, "index pages")
  /// Guards the growth of an array that readers access.
  package static let publishedArray = LockRank(72, "published array")
  /// Guards the counts of commits by the size of their groups.
  package static let groupSizes = LockRank(74, "group sizes")
  /// Guards the worker that writes indexes, and its pace.
  package static let indexKeeper = LockRank(75, "index keeper")
  /// Guards the worker of the housekeeper.
  package static let housekeepingWorker = LockRank(76, "housekeeping worker")
  /// Guards the listener of compactions.
  package static let compactionListener = LockRank(77, "compaction listener")
  /// Guards the worker that compacts.
  package static let compactionWorker = LockRank(78, "compaction worker")
  /// Guards the times of looks for expired rows, and the pass that is under way.
  package static let expiration = LockRank(79, "expiration")
  /// Guards the flag that a store was closed.
  package static let storeEnd = LockRank(80, "store end")
  /// Guards the buffers that a save leaves for the next one to reuse.
  package static let spareSink = LockRank(81, "spare sink")
  /// Guards the conversions of rows of a layout to attributes.
  package static let rowConverters = LockRank(82, "row converters")
  /// Guards the list of a container's contexts.
  package static let inboxes = LockRank(83, "inboxes")
  /// Guards the saves of other contexts.
  package static let saveInbox = LockRank(84, "save inbox")
  /// Guards the list of other processes' commits that were read and not delivered yet.
  package static let foreignCommits = LockRank(85, "foreign commits")
  /// Guards a part of the known pairs of store and entity.
  package static let identifierOrigins = LockRank(86, "identifier origins")
  /// Guards the mending of damaged pages of an index, which may be found under any lock.
  ///
  /// Waits for the disk, while the log is read in place of a damaged checkpoint.
  package static let pageDamage = LockRank(88, "page damage")
  /// Guards the reason why a part of the index cannot be read.
  package static let indexFailure = LockRank(89, "index failure")
  /// Guards the events that wait to be delivered.
  ///
  /// Taken last, under any other.
  package static let events = LockRank(90, "events")
}
