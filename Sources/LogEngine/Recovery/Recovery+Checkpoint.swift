import LogFormat
import RowFormat

extension Recovery {
  /// Reads the checkpoints there are, without their pages; newest first.
  ///
  /// Before the log is listed: a writer may go on meanwhile, and a checkpoint must not know of segments
  /// that the list does not have.
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
        // Its writer replaced it just now.
      } catch {
        report.ignoredCheckpointCount += 1
      }
    }
    return found
  }

  /// Takes the index from the newest checkpoint that fits the log.
  ///
  /// - Returns: Where the log has to be read from; `nil` for its beginning.
  mutating func takeIndex(from files: [CheckpointFile], _ segments: [Segment]) -> LogPlace? {
    for file in files {
      let checkpoint = file.checkpoint
      do {
        try check(checkpoint, segments)
        for table in try file.makeTables(state.options.reads) {
          state.tables.store(table, at: Int(table.number))
        }
      } catch {
        report.ignoredCheckpointCount += 1
        continue
      }
      state.adopt(checkpoint.catalogue)
      state.files.blobs.record(next: checkpoint.nextBlob)
      replay.catalogue = checkpoint.catalogue
      replay.usages = checkpoint.usages
      report.checkpoint = checkpoint.number
      checkpoints.newest = checkpoint.number
      checkpoints.logPosition = checkpoint.place.logPosition
      checkpoints.attemptEnd = checkpoint.place.logPosition
      checkpoints.byteCount = checkpoint.pagesEnd
      return checkpoint.place
    }
    return nil
  }

  /// A checkpoint must refer to this very log: to a frame with the checksum it names, and with all the
  /// segments it knows.
  private func check(_ checkpoint: Checkpoint, _ segments: [Segment]) throws {
    let place = checkpoint.place
    let packs = (manifest.base?.packs ?? []).map { SegmentID(rawValue: $0.id.rawValue) }
    let ids = Set(segments.map(\.id) + packs)
    guard let index = segments.firstIndex(where: { $0.id == place.segment }),
      checkpoint.usages.entries.allSatisfy({ ids.contains($0.segment) }),
      place.offset >= SegmentHeader.byteCount, place.offset <= limit(of: index, in: segments),
      segments[index].logPosition(of: place.offset) == place.logPosition,
      try stands(place, in: segments[index])
    else {
      throw StorageError.corruption(
        Corruption(
          path: state.paths.checkpoint(checkpoint.number),
          offset: 0,
          problem: .missing(.frame)
        )
      )
    }
  }

  /// Where the log ends in a segment at the latest.
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
