import LogFormat
import RowFormat
import Synchronization

extension LogTail {
  /// The result of an attempt to append.
  enum Outcome {
    case appended(UInt64)
    /// The commit does not fit into the segment, or there is none.
    case needsSegment
    /// So much is waiting to be written that this commit should write it first.
    case needsWriting
    /// A row has changed since the commit was encoded against it.
    case conflict(RowReference)
    /// A participant is no longer prepared for the commit.
    case needsPreparation
  }

  /// Limit, in bytes, of the frames waiting to be written; beyond it, commits write them first.
  static let bufferLimit = 4 << 20

  /// Whether frames of that many bytes fit into the segment.
  func hasRoom(for byteCount: Int) -> Bool {
    guard let segment, !isEnded else { return false }
    return end + byteCount + LogTail.reserve <= segment.capacity
  }

  /// Appends a finished commit, numbers it, and puts its records into the index.
  ///
  /// Either everything is changed or nothing is.
  mutating func append(
    _ batch: inout CommitBatch,
    _ state: StoreState,
    _ participant: (any CommitParticipant)? = nil
  ) throws(StorageError) -> Outcome {
    switch gate {
    case .open: break
    case .rotating: return .needsSegment
    case .closed: throw .closed(path: state.paths.root)
    case .poisoned(let cause): throw .poisoned(path: state.paths.root, cause: cause)
    }
    let byteCount = batch.buffer.count
    guard let segment, hasRoom(for: byteCount) else { return .needsSegment }
    if active.bytes.count > 0 && active.bytes.count + byteCount > LogTail.bufferLimit {
      return .needsWriting
    }
    if let reference = try firstConflict(in: batch, state) { return .conflict(reference) }
    try state.checkIndex()
    // The records that the commit supersedes have moved to a pack, and must be counted there.
    if batch.superseded.entries.contains(where: { state.files.isGone($0.segment) }) {
      return .conflict(.none)
    }

    if let participant, !participant.take(CommitSequence(sequence + 1)) {
      return .needsPreparation
    }

    let durableEnd = state.log.durableEnd.load(ordering: .relaxed)
    let start = active.bytes.count
    sequence += 1
    if start == 0, byteCount >= state.options.takeoverByteCount {
      place(batch.frameStarts, in: &batch.buffer, at: 0, of: segment, durableEnd)
      publish(from: 0, batch, segment, state)
      swap(&active.bytes, &batch.buffer)
      batch.forgetRecords()
    } else {
      active.bytes.append(batch.buffer.bytes)
      place(batch.frameStarts, in: &active.bytes, at: start, of: segment, durableEnd)
      publish(from: start, batch, segment, state)
    }
    logEnd += UInt64(byteCount)
    demand.record(commitOf: byteCount)
    return .appended(sequence)
  }

  /// Chains a commit's frames to those before them.
  ///
  /// - Parameters:
  ///   - frameStarts: The offset of each frame in the commit.
  ///   - bytes: The bytes of the commit, perhaps behind others.
  ///   - start: The offset of the commit in `bytes`, and from the start of the active buffer.
  ///   - segment: The segment that it is appended to.
  ///   - durableEnd: The end of the log that is known to be durable.
  private mutating func place(
    _ frameStarts: [Int],
    in bytes: inout ByteBuffer,
    at start: Int,
    of segment: Segment,
    _ durableEnd: UInt64
  ) {
    for frameStart in frameStarts {
      frame = active.start + start + frameStart
      chain = bytes.placeFrame(
        at: start + frameStart,
        sequence: sequence,
        durableEnd: durableEnd,
        chain: chain,
        seed: segment.seed.at(frame)
      )
    }
  }

  /// Appends a frame without records.
  mutating func appendMark(_ kind: FrameKind, durableEnd: UInt64) {
    guard let segment else { return }
    assert(
      end + FrameHeader.byteCount <= segment.capacity,
      "a frame at \(end) of a segment of \(segment.capacity) bytes"
    )
    let header = FrameHeader(
      payloadLength: 0,
      kind: kind,
      sequence: CommitSequence(sequence),
      durableEnd: durableEnd,
      payloadChecksum: 0,
      chain: chain
    )
    frame = end
    chain = active.bytes.append(header, seed: segment.seed.at(frame))
    logEnd += UInt64(FrameHeader.byteCount)
  }
}

// MARK: The index

extension LogTail {
  /// Returns the first row whose newest record is not the one that the batch was encoded against.
  private func firstConflict(
    in batch: borrowing CommitBatch,
    _ state: StoreState
  ) throws(StorageError) -> RowReference? {
    var tableNumber: UInt16 = 0
    var table: Table?
    var conflict: RowReference?
    var problem: StorageError?
    batch.forEachRecord { _, header in
      guard header.kind != .catalogue else { return true }
      if header.table != tableNumber {
        tableNumber = header.table
        table = state.tables[Int(tableNumber)]
        // A table may have been removed since the batch was filled.
        if table?.removedAt.load(ordering: .relaxed) != .max { table = nil }
      }
      guard let location = table?.pages.location(of: header.key) else {
        problem = .unknownTable(tableNumber)
        return false
      }
      // The loop ends without testing `problem == nil`, which would copy an error for each record.
      if header.kind == .insert {
        if location.isNone { return true }
        problem = .rowExists(header.reference)
      } else {
        if location.place == header.previous { return true }
        conflict = header.reference
      }
      return false
    }
    if let problem { throw problem }
    return conflict
  }

  /// Stores the locations of the records that were appended.
  private mutating func publish(
    from start: Int,
    _ batch: borrowing CommitBatch,
    _ segment: Segment,
    _ state: StoreState
  ) {
    let base = active.start + start
    let number = sequence
    var recordByteCount = 0
    var tableNumber: UInt16 = 0
    var table: Table?
    var rowCount = 0
    batch.forEachRecord { offset, header in
      if header.table != tableNumber {
        active.addRows(rowCount, to: tableNumber)
        usages.add(recordByteCount, of: tableNumber, to: segment.id)
        rowCount = 0
        recordByteCount = 0
        tableNumber = header.table
        table = state.tables[Int(tableNumber)]
        table?.newestChange.store(number, ordering: .relaxed)
      }
      recordByteCount += header.totalByteCount
      guard header.kind != .catalogue else { return true }
      let location = RecordLocation(
        segment: segment.id,
        offset: base + offset,
        kind: header.kind,
        depth: Int(header.depth)
      )
      table?.pages.store(location, for: header.key, sequence: number)
      if header.kind == .insert {
        rowCount += 1
        table?.recordKey(header.key)
      } else if header.kind == .delete {
        rowCount -= 1
      }
      return true
    }
    active.addRows(rowCount, to: tableNumber)
    usages.add(recordByteCount, of: tableNumber, to: segment.id)
    usages.release(batch.superseded)
    if let version = batch.catalogue { publish(version, state) }
  }

  /// Marks the tables that a commit removes.
  ///
  /// No later commit can change them. Readers still see them until the commit is visible.
  private mutating func publish(_ version: CatalogueVersion, _ state: StoreState) {
    active.catalogue = version.catalogue
    for number in version.removedTables {
      state.tables[Int(number)]?.removedAt.store(sequence, ordering: .releasing)
      usages.release(table: number)
    }
  }
}
