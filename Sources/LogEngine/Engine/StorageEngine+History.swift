import Locking
import LogFormat
public import RowFormat
import Synchronization

extension StorageEngine {
  /// The commit after which single commits are still in the log; those up to it were packed.
  ///
  /// - Complexity: O(segments).
  public var lastCommitBeforeHistory: CommitSequence {
    state.files.segmentList.first?.header.previousSequence
      ?? CommitSequence(state.files.base.withLock { $0?.sequence ?? 0 })
  }

  /// Returns the newest commit made by a time, according to the clocks of the writers.
  ///
  /// - Parameter microseconds: The time, since 1970.
  /// - Returns: The commit, zero if there was none yet; `nil` if it was packed together with later ones.
  /// - Throws: ``/LogFormat/StorageError/corruption(_:)`` if the log is damaged behind it.
  /// - Complexity: O(bytes of the commits behind it).
  package func lastCommit(at microseconds: Int64) throws -> CommitSequence? {
    while true {
      let oldest = lastCommitBeforeHistory
      let begun = state.files.segmentList.first?.header.created
      var found: CommitSequence?
      do {
        try forEachCommit(after: oldest, order: .newestFirst) { commit in
          guard commit.microseconds <= microseconds else { return .proceed }
          found = commit.sequence
          return .stop
        }
      } catch StorageError.commitGone {
        // A compaction came first: the rest of the log now begins later.
        continue
      }
      // All commits in a segment's predecessors came before the segment was begun.
      return found ?? (oldest == .zero || begun.map { $0 <= microseconds } ?? true ? oldest : nil)
    }
  }

  /// Visits commits with their changes.
  ///
  /// Works on any open store: beside its writer and a compaction, in a follower after ``refresh()``, and up to the damage of a
  /// damaged one. Commits made meanwhile are not visited.
  ///
  /// - Parameters:
  ///   - first: The last commit known, after which to begin.
  ///   - last: The last commit to visit; the newest, if `nil`.
  ///   - order: Whether the oldest or the newest commit comes first.
  ///   - body: Called for each commit; its changes are read only if it asks for them.
  /// - Throws: ``/LogFormat/StorageError/corruption(_:)`` if the log is damaged between the two;
  ///   ``/LogFormat/StorageError/commitGone(_:oldest:)`` if commits between the two were packed; or any error that `body`
  ///   throws.
  /// - Complexity: O(bytes of the commits), and the search for the first: at most the headers of the frames of its segment the
  ///   first time, of 64 KiB from then on.
  public func forEachCommit(
    after first: CommitSequence = .zero,
    upTo last: CommitSequence? = nil,
    order: CommitOrder = .oldestFirst,
    _ body: (LoggedCommit) throws -> ScanControl
  ) throws {
    let last = min(last ?? .init(.max), lastCommit)
    guard first < last else { return }
    let segments = state.files.segmentList
    let oldest = segments.first?.header.previousSequence ?? lastCommitBeforeHistory
    guard first >= oldest || first == .zero else {
      throw StorageError.commitGone(first, oldest: oldest)
    }
    let start = segments.lastIndex { $0.header.previousSequence <= first } ?? 0
    let end = segments.firstIndex { $0.header.previousSequence >= last } ?? segments.count
    guard start < end else { return }
    let range = (first: max(first, oldest).rawValue, last: last.rawValue)
    switch order {
    case .oldestFirst:
      for index in start..<end {
        // Each segment begins with the commit after its predecessor's last.
        let bound = index + 1 < end ? segments[index + 1].header.previousSequence : last
        let part = (first: range.first, last: bound.rawValue)
        if try visit(segments[index], part, body) == .stop { return }
      }
    case .newestFirst:
      for index in (start..<end).reversed() {
        let bound = index + 1 < end ? segments[index + 1].header.previousSequence : last
        let part = (first: range.first, last: bound.rawValue)
        if try visitBackwards(segments[index], part, body) == .stop { return }
      }
    }
  }

  /// Visits the commits of a segment between two, oldest first.
  private func visit(
    _ segment: Segment,
    _ range: (first: UInt64, last: UInt64),
    _ body: (LoggedCommit) throws -> ScanControl
  ) throws -> ScanControl {
    var scan = try state.scan(segment, after: range.first)
    while scan.sequence < range.last {
      guard let payloads = try scan.nextCommit() else {
        throw segment.corruption(at: scan.offset, .missing(.frame))
      }
      let complete = scan.lastComplete
      state.commitMarks.record(
        .init(sequence: complete.sequence, offset: complete.offset, chain: complete.chain),
        in: segment,
        { state.files.isRetired($0) }
      )
      guard scan.sequence > range.first else { continue }
      let commit = try LoggedCommit(scan.sequence, payloads, in: segment, state)
      if try body(commit) == .stop { return .stop }
    }
    return .proceed
  }

  /// Visits the commits of a segment between two, newest first, from mark to mark.
  private func visitBackwards(
    _ segment: Segment,
    _ range: (first: UInt64, last: UInt64),
    _ body: (LoggedCommit) throws -> ScanControl
  ) throws -> ScanControl {
    // Leaves marks up to that commit.
    _ = try state.scan(segment, after: range.last)
    var last = range.last
    for mark in state.commitMarks.all(in: segment).reversed() where mark.sequence < last {
      let first = max(mark.sequence, range.first)
      var commits: [LoggedCommit] = []
      _ = try visit(segment, (first, last)) { commit in
        commits.append(commit)
        return .proceed
      }
      for commit in commits.reversed() where try body(commit) == .stop { return .stop }
      last = first
      if last <= range.first { break }
    }
    return .proceed
  }

  /// Returns the records of a row, newest first, back to its insertion: its whole history, and the chain of deltas that its
  /// present state is assembled from.
  ///
  /// - Returns: The changes; none if there never was such a row.
  /// - Throws: ``/LogFormat/StorageError/corruption(_:)`` if a record is damaged.
  /// - Complexity: O(changes of the row).
  public func history(of reference: RowReference) throws -> [LoggedChange] {
    guard let table = state.tables[Int(reference.table)], reference.key <= IndexPages.maximumKey
    else { return [] }
    let newest = lastCommit.rawValue
    var changes: [LoggedChange] = []
    var place = table.pages.location(of: reference.key).place
    // Packed rows have no history any more.
    while !place.isNone, !place.isPacked, !state.files.isRetired(place.segment) {
      place = try state.files.reading {
        try state.withRecord(at: place, of: reference) { header, bytes -> RecordPlace in
          guard header.reference == reference, header.kind != .catalogue,
            header.leadsBack(from: place)
          else {
            throw state.inconsistency(at: place, reference)
          }
          if let origin = try state.origin(of: header, at: place, upTo: newest) {
            changes.append(try LoggedChange(header, at: place, bytes, origin, state))
          }
          return header.previous
        }
      }
    }
    return changes
  }

  /// Pins an earlier commit: the view sees the store as of that commit.
  ///
  /// The tables of that commit, and their row counts, are found by reading the log up to it; the rows are found through their
  /// records' links, as in any view. Rows of a table that was removed since are visible as long as this engine has seen the
  /// removal: not after opening from a later checkpoint.
  ///
  /// - Parameter sequence: The commit; zero for the empty store.
  /// - Returns: The view.
  /// - Throws: ``/LogFormat/StorageError/unknownCommit(_:newest:)`` if there is no such commit yet;
  ///   ``/LogFormat/StorageError/commitGone(_:oldest:)`` if compaction has folded it;
  ///   ``/LogFormat/StorageError/corruption(_:)`` if the log before it is damaged.
  /// - Complexity: O(bytes of the log up to that commit); of the newest one, as ``makeReadView()``.
  public func makeReadView(at sequence: CommitSequence) throws -> ReadView {
    let newest = lastCommit
    guard sequence <= newest else {
      throw StorageError.unknownCommit(sequence, newest: newest)
    }
    if let writer, let turns = writer.turns {
      return try writer.inTurn {
        // Comes before the check that the commit is there: from then on no compaction takes it.
        let needed = min(sequence.rawValue, state.visibility.pins.oldest(upTo: newest.rawValue))
        try turns.membership.write(bound: needed)
        return try makePinnedReadView(at: sequence)
      }
    }
    return try makePinnedReadView(at: sequence)
  }

  private func makePinnedReadView(at sequence: CommitSequence) throws -> ReadView {
    // Held until the view has its own pin.
    let holder = makeReadView()
    if sequence == holder.sequence { return holder }
    defer { withExtendedLifetime(holder) {} }
    let pin = state.visibility.pins.pin(sequence.rawValue, at: state.fileSystem.microseconds())
    defer { state.visibility.pins.unpin(pin) }
    let oldest = CommitSequence(
      state.visibility.lowWaterMark.load(ordering: .sequentiallyConsistent)
    )
    guard sequence >= oldest else { throw StorageError.commitGone(sequence, oldest: oldest) }
    while true {
      let base = state.files.base.withLock { $0 }
      let view = try makeReadView(at: sequence, from: base)
      // A compaction may have removed segments before they were read.
      if state.files.base.withLock({ $0 }) == base { return view }
    }
  }

  private func makeReadView(at sequence: CommitSequence, from base: LogBase?) throws -> ReadView {
    var catalogue = base?.catalogue ?? Catalogue()
    var rowCounts: [UInt16: Int] = [:]
    for table in base?.tables ?? [] { rowCounts[table.number] = table.rowCount }
    let first = CommitSequence(base?.sequence ?? 0)
    try forEachCommit(after: first, upTo: sequence) { commit in
      try commit.forEachRecord { header, place, bytes in
        switch header.kind {
        case .insert: rowCounts[header.table, default: 0] += 1
        case .delete: rowCounts[header.table, default: 0] -= 1
        case .delta, .fullImage: break
        case .catalogue:
          guard let changes = CatalogueChange.decodeList(bytes.extracting(header.bodyRange)) else {
            throw state.inconsistency(at: place, .none)
          }
          for change in changes { try catalogue.apply(change) }
        }
        return .proceed
      }
      return .proceed
    }
    return ReadView(state: state, sequence, catalogue, rowCounts: rowCounts)
  }
}

/// The order in which commits are visited.
public enum CommitOrder: Sendable, Hashable {
  /// From the oldest commit to the newest.
  case oldestFirst
  /// From the newest commit to the oldest.
  case newestFirst
}

extension FrameScan {
  /// Reads up to the end of the next commit.
  ///
  /// - Returns: The ranges of its frames' payloads; `nil` if there is no further commit.
  fileprivate mutating func nextCommit() throws -> CommitPayloads? {
    var payloads: CommitPayloads?
    while payloads == nil {
      let isValid = try next { payload, offset, _ in
        let range = offset..<(offset + payload.byteCount)
        if payloads == nil {
          payloads = CommitPayloads(first: range)
        } else {
          payloads?.rest.append(range)
        }
      }
      guard isValid else { return nil }
    }
    return payloads
  }
}

extension StoreState {
  /// Returns the commit that a record belongs to, with its time and author; `nil` if it is later than `newest`.
  fileprivate func origin(
    of header: RecordHeader,
    at place: RecordPlace,
    upTo newest: UInt64
  ) throws -> (sequence: CommitSequence, microseconds: Int64, author: String?)? {
    try withSegment(place.segment) { segment in
      let end = segment.readableEnd.load(ordering: .acquiring)
      guard place.offset < end else { return nil }
      let sequence = try segment.sequence(ofRecordAt: place.offset, distance: header.distance)
      guard sequence <= newest else { return nil }
      // Only the last frame of a commit names its author.
      var start = place.offset - header.distance
      while let frame = try segment.frameHeader(at: start), frame.sequence.rawValue == sequence,
        start + frame.totalByteCount <= end
      {
        let payload = (start + FrameHeader.byteCount)..<(start + frame.totalByteCount)
        if frame.kind.completesCommit {
          return try segment.withPayload(payload) { bytes in
            guard let parts = CommitPayload(decoding: bytes) else {
              throw segment.corruption(at: payload.lowerBound, .missing(.payload))
            }
            return (CommitSequence(sequence), parts.microseconds, parts.author(in: bytes))
          }
        }
        start += frame.totalByteCount
      }
      throw segment.corruption(at: start, .missing(.frameHeader))
    }
  }
}
