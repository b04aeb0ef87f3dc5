import LogFormat
import RowFormat
import Synchronization

/// Packs the oldest segments of the log, and packs that are mostly dead, into new packs, step by step.
///
/// 1. Select the files to take. No reader may need a state older than the end of the taken part.
/// 2. Fold: write each row as of that end, or record that it has ended.
/// 3. Verify each pack by reading it back, and give it its name.
/// 4. Publish a manifest that names the packs and the new beginning of the log. Before that a crash leaves files that no
///    manifest names; after it, files that are no longer needed.
/// 5. Move the index slots that still name taken files.
/// 6. Remove the taken files.
///
/// Commits continue meanwhile. A commit that changes a row during 2 to 5 names the row's old place, which from then on refers
/// to the row in its pack. Steps of 2 and 3 are short, and between any two of them the compaction can be given up; 4 to 6 are
/// one step.
///
/// Not for two threads at once: the thread that does a step holds the lock of compactions. So accesses are not checked for
/// exclusivity, which took a fifth of a compaction.
@safe final class Compactor: @unchecked Sendable {
  let log: any LogPublisher
  @safe @exclusivity(unchecked) var plan: Plan
  /// The result of folding so far.
  @safe @exclusivity(unchecked) var tables: [FoldedTable] = []
  /// Rows of packs that stay, replaced by rows of the new packs.
  @safe @exclusivity(unchecked)
  var replaced: [(reference: RowReference, pack: SegmentID, byteCount: Int)] = []
  /// The pack being written.
  @safe @exclusivity(unchecked) var output: Output?
  /// The pack being read back, with the progress of that.
  @safe @exclusivity(unchecked) var unverified: Unverified?
  /// The verified packs, under their final names.
  @safe @exclusivity(unchecked) var packs: [FoldedPack] = []
  /// Whether a manifest that names the packs may be on disk: then they stay, whatever happens.
  var isPublished = false
  /// The table being folded, in the order of the catalogue.
  @safe @exclusivity(unchecked) var tableIndex = 0
  /// The next key of the table to examine; `nil` at its beginning.
  @safe @exclusivity(unchecked) var nextKey: UInt64?
  @safe @exclusivity(unchecked) var keyEnd: UInt64 = 0
  /// The segment of the row that was read last, and the range prefetched ahead of the rows.
  @safe @exclusivity(unchecked) var readSegment = SegmentID.none
  @safe @exclusivity(unchecked) var readAhead = ReadAhead()
  @safe @exclusivity(unchecked) var progress = CompactionProgress()
  /// The time at which the compaction began, in microseconds.
  private let start: Int64

  let state: StoreState

  init(_ log: any LogPublisher, _ plan: Plan) {
    let state = log.state
    self.log = log
    self.state = state
    self.plan = plan
    start = state.fileSystem.microseconds()
    progress.keyCount = plan.base.catalogue.tables.reduce(0) { sum, definition in
      let next = state.tables[Int(definition.number)]?.nextKey.load(ordering: .relaxed) ?? 1
      return sum + Int(clamping: next) - 1
    }
  }

  /// The files taken, and the beginning of the log afterwards.
  struct Plan {
    var base: LogBase
    /// Keeps other processes from compacting.
    var permit: CompactionPermit?
    var segments: [Segment] = []
    var packs: [PackReader] = []
    /// The packs that stay.
    var keptFiles: Set<SegmentID> = []
    /// The newest commit that is no newer than any reader's.
    var lowWaterMark: UInt64 = 0
    /// Limit, in bytes of records, of a new pack before the next begins.
    var packByteCount = Int.max

    /// The number of files taken.
    var fileCount: Int { segments.count + packs.count }

    /// The size of the files taken, in bytes.
    var fileByteCount: Int {
      segments.reduce(0) { $0 + $1.capacity } + packs.reduce(0) { $0 + $1.summary.byteCount }
    }

    /// Whether a file, segment or pack, is taken.
    func takes(_ file: SegmentID) -> Bool {
      !keptFiles.contains(file)
        && (file <= base.segment || packs.contains { $0.id.rawValue == file.rawValue })
    }

    /// Whether an index slot names a file that is taken.
    func takes(_ location: RecordLocation) -> Bool {
      location.isPacked
        ? packs.contains { $0.id.rawValue == location.segment.rawValue }
        : location.segment <= base.segment
    }
  }

  /// The result of a step.
  enum Progress {
    /// The step has worked on this many bytes of rows, and there is more to do.
    case goesOn(byteCount: Int)
    case finished(CompactionReport)
  }

  /// Does some of the work.
  ///
  /// - Parameter byteCount: The approximate size of the rows to work on.
  /// - Returns: Whether it is finished.
  /// - Throws: ``StorageError``; then the compaction must be given up. Only a failure to publish ends writing.
  func step(_ byteCount: Int) throws -> Progress {
    let step = try goOn(byteCount)
    if case .goesOn(let worked) = step { progress.workedByteCount += worked }
    progress.elapsed = state.duration(since: start)
    return step
  }

  private func goOn(_ byteCount: Int) throws -> Progress {
    if unverified != nil {
      return .goesOn(byteCount: try verify(upTo: byteCount))
    }
    if tableIndex < plan.base.catalogue.tables.count {
      return .goesOn(byteCount: try fold(upTo: byteCount))
    }
    // The number of the newest pack never falls: a record that names a later pack than that builds on a pack its reader does
    // not know yet.
    if packs.isEmpty, !plan.packs.isEmpty { try beginPackIfNeeded() }
    if output != nil {
      try endPack()
      return .goesOn(byteCount: 0)
    }
    return .finished(try finish())
  }

  /// Removes the written packs, unless a manifest may refer to them.
  func giveUp() {
    output = nil
    unverified = nil
    if isPublished { return }
    try? state.fileSystem.unlink(state.paths.temporary("pack"))
    for pack in packs { try? state.fileSystem.unlink(pack.reader.path) }
    packs = []
  }

  private func finish() throws -> CompactionReport {
    // The checkpoint can be continued if its last increment is in a segment that stays. A failure costs the next opening some
    // time; if the log failed, publishing throws.
    try? log.appendIncrement()
    try log.withCheckpointsPaused {
      let retired = try publish()
      // Done even if the index cannot be updated: the places it names still resolve to the rows, and removed objects stay alive
      // for their readers.
      defer { remove(retired) }
      state.adviseByMemory()
      try moveSlots(after: retired.sequence)
    }
    return CompactionReport(
      segmentCount: plan.segments.count,
      packCount: plan.packs.count,
      newPackCount: packs.count,
      rowCount: progress.foldedRowCount,
      readByteCount: plan.fileByteCount,
      writtenByteCount: packs.reduce(0) { $0 + $1.reader.summary.byteCount },
      workedByteCount: progress.workedByteCount,
      duration: state.duration(since: start)
    )
  }
}
