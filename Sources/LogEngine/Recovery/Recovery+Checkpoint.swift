import Locking
import LogFormat
import RowFormat
import Synchronization

extension Recovery {
  /// Reads the existing checkpoints, without their pages; newest first.
  ///
  /// Called before the log is listed: a writer may continue meanwhile, and a checkpoint must not refer to segments that the
  /// list does not have.
  mutating func readCheckpoints() -> [CheckpointFile] {
    let files = CheckpointFiles(state)
    guard let numbers = try? files.numbers() else { return [] }
    checkpoints.highest = numbers.last ?? 0
    var found: [CheckpointFile] = []
    for number in numbers.reversed() {
      do throws(StorageError) {
        let file = try CheckpointFile(reading: number, files)
        let checkpoint = file.checkpoint
        guard checkpoint.store == state.store, checkpoint.lineage == manifest.lineage else {
          report.ignoredCheckpointCount += 1
          continue
        }
        found.append(file)
      } catch .missingFile {
        // Its writer has just replaced the checkpoint.
      } catch {
        report.ignoredCheckpointCount += 1
      }
    }
    return found
  }

  /// Loads the index from the newest checkpoint that fits the log.
  ///
  /// - Returns: The place from which the log must be read; `nil` for its beginning.
  mutating func takeIndex(from files: [CheckpointFile], _ segments: [Segment]) -> LogPlace? {
    for file in files {
      let checkpoint = file.checkpoint
      let contents: CheckpointFile.Contents
      do {
        let found = try file.read(state.options.reads, laterDamage(of: file)) {
          try fits($0, $1, segments)
        }
        guard let found else {
          report.ignoredCheckpointCount += 1
          continue
        }
        contents = found
      } catch {
        report.ignoredCheckpointCount += 1
        continue
      }
      for table in contents.tables { state.tables.store(table, at: Int(table.number)) }
      state.adopt(checkpoint.catalogue)
      state.files.blobs.record(next: contents.nextBlob)
      replay.catalogue = checkpoint.catalogue
      replay.usages = contents.usages
      report.checkpoint = checkpoint.number
      checkpoints.newest = checkpoint.number
      checkpoints.logPosition = checkpoint.place.logPosition
      checkpoints.attemptEnd = checkpoint.place.logPosition
      checkpoints.byteCount = file.metadataEnd
      if contents.mayNameGoneFiles {
        checkpoints.namesGoneFiles = true
        let known = Set(checkpoint.usages.entries.map(\.segment))
        checkpoints.newerPacks = state.files.packList.withLock { $0.map(\.id) }
          .filter { !known.contains(SegmentID(rawValue: $0.rawValue)) }
      }
      checkpoints.basis = IncrementBasis(
        checkpoint: checkpoint.number,
        salt: file.salt,
        fileEnd: contents.fileEnd,
        place: contents.place,
        catalogue: checkpoint.catalogue
      )
      checkpointedEnd = max(checkpointedEnd, contents.durableEnd)
      return contents.place
    }
    return nil
  }

  /// Returns what is done about damage in pages that are checked later; `nil` if the pages are so few that they are checked now.
  private func laterDamage(of file: CheckpointFile) -> PageDamage? {
    guard let readLogAlone, file.checkpoint.pageCount > state.options.checkedPageLimit else {
      return nil
    }
    // What later commits changed in a page is applied to it once it is mended.
    let end = file.checkpoint.place.logPosition
    return PageDamage(
      of: state.paths.checkpoint(file.checkpoint.number),
      readLog: { () throws(StorageError) in try readLogAlone(end) },
      report: { [weak state] error in
        state?.isCheckpointDamaged.store(true, ordering: .relaxed)
        state?.events.reportDamage(error)
      },
      reportFailure: { [weak state] error in
        state?.recordIndexFailure(error)
        state?.events.reportDamage(error)
      }
    )
  }

  /// Whether a checkpoint refers to this very log: to a frame with the right checksum, and to no missing files.
  private func fits(
    _ place: LogPlace,
    _ usages: SegmentUsages,
    _ segments: [Segment]
  ) throws -> Bool {
    let packs = (manifest.base?.packs ?? []).map { SegmentID(rawValue: $0.id.rawValue) }
    let ids = Set(segments.map(\.id) + packs)
    guard let index = segments.firstIndex(where: { $0.id == place.segment }),
      usages.entries.allSatisfy({ ids.contains($0.segment) }),
      place.offset >= SegmentHeader.byteCount, place.offset <= limit(of: index, in: segments),
      segments[index].logPosition(of: place.offset) == place.logPosition
    else { return false }
    return try stands(place, in: segments[index])
  }

  /// Returns the greatest possible end of the log in a segment.
  private func limit(of index: Int, in segments: [Segment]) -> Int {
    let capacity = segments[index].capacity
    return index + 1 < segments.count
      ? min(segments[index + 1].header.previousEnd, capacity) : capacity
  }

  private func stands(_ place: LogPlace, in segment: Segment) throws -> Bool {
    if place.frame == 0 {
      return place.offset == SegmentHeader.byteCount && place.chain == segment.header.previousChain
        && place.sequence == segment.header.previousSequence.rawValue
    }
    guard place.frame >= SegmentHeader.byteCount,
      place.frame <= place.offset - FrameHeader.byteCount,
      let header = try segment.frameHeader(at: place.frame)
    else { return false }
    return place.frame + header.totalByteCount == place.offset
      && header.headerChecksum == place.chain && header.sequence.rawValue == place.sequence
  }
}
