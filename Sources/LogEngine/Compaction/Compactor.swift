import RowFormat
import Synchronization

/// Packs the oldest segments of the log, and packs that are mostly dead, into a new pack.
///
/// 1. Select what to take. No reader may need a state older than the end of what is taken.
/// 2. Fold: write each row as it was there, or note that it has ended.
/// 3. Verify what was written by reading it back, and give it its name.
/// 4. Publish a manifest that names the pack, and from where on the log counts. Before that a crash leaves
///    a file nobody knows; after it, files nobody needs.
/// 5. Move the index slots that still name what was taken.
/// 6. Write a checkpoint, and remove what was taken.
///
/// Commits go on meanwhile. A commit that changes a row during 2 to 5 names the row's old place, which from
/// then on stands for the row in the pack.
struct Compactor {
  let writer: LogWriter
  /// After how many keys others are let work for a moment; a power of two.
  var pauseInterval: UInt64 = 256
  let observer: (CompactionProgress) -> ScanControl

  var state: StoreState { writer.state }

  /// What is taken, and where the log begins afterwards.
  struct Plan {
    var base: LogBase
    var segments: [Segment] = []
    var packs: [PackReader] = []
    /// The packs that stay.
    var keptFiles: Set<SegmentID> = []
    var id = PackID(rawValue: 0)
    /// The newest commit that is no newer than any reader's.
    var floor: UInt64 = 0

    /// Whether a file, segment or pack, is taken.
    func takes(_ file: SegmentID) -> Bool {
      !keptFiles.contains(file)
        && (file <= base.segment || packs.contains { $0.id.rawValue == file.rawValue })
    }

    /// Whether an index slot names what is taken.
    func takes(_ location: RecordLocation) -> Bool {
      location.isPacked
        ? packs.contains { $0.id.rawValue == location.segment.rawValue }
        : location.segment <= base.segment
    }
  }

  /// Does it.
  ///
  /// - Parameter urgency: How much to take.
  /// - Returns: What came of it; `nil` if there was nothing to do.
  /// - Throws: ``StorageError``; only a failure to publish ends writing.
  func run(_ urgency: CompactionUrgency) throws -> CompactionReport? {
    guard var plan = try select(urgency) else { return nil }
    plan.base.catalogue = try catalogue(at: plan)
    plan.id = PackID(rawValue: writer.preparation.takeNumber())
    let folded: Folded
    let pack: PackReader?
    do {
      folded = try fold(plan)
      pack = try verify(folded, plan)
    } catch {
      try? state.fileSystem.unlink(state.paths.temporary("pack"))
      if error is CompactionStopped { return nil }
      throw error
    }
    plan.base.tables = folded.tables.map(\.standing)
    plan.base.packs.removeAll { standing in plan.packs.contains { $0.id == standing.id } }
    if let pack {
      plan.base.packs.append(.init(id: pack.id, byteCount: pack.summary.byteCount))
    }
    let retired = try publish(plan, folded, pack)
    if let pack { try moveSlots(to: pack, plan, folded, after: retired.sequence) }
    return finish(plan, folded, pack, retired)
  }
}

/// Thrown through the steps when the observer asks to stop.
struct CompactionStopped: Error {}

// MARK: Selecting

extension Compactor {
  private func select(_ urgency: CompactionUrgency) throws(StorageError) -> Plan? {
    let visible = state.visible.load(ordering: .acquiring)
    // Whoever follows the index without a pin has to be gone: it may be about to look for what is left out.
    guard state.epochs.drain() else { return nil }
    let floor = state.pins.floor(upTo: visible)
    let (manifest, isClosed) = writer.lead.withLock { lead in
      (lead.manifest, lead.isClosed || lead.failure != nil)
    }
    if isClosed { return nil }
    let usages = state.tail.withLock { $0.usages.bySegment }
    let segments = state.segmentList
    // A segment is sealed if another follows, which says where it ends.
    let sealed = zip(segments, segments.dropFirst())
      .prefix { $1.header.previousSequence.rawValue <= floor }
    let packs = state.packList.withLock { $0 }
    func candidate(_ id: SegmentID) -> CompactionPolicy.Candidate {
      .init(id: id, usage: usages[id] ?? SegmentUsage())
    }
    let choice = CompactionPolicy().choose(
      segments: sealed.map { candidate($0.0.id) },
      packs: packs.map { candidate(SegmentID(rawValue: $0.id.rawValue)) },
      urgency
    )
    if choice.isEmpty { return nil }
    var plan = Plan(base: manifest.base ?? LogBase.none)
    if let successor = sealed.prefix(choice.segmentCount).last?.1.header {
      plan.base.segment = successor.previousSegment
      plan.base.end = successor.previousEnd
      plan.base.logPosition = successor.logPosition
      plan.base.sequence = successor.previousSequence.rawValue
      plan.base.chain = successor.previousChain
    }
    plan.segments = sealed.prefix(choice.segmentCount).map(\.0)
    plan.packs = packs.filter { choice.packs.contains(SegmentID(rawValue: $0.id.rawValue)) }
    let kept = packs.map { SegmentID(rawValue: $0.id.rawValue) }
    plan.keptFiles = Set(kept).subtracting(choice.packs)
    plan.floor = floor
    plan.base.floor = floor
    return plan
  }

  /// The catalogue as the log's taken part leaves it.
  private func catalogue(at plan: Plan) throws -> Catalogue {
    var catalogue = plan.base.catalogue
    let usages = state.tail.withLock { $0.usages.entries }
    for (index, segment) in plan.segments.enumerated() {
      // Most segments change nothing of it, and need not be read for it.
      guard usages.contains(where: { $0.segment == segment.id && $0.table == 0 }) else { continue }
      let limit =
        index + 1 < plan.segments.count
        ? plan.segments[index + 1].header.previousEnd : plan.base.end
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
  /// The beginning of a log of which nothing was packed.
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
