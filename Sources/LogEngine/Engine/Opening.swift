import Locking
import LogFormat
import RowFormat
import Synchronization

/// Opens a store: takes the lock, finds the manifest, recovers the log.
package struct Opening {
  let paths: StorePaths
  let options: EngineOptions
  var fileSystem: any FileSystem
  var onEvent: EngineEventHandler?
  /// The store's lock, if the caller holds it already.
  var lock: (any FileLock)?
  /// Whether the whole log is read, and no checkpoint.
  var ignoresCheckpoints = false
  /// The log position up to which the log is read; `nil` for all of it.
  var logLimit: UInt64?

  package init(
    paths: StorePaths,
    options: EngineOptions,
    fileSystem: any FileSystem,
    onEvent: EngineEventHandler? = nil
  ) {
    self.paths = paths
    self.options = options
    self.fileSystem = fileSystem
    self.onEvent = onEvent
  }

  package func run() throws(StorageError) -> StorageEngine {
    var opening = self
    let permissions = try StorePermissions(of: paths, on: fileSystem) ?? options.permissions
    opening.fileSystem = fileSystem.making(permissions)
    return try opening.open()
  }

  private mutating func open() throws(StorageError) -> StorageEngine {
    if options.mode == .readWrite, options.writers == .severalProcesses { return try join() }
    let start = fileSystem.microseconds()
    let isWriter = options.mode == .readWrite
    if isWriter {
      try makeDirectories()
      try paths.checkDirectories(on: fileSystem)
    }
    let lock = isWriter ? try takeLock() : nil
    hold(lock)
    if isWriter { try StagedFiles(paths, fileSystem).settle() }
    var (recovery, end) = isWriter ? try recover() : try recoverBesideWriter()
    if isWriter, let mark = recovery.cutCloseMark {
      try mark.restore(at: end)
      (recovery, end) = try recover()
    }
    let state = recovery.state
    if isWriter { try recovery.repair(end) }
    state.begin(at: end, recovery.replay)
    state.adviseByMemory()
    let writer = isWriter ? makeWriter(state, recovery, end) : nil
    if isWriter, sweepsBlobs(recovery.manifest, end) { writer?.housekeeper.beginBlobSweep() }
    if isWriter { writer?.housekeeper.beginMovingSlots(to: recovery.checkpoints.newerPacks) }
    try writer?.witnessRecovery()
    recovery.report.duration = state.duration(since: start)
    // The first of all events: from here on the background may report some.
    state.events.report(.opened(recovery.report))
    if options.background == .ownThread, let writer { writer.housekeeper.start(for: writer) }
    return StorageEngine(
      state: state,
      writer: writer,
      follower: options.mode == .readOnly
        ? Follower(
          state: state,
          manifest: recovery.manifest.number,
          end: end,
          replay: recovery.replay
        ) : nil,
      lock: lock,
      recovery: recovery.report
    )
  }

  /// Restricts names to the folder of this lock: from here on, files are created, renamed and removed there alone.
  mutating func hold(_ lock: (any FileLock)?) {
    guard let lock else { return }
    fileSystem = LockedFolder(fileSystem, paths, lock)
  }

  typealias Found = (recovery: Recovery, end: Recovery.End)

  func recover() throws(StorageError) -> Found {
    let (manifest, damage) = try findManifestUpToDamage()
    try checkApplication(manifest)
    let state = StoreState(
      paths: paths,
      fileSystem: fileSystem,
      options: options,
      store: manifest.store,
      events: EventRelay(onEvent)
    )
    state.files.blobs.record(next: manifest.nextBlob)
    var recovery = Recovery(state: state, manifest: manifest)
    recovery.report.damage = damage
    recovery.ignoresCheckpoints = ignoresCheckpoints
    recovery.logLimit = logLimit
    let again = Opening(paths: paths, options: options, fileSystem: fileSystem)
    recovery.readLogAlone = { (end) throws(StorageError) in try again.readTables(upTo: end) }
    do {
      let end = try recovery.run()
      try checkNumbers(manifest, end)
      return (recovery, end)
    } catch let error as StorageError {
      throw error
    } catch {
      // Nothing below throws anything else.
      preconditionFailure("recovery threw \(error)")
    }
  }

  /// Refuses to write to a store whose numbers would soon exceed the readable range; called before anything is changed.
  private func checkNumbers(
    _ manifest: Manifest,
    _ end: Recovery.End
  ) throws(StorageError) {
    guard options.mode == .readWrite else { return }
    let limit = NumberLimit.writable
    guard max(manifest.number, end.sequence, end.logPosition, end.durableEnd) <= limit else {
      throw .numbersSpent(path: paths.root, limit: limit)
    }
  }

  /// Recovers without the lock.
  ///
  /// A writer may replace the manifest and its files meanwhile, so an error counts only if it occurs twice under one manifest.
  /// While a staged copy becomes the store, whose manifest comes before its files, these are read where they are, and an error is
  /// one of the moment.
  func recoverBesideWriter() throws(StorageError) -> Found {
    var previous: StorageError?
    var unknownPack = SegmentID.none
    var attempts = 0
    while true {
      let manifest = newestManifestNumber()
      do throws(StorageError) {
        var opening = self
        opening.fileSystem = fileSystem.withPublishedCopy(of: paths)
        let found = try opening.recover()
        let newest = found.recovery.replay.newestPack
        let known = found.recovery.state.files.packList.withLock { $0.last?.id.rawValue ?? 0 }
        // There is a pack newer than the manifest; the next manifest names it.
        if newest.rawValue <= known || newest == unknownPack { return found }
        unknownPack = newest
      } catch {
        attempts += 1
        guard attempts < Self.attemptLimit else { throw error }
        if StagedFiles(paths, fileSystem).areBeingPublished {
          fileSystem.pause(microseconds: Self.publicationPause)
          continue
        }
        if error == previous, manifest == newestManifestNumber() { throw error }
        previous = error
      }
    }
  }

  /// Reads the tables of this store from its log alone, also beside a writer; may be called under any lock.
  ///
  /// - Parameter end: The log position of the end of the last commit that is read. The later ones of other processes this one
  ///   has perhaps not read yet.
  /// - Returns: The tables as of that commit, or as of a later compaction.
  /// - Throws: ``StorageError`` if the log cannot be read.
  private func readTables(upTo end: UInt64) throws(StorageError) -> [Table] {
    var options = options
    options.mode = .readOnly
    var opening = Opening(paths: paths, options: options, fileSystem: fileSystem)
    opening.ignoresCheckpoints = true
    opening.logLimit = end
    let found = Thread.runAside { [opening] in
      Result { () throws(StorageError) in
        let state = try opening.recoverBesideWriter().recovery.state
        return state.tables.indices.compactMap { state.tables[$0] }
      }
    }
    return try found.get()
  }

  /// The number of attempts to read a store that changes, and the pause between two while a copy becomes the store: at least
  /// two seconds in all.
  private static let attemptLimit = 200
  private static let publicationPause = 10_000

  private func newestManifestNumber() -> UInt64? {
    let files = ManifestFiles(paths: paths, fileSystem: fileSystem, synchronizes: false)
    return (try? files.numbers())?.last
  }

  /// Whether there may be files of blobs that no row owns, and a sweep must look for them.
  func sweepsBlobs(_ manifest: Manifest, _ end: Recovery.End) -> Bool {
    switch options.blobSweep {
    case .always: true
    case .afterUncleanEnd: !end.isClean || manifest.mayHaveOrphanedBlobs
    case .never: false
    }
  }

  func makeWriter(
    _ state: StoreState,
    _ recovery: Recovery,
    _ end: Recovery.End,
    _ turns: Turns? = nil,
    _ follower: Follower? = nil
  ) -> LogWriter {
    let preparation = SegmentPreparation(
      paths: paths,
      fileSystem: fileSystem,
      options: options,
      firstID: end.nextSegment
    )
    return LogWriter(
      state: state,
      preparation: preparation,
      manifest: recovery.manifest,
      checkpoint: recovery.checkpoints,
      epoch: end.epoch == .max ? .max : end.epoch + 1,
      turns: turns,
      follower: follower
    )
  }
}

// MARK: Directories, lock and manifest

extension Opening {
  func makeDirectories() throws(StorageError) {
    if try fileSystem.list(paths.root) == nil {
      guard options.missingStore == .create else { throw .missingStore(path: paths.root) }
      if try fileSystem.size(of: paths.root) != nil {
        throw .notAStore(path: paths.root, found: "a file")
      }
      try paths.makeRoot(on: fileSystem)
    }
    guard let names = try fileSystem.list(paths.root) else {
      throw .missingStore(path: paths.root)
    }
    try checkIsNoOther(names)
    // Until there is a manifest, the creator of the directory may have died before synchronizing its name.
    if !names.contains(where: { $0.hasPrefix(StorePaths.manifestPrefix) }) {
      try fileSystem.synchronizeDirectory(paths.parent)
    }
    var isComplete = try !LogFiles.numbers(paths, fileSystem).isEmpty
    for directory in paths.directories where try fileSystem.list(directory) == nil {
      try fileSystem.makeDirectory(directory)
      isComplete = false
    }
    // The names were synchronized before the first segment was created; before that, their creator may have died too early.
    if !isComplete { try fileSystem.synchronizeDirectory(paths.root) }
  }

  /// Checks that a folder is that of a store, or of one whose making was interrupted.
  private func checkIsNoOther(_ names: [String]) throws(StorageError) {
    let isStore =
      names.contains("LOCK") || names.contains { $0.hasPrefix(StorePaths.manifestPrefix) }
    if !isStore,
      let stranger = names.sorted().first(where: {
        !["log", "pack", "index", "tmp", "members"].contains($0)
      })
    {
      throw .notAStore(path: paths.root, found: stranger)
    }
  }

  /// Whether there is a store, and not a place for one.
  ///
  /// - Throws: ``StorageError/notAStore(path:found:)`` if there is something else.
  func isStore() throws(StorageError) -> Bool {
    guard let names = try fileSystem.list(paths.root) else {
      if try fileSystem.size(of: paths.root) != nil {
        throw .notAStore(path: paths.root, found: "a file")
      }
      return false
    }
    try checkIsNoOther(names)
    let isBegun = try fileSystem.list(paths.log)?.contains {
      $0.hasSuffix(StorePaths.segmentSuffix)
    }
    return names.contains { $0.hasPrefix(StorePaths.manifestPrefix) } || isBegun == true
  }

  /// Takes the lock of a store that there is, before it is opened with it.
  mutating func hold() throws(StorageError) -> any FileLock {
    try paths.checkDirectories(on: fileSystem)
    let lock = try takeLock()
    hold(lock)
    // Readers find the store only once a copy has all its files there.
    try StagedFiles(paths, fileSystem).settle()
    return lock
  }

  private func takeLock() throws(StorageError) -> any FileLock {
    if let lock { return lock }
    guard let lock = try fileSystem.lock(paths.lock) else {
      throw StoreHolders(paths, fileSystem).refusal()
    }
    try takeAlone()
    return lock
  }

  /// Makes sure that the process which has taken the lock has the store alone, and says so in the lock's file.
  func takeAlone() throws(StorageError) {
    // A member that is being killed may have lost the lock before its own.
    let members = Members(paths: paths, fileSystem: fileSystem)
    if try fileSystem.list(paths.members) != nil, try !members.others().isEmpty {
      throw StoreHolders(paths, fileSystem).refusal()
    }
    do throws(StorageError) {
      try LockFile(paths.lock, fileSystem).write(holder: fileSystem.holderDescription)
    } catch {
      // Only the lock counts, not the contents of its file.
      guard case .noSpace = error else { throw error }
    }
  }

  /// Returns the store's manifest, or the manifest of a new store.
  func findManifest() throws(StorageError) -> Manifest {
    let files = ManifestFiles(
      paths: paths,
      fileSystem: fileSystem,
      synchronizes: options.durability != .memory
    )
    if let manifest = try files.readNewest() { return manifest }
    let names = try fileSystem.list(paths.log) ?? []
    guard !names.contains(where: { $0.hasSuffix(StorePaths.segmentSuffix) }) else {
      throw .corruption(Corruption(path: paths.root, offset: 0, problem: .missing(.manifest)))
    }
    guard options.mode == .readWrite, options.missingStore == .create else {
      throw .missingStore(path: paths.root)
    }
    let store = StoreIdentifier(low: fileSystem.randomBits(), high: fileSystem.randomBits())
    var manifest = Manifest(number: 1, store: store, lineage: store)
    manifest.application = options.application
    manifest.isClean = true
    try files.publish(manifest)
    return manifest
  }

  private func checkApplication(_ manifest: Manifest) throws(StorageError) {
    // A half-finished salvage is no store, not even for programs that accept any store.
    let takesAny =
      options.application.isEmpty && manifest.application != Manifest.unfinishedSalvage
    guard
      takesAny || manifest.application.isEmpty || options.application == manifest.application
    else {
      throw .foreignStore(
        path: paths.root,
        expected: options.application,
        found: manifest.application
      )
    }
  }
}

extension StoreState {
  /// Begins with the result of recovery; called before any other thread can see this state.
  func begin(at end: Recovery.End, _ replay: Replay) {
    visibility.visible.store(end.sequence, ordering: .relaxed)
    log.durableEnd.store(end.logPosition, ordering: .relaxed)
    log.writtenEnd.store(end.logPosition, ordering: .relaxed)
    visibility.catalogue.withLock { $0 = replay.catalogue }
    let usages = replay.usages
    log.tail.withLock { tail in
      tail.segment = end.segment
      tail.isEnded = !end.isClean
      tail.intendedCapacity =
        end.isClean ? min(options.smallestSegment, options.largestSegment) : nil
      tail.sequence = end.sequence
      tail.chain = end.chain
      tail.frame = end.frame
      tail.logEnd = end.logPosition
      tail.usages = usages
      tail.active.reset(at: end.offset)
    }
  }
}
