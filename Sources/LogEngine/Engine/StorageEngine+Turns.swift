import Locking
import LogFormat
import Synchronization

// A store that several processes write; see ``EngineOptions/Writers-swift.enum/severalProcesses``.
extension StorageEngine {
  /// Whether other processes may write the store while it is open here.
  package var hasOtherWriters: Bool { writer?.turns != nil }

  /// Waits, for some seconds at most, for a commit of another thread that others have overtaken repeatedly.
  ///
  /// Called before a thread takes anything that the other may need. It costs one atomic read if there is none.
  package func giveWay() { writer?.precedence.giveWay() }

  /// Number of threads that wait in ``giveWay()``.
  package var givingWayCount: Int { writer?.precedence.waitingCount ?? 0 }

  /// Makes the saves of other threads wait for those of the calling one, until it has called ``endPrecedence()`` as often.
  package func takePrecedence() { writer?.precedence.take() }

  package func endPrecedence() { writer?.precedence.end() }

  /// Returns once reads see all commits that have a number by now.
  ///
  /// - Throws: ``/LogFormat/StorageError`` if they cannot be written.
  package func publishAppended() throws(StorageError) { try writer?.publishAppended() }

  /// Runs `body` while no other process writes the store, after reading all their commits.
  ///
  /// Other threads of this process may write meanwhile. A thread may call this in `body`, too; it must hold no locks of the
  /// store. If only one process may write, it just calls `body`.
  ///
  /// - Returns: The result of `body`.
  /// - Throws: ``/LogFormat/StorageError`` if the rest of the log cannot be read, or any error that `body` throws.
  package func inTurn<R>(_ body: () throws -> R) throws -> R {
    guard let writer else { return try body() }
    return try writer.inTurn(any: body)
  }

  /// Begins a turn like that of ``inTurn(_:)``; called on the thread that ends it.
  ///
  /// - Throws: ``/LogFormat/StorageError`` if the rest of the log cannot be read; then there is no turn.
  package func beginTurn() throws(StorageError) {
    if let writer, let turns = writer.turns { try writer.enterTurn(turns) }
  }

  /// Ends the turn that one ``beginTurn()`` began, and waits until the thread's commits in it are as safe as the options ask
  /// for.
  ///
  /// - Throws: ``/LogFormat/StorageError`` if that cannot be determined; the turn has ended nevertheless.
  package func endTurn() throws(StorageError) {
    if let writer, let turns = writer.turns { try writer.leaveTurn(turns) }
  }

  /// Calls back after other processes have committed, from a thread of its own, once their commits are read; replaces an
  /// earlier handler.
  package func onNews(_ handler: (@Sendable () -> Void)?) {
    watching.withLock { $0 }?.handler.withLock { $0 = handler }
  }

  /// The newest commit of another process that this one has read.
  package var lastForeignCommit: CommitSequence {
    CommitSequence(state.visibility.foreign.load(ordering: .acquiring))
  }

  /// Begins to watch for commits of other processes.
  func watch(_ turns: Turns) {
    let look: @Sendable () -> Bool? = { [weak self] in self?.lookForNews() }
    let watch = TurnWatch.start(turns.file.path, state.fileSystem, look)
    // A turn is kept only if a waiting process can be heard at once.
    turns.hears.store(watch != nil, ordering: .releasing)
    let hasThreads = state.options.background == .ownThread
    if hasThreads, state.options.durability != .full { keepTurnsDuringStreaks(turns) }
    let watching = watch ?? (hasThreads ? TurnWatch.startTimer(look) : nil)
    self.watching.withLock { $0 = watching }
  }

  private func keepTurnsDuringStreaks(_ turns: Turns) {
    turns.keepDuringStreaks(
      Worker(
        of: .usual,
        delay: { [weak turns] in turns?.timerDelay },
        work: { [weak writer] in
          if let writer, let turns = writer.turns { turns.endKept { writer.endTurn(turns) } }
        }
      )
    )
  }

  /// Stops watching: commits of other processes are read only in turns.
  func stopWatching() { watching.withLock { $0.take() }?.stop() }

  /// - Returns: Whether there were new commits.
  private func lookForNews() -> Bool? {
    guard let writer, let turns = writer.turns else { return nil }
    turns.yieldIfWanted { writer.endTurn(turns) }
    // A failure to read is reported by the next read that a caller requests.
    try? readNews(writer, turns)
    writer.settleWithOthers()
    // Compared with the commit last reported, not with the one last read: a save of this process may have read it.
    let newest = lastForeignCommit.rawValue
    return toldCommit.exchange(newest, ordering: .relaxed) != newest
  }

  /// Reads the commits of other members, if there are any.
  func readNews(_ writer: LogWriter, _ turns: Turns) throws(StorageError) {
    // The count is read first: commits counted in it are read by this call or the next.
    let holder = try turns.file.readHolder()
    if holder.member == 0, holder.turns == turns.read.load(ordering: .acquiring) { return }
    guard let follower = writer.follower else { return }
    // A write has failed in a turn of this process, and no other has written since.
    if holder.member == turns.membership.number, writer.hasEnded, follower.hasFailed { return }
    _ = try follower.refresh()
    var attempts = 0
    while follower.isHeldBack, attempts < Self.heldBackLimit {
      attempts += 1
      state.fileSystem.pause(microseconds: 50)
      _ = try follower.refresh()
    }
    // Commits that wait for a reader are read by the next call.
    if holder.member == 0, !follower.isHeldBack {
      turns.read.max(holder.turns, ordering: .releasing)
    }
  }

  /// Limit of the attempts at a reading that waits for a reader of this process.
  private static let heldBackLimit = 200

  /// Allocates ranks that no process has used before, above all existing ones.
  ///
  /// - Parameters:
  ///   - count: The number of ranks.
  ///   - first: Returns the lowest free rank as of a commit.
  /// - Returns: The ranks.
  /// - Throws: ``/LogFormat/StorageError`` if this process's turn does not come.
  package func takeRanks(
    _ count: Int,
    from first: (CommitSequence) -> Int64
  ) throws(StorageError) -> Range<Int64> {
    let writer = try requireWriter()
    return try writer.inTurn { () throws(StorageError) in
      let start = first(lastCommit)
      return try writer.turns?.takeRanks(count, from: start) ?? start..<(start + Int64(count))
    }
  }

  /// Allocates keys that no process has used before; if only one process writes, as ``reserveKeys(_:in:)`` does.
  ///
  /// - Parameters:
  ///   - count: The number of keys.
  ///   - table: The table.
  /// - Returns: The keys; none if there is no such table.
  /// - Throws: ``/LogFormat/StorageError`` if this process's turn does not come.
  /// - Complexity: A turn for each 64 keys, unless this is one.
  public func takeKeys(_ count: Int, in table: UInt16) throws(StorageError) -> Range<UInt64> {
    guard let writer, let turns = writer.turns, count > 0 else {
      return reserveKeys(count, in: table)
    }
    if let keys = turns.takeReserved(count, of: table) { return keys }
    return try writer.inTurn { () throws(StorageError) in
      // The turn has read what other processes have committed: one of them may have made the table.
      guard let slot = state.tables[Int(table)] else { return 0..<0 }
      let keys = try turns.takeKeys(
        count,
        of: table,
        from: slot.nextKey.load(ordering: .relaxed)
      )
      slot.nextKey.max(keys.upperBound, ordering: .relaxed)
      return keys
    }
  }
}

// MARK: Leaving

extension StorageEngine {
  /// Leaves the members; the last one closes the store.
  func leave(_ writer: LogWriter, _ turns: Turns) throws(StorageError) {
    turns.stopLeasing()
    stopWatching()
    defer { turns.close() }
    do throws(StorageError) {
      try writer.close(leaving: turns)
    } catch .poisoned {
      // The next member repairs the log.
      writer.abandon()
    } catch .turnTimeout {
      // This member has nothing that others lack, and is not the last.
      writer.synchronizeWithoutTurn()
      writer.abandon()
    }
  }
}

extension LogWriter {
  /// Closes the log if no other process has it open; otherwise only stops writing.
  fileprivate func close(leaving turns: Turns) throws(StorageError) {
    try housekeeper.compaction.withLock { (slot) throws(StorageError) in
      housekeeper.giveUp(&slot)
      try checkpointing.withLock { (_) throws(StorageError) in
        if lead.withLock({ $0.isClosed }) { return }
        try inTurn { () throws(StorageError) in
          let isLast = try turns.membership.members.others(than: turns.membership.number).isEmpty
          try lead.withLock { (lead) throws(StorageError) in
            if isLast { return try close(&lead) }
            try synchronizeAtEnd(&lead)
            lead.isClosed = true
            endFlag.store(true, ordering: .releasing)
            state.log.tail.withLock { $0.gate = .closed }
          }
        }
      }
    }
  }

  /// Synchronizes commits that no thread waits for, which no one else would.
  private func synchronizeAtEnd(_ lead: inout Lead) throws(StorageError) {
    guard !writesThrough, lead.failure == nil else { return }
    let work = state.log.tail.withLock { $0.take() }
    try write(work, synchronizing: true, &lead)
    publish(work)
  }

  /// Stops writing without publishing anything.
  fileprivate func abandon() {
    lead.withLock { lead in
      lead.isClosed = true
      endFlag.store(true, ordering: .releasing)
      state.log.tail.withLock { $0.gate = .closed }
    }
  }
}

// MARK: Other members' needs

extension LogWriter {
  /// Publishes the oldest commit that this process needs, and removes files of blobs that no process needs.
  ///
  /// - Returns: Whether such files remain, because other processes may still need them.
  @discardableResult
  func settleWithOthers() -> Bool {
    guard let turns else {
      state.collectBlobs()
      return false
    }
    // A failure is made up for at the next call.
    try? turns.membership.write(bound: state.visibility.pins.oldest(upTo: readEnd))
    guard state.files.blobs.retired.withLock({ $0.count > 0 }) else { return false }
    try? collectBlobs(beside: turns)
    return state.files.blobs.retired.withLock { $0.count > 0 }
  }

  /// The commit up to which this process has read the log, for other processes: a process that reads no further needs only the
  /// commits of its views, and must not keep others from packing the rest until it is closed.
  private var readEnd: UInt64 {
    if follower?.hasFailed ?? false { return .max }
    return state.visibility.visible.load(ordering: .sequentiallyConsistent)
  }

  /// Removes files of blobs that no process needs, in a turn, during which no process joins.
  ///
  /// A turn wakes all members, including this one. So it is taken only once a file can be removed.
  private func collectBlobs(beside turns: Turns) throws(StorageError) {
    func findBound() throws(StorageError) -> UInt64 {
      try turns.membership.members.lowestBound(but: turns.membership.number) ?? .max
    }
    guard state.hasCollectableBlobs(neededFrom: .max),
      state.hasCollectableBlobs(neededFrom: try findBound())
    else { return }
    try inTurn { () throws(StorageError) in state.collectBlobs(neededFrom: try findBound()) }
  }
}
