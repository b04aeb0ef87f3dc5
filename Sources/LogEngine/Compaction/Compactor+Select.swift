import Locking
import LogFormat
import RowFormat
import Synchronization

// Selecting the files to take.
extension Compactor {
  /// The plan of a compaction, or the reason that there is none.
  enum Selection {
    case plan(Plan)
    case outcome(CompactionOutcome)
    /// Another process compacts.
    case isBusy
  }

  /// The files that readers and the history allow a compaction to take.
  struct Candidates {
    var pickerInput = CompactionPolicy.PickerInput()
    /// The segments that may be packed, oldest first, each with its successor's header.
    var segments: [(segment: Segment, successor: SegmentHeader)] = []
    var packs: [PackReader] = []
    /// The newest commit that is no newer than any reader's.
    var lowWaterMark: UInt64 = 0
    /// The written part of the last segment.
    var last: CompactionPolicy.Candidate?
    /// The number of further segments that could be packed if a view were released.
    var viewedCount = 0
    /// The size of the files of those segments, in bytes.
    var viewedByteCount = 0
    /// The segments that could be packed, but stay for the history.
    var history: Set<SegmentID> = []
  }

  /// Collects the files that a compaction may take.
  ///
  /// - Parameters:
  ///   - state: The store.
  ///   - history: The part of the log that stays.
  ///   - othersBound: The oldest commit that another process needs, if the caller has a newer bound than the one found when the
  ///     last compaction began.
  /// - Returns: The files.
  /// - Complexity: O(files and tables).
  static func candidates(
    _ state: StoreState,
    _ history: HistoryRetention,
    othersBound: UInt64? = nil
  ) -> Candidates {
    var candidates = Candidates()
    let visible = state.visibility.visible.load(ordering: .acquiring)
    candidates.lowWaterMark = min(
      state.visibility.pins.oldest(upTo: visible),
      othersBound ?? state.visibility.othersBound.load(ordering: .relaxed)
    )
    let usages = state.log.tail.withLock { $0.usages }.bySegment
    let segments = state.files.segmentList
    // A segment is sealed if another follows, whose header has its end.
    let sealed = zip(segments, segments.dropFirst()).map { ($0, $1.header) }
    let packable = history.packableCount(
      of: sealed.map { .init(ended: $1.created, byteCount: $1.previousEnd) },
      at: state.fileSystem.microseconds()
    )
    candidates.history = Set(sealed.dropFirst(packable).map(\.0.id))
    candidates.segments = sealed.prefix(packable).prefix { _, successor in
      successor.previousSequence.rawValue <= candidates.lowWaterMark
    }
    .map { (segment: $0, successor: $1) }
    candidates.viewedCount = packable - candidates.segments.count
    candidates.viewedByteCount = sealed[candidates.segments.count..<packable].reduce(0) {
      $0 + $1.0.capacity
    }
    candidates.packs = state.files.packList.withLock { $0 }
    func candidate(_ id: SegmentID, _ fileByteCount: Int) -> CompactionPolicy.Candidate {
      .init(id: id, usage: usages[id] ?? SegmentUsage(), fileByteCount: fileByteCount)
    }
    candidates.pickerInput.segments = candidates.segments.map {
      candidate($0.segment.id, $0.segment.capacity)
    }
    candidates.pickerInput.packs = candidates.packs.map {
      candidate(SegmentID(rawValue: $0.id.rawValue), $0.summary.byteCount)
    }
    if let last = segments.last {
      candidates.last = candidate(last.id, last.readableEnd.load(ordering: .relaxed))
      // The next segment is prepared beside it.
      candidates.pickerInput.spareByteCount = 2 * last.capacity
    }
    candidates.pickerInput.otherLiveByteCount = segments.dropFirst(candidates.segments.count)
      .reduce(0) { $0 + (usages[$1.id]?.liveByteCount ?? 0) }
    return candidates
  }

  /// Selects the files to take.
  ///
  /// - Parameters:
  ///   - log: The writer of the log.
  ///   - urgency: The least gain that makes a compaction worthwhile.
  ///   - history: The part of the log that stays.
  ///   - fileLimit: The maximum number of files to take.
  ///   - lastEnd: The newest commit when the last compaction ended.
  /// - Returns: The plan, or the reason that there is none.
  /// - Throws: ``StorageError`` if writing has ended, or the log cannot be read.
  static func select(
    _ log: any LogPublisher,
    _ urgency: CompactionUrgency,
    _ history: HistoryRetention,
    fileLimit: Int,
    lastEnd: () -> UInt64
  ) throws -> Selection {
    // Held for as long as the plan exists.
    guard let permit = try log.lockCompaction() else { return .isBusy }
    return try log.inTurn {
      try select(log, urgency, history, permit, fileLimit: fileLimit, lastEnd: lastEnd)
    }
  }

  private static func select(
    _ log: any LogPublisher,
    _ urgency: CompactionUrgency,
    _ history: HistoryRetention,
    _ permit: CompactionPermit,
    fileLimit: Int,
    lastEnd: () -> UInt64
  ) throws -> Selection {
    let state = log.state
    let manifest = try log.currentManifest()
    // Another process has compacted, and a reader of this one keeps the new packs from being adopted.
    guard manifest.base == state.files.base.withLock({ $0 }) else { return .outcome(.waitsForRead) }
    log.removeRemains()
    try log.findOthersBound()
    let candidates = candidates(state, history)
    // Readers that follow the index without a pin must be gone: they may be about to look for a row that is left out. Drained
    // after reading the low-water mark: a later reader finds in the index the replacement of each row up to it.
    guard state.files.epochs.drain() else { return .outcome(.waitsForRead) }
    let policy = state.options.compactionPolicy
    var choice = policy.choose(from: candidates.pickerInput, urgency)
    choice = policy.limit(choice, to: fileLimit, of: candidates.pickerInput)
    if !choice.packs.isEmpty, candidates.lowWaterMark < lastEnd() {
      // A view sees the rows that the last compaction had to keep: those packs would be rewritten unchanged.
      choice.packs = []
      if choice.isEmpty {
        return .outcome(.waitsForView(of: CommitSequence(candidates.lowWaterMark)))
      }
    }
    if choice.isEmpty { return .outcome(candidates.reasonForNothing) }
    var plan = Plan(base: manifest.base ?? LogBase.none)
    plan.permit = permit
    let segments = candidates.segments.prefix(choice.segmentCount)
    if let successor = segments.last?.successor {
      plan.base.segment = successor.previousSegment
      plan.base.end = successor.previousEnd
      plan.base.logPosition = successor.logPosition
      plan.base.sequence = successor.previousSequence.rawValue
      plan.base.chain = successor.previousChain
    }
    plan.segments = segments.map(\.segment)
    plan.packs = candidates.packs.filter {
      choice.packs.contains(SegmentID(rawValue: $0.id.rawValue))
    }
    let all = candidates.packs.map { SegmentID(rawValue: $0.id.rawValue) }
    plan.keptFiles = Set(all).subtracting(choice.packs)
    plan.lowWaterMark = candidates.lowWaterMark
    plan.base.lowWaterMark = candidates.lowWaterMark
    plan.packByteCount = policy.packByteCount(in: candidates.pickerInput)
    plan.base.catalogue = try plan.catalogueAtEnd(state)
    return .plan(plan)
  }
}

extension Compactor.Candidates {
  /// The reason that a requested compaction has nothing to do.
  fileprivate var reasonForNothing: CompactionOutcome {
    if viewedCount > 0 { return .waitsForView(of: CommitSequence(lowWaterMark)) }
    return history.isEmpty ? .nothingToDo : .isHistory
  }
}

// MARK: The catalogue

extension Compactor.Plan {
  /// Returns the catalogue as of the end of the taken part of the log.
  fileprivate func catalogueAtEnd(_ state: StoreState) throws -> Catalogue {
    var catalogue = base.catalogue
    let usages = state.log.tail.withLock { $0.usages.entries }
    for (index, segment) in segments.enumerated() {
      // Most segments do not change the catalogue, and need not be read for it.
      guard usages.contains(where: { $0.segment == segment.id && $0.table == 0 }) else { continue }
      let limit = index + 1 < segments.count ? segments[index + 1].header.previousEnd : base.end
      var scan = FrameScan(
        segment,
        from: SegmentHeader.byteCount,
        to: limit,
        chain: segment.header.previousChain,
        sequence: segment.header.previousSequence.rawValue
      )
      while try scan.next({ payload, offset, _ in
        try CatalogueChange.apply(recordsOf: payload, at: offset, in: segment, to: &catalogue)
      }) {}
      guard scan.lastComplete.offset == limit else {
        throw scan.lost(durableUpTo: segment.logPosition(of: limit), .successor)
      }
    }
    return catalogue
  }
}

extension LogBase {
  /// The base of a log of which nothing was packed.
  static var none: LogBase {
    LogBase(segment: .none, end: 0, logPosition: 0, sequence: 0, chain: 0, catalogue: Catalogue())
  }
}

extension CatalogueChange {
  /// Applies the catalogue records of a frame.
  fileprivate static func apply(
    recordsOf payload: RawSpan,
    at offset: Int,
    in segment: Segment,
    to catalogue: inout Catalogue
  ) throws {
    guard let parts = CommitPayload(decoding: payload) else {
      throw segment.corruption(at: offset, .missing(.payload))
    }
    var at = parts.recordRange.lowerBound
    while at < parts.recordRange.upperBound {
      let bytes = payload.extracting(at..<parts.recordRange.upperBound)
      guard let header = RecordHeader(decoding: bytes) else {
        throw segment.damagedRecord(at: offset + at)
      }
      if header.kind == .catalogue {
        guard let changes = decodeList(bytes.extracting(header.bodyRange)) else {
          throw segment.corruption(at: offset + at, .missing(.catalogue))
        }
        for change in changes { try catalogue.apply(change) }
      }
      at += header.totalByteCount
    }
  }
}
