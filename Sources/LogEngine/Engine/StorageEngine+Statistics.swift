import Locking
import LogFormat
import Synchronization

extension StorageEngine {
  /// Returns figures on the store's parts and on the work done since it was opened.
  ///
  /// - Complexity: O(segments and tables); no system call but the clock's.
  public func statistics() -> EngineStatistics {
    let (usages, logEnd, failure) = state.log.tail.withLock { ($0.usages, $0.logEnd, $0.failure) }
    let bySegment = usages.bySegment
    let byTable = usages.byTable
    let candidates = Compactor.candidates(state, state.options.history)
    return EngineStatistics(
      lastCommit: lastCommit,
      logByteCount: Int(clamping: logEnd),
      durableByteCount: Int(clamping: state.log.durableEnd.load(ordering: .relaxed)),
      segments: state.files.segmentList.map {
        SegmentStatistics(
          $0,
          usage: bySegment[$0.id] ?? SegmentUsage(),
          isHistory: candidates.history.contains($0.id)
        )
      },
      packs: candidates.packs.map {
        PackStatistics(
          pack: $0.id,
          fileByteCount: $0.summary.byteCount,
          rowCount: $0.summary.rowCount,
          usage: bySegment[SegmentID(rawValue: $0.id.rawValue)] ?? SegmentUsage()
        )
      },
      tables: catalogue.tables.compactMap { definition in
        state.tables[Int(definition.number)].map { table in
          TableStatistics(
            number: definition.number,
            name: definition.name,
            rowCount: table.liveRowCount.load(ordering: .relaxed),
            usage: byTable[definition.number] ?? SegmentUsage(),
            indexByteCount: table.pages.byteCount.load(ordering: .relaxed)
          )
        }
      },
      writing: state.counters.statistics,
      compaction: compactionStatistics(candidates.pickerInput),
      blockCache: BlockCacheStatistics(state.files.blockCache),
      pins: pinStatistics(candidates),
      failure: failure
    )
  }

  private func compactionStatistics(
    _ input: CompactionPolicy.PickerInput
  ) -> CompactionStatistics {
    var statistics =
      writer?.housekeeper.compactionSchedule.withLock { schedule in
        var statistics = schedule.statistics
        statistics.obstacle = schedule.obstacle
        return statistics
      } ?? CompactionStatistics()
    statistics.debtByteCount = input.deadByteCount
    statistics.pressure = state.options.compactionPolicy.pressure(of: input)
    return statistics
  }

  private func pinStatistics(_ candidates: Compactor.Candidates) -> PinStatistics {
    let (count, oldest, since) = state.visibility.pins.summary
    let now = state.fileSystem.microseconds()
    return PinStatistics(
      count: count,
      oldestCommit: oldest.map { CommitSequence($0) },
      oldestAge: since.map { .microseconds(max(0, now - $0)) },
      heldByteCount: candidates.viewedByteCount
    )
  }
}

extension BlockCacheStatistics {
  fileprivate init(_ cache: BlockCache) {
    self.init(
      reads: cache.reads,
      byteCount: cache.byteCount,
      byteLimit: cache.byteLimit,
      evictionCount: cache.evictionCount
    )
  }
}

extension LogTail {
  /// The error that ended writing.
  fileprivate var failure: StorageError? {
    if case .poisoned(let error) = gate { error } else { nil }
  }
}

extension SegmentStatistics {
  fileprivate init(_ segment: Segment, usage: SegmentUsage, isHistory: Bool) {
    self.init(
      segment: segment.id,
      fileByteCount: segment.capacity,
      writtenByteCount: segment.readableEnd.load(ordering: .relaxed),
      firstCommit: segment.header.firstSequence,
      epoch: segment.header.epoch,
      created: segment.header.created,
      usage: usage,
      isHistory: isHistory
    )
  }
}

extension SegmentUsages {
  /// The size of each table's records in all segments.
  fileprivate var byTable: [UInt16: SegmentUsage] {
    var sums: [UInt16: SegmentUsage] = [:]
    for entry in entries {
      sums[entry.table, default: SegmentUsage()].recordByteCount += entry.usage.recordByteCount
      sums[entry.table, default: SegmentUsage()].liveByteCount += entry.usage.liveByteCount
    }
    return sums
  }
}
