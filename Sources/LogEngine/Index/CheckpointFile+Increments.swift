import LogFormat
import RowFormat
import Synchronization

extension CheckpointFile {
  /// The contents of a checkpoint together with the increments that follow it.
  struct Contents {
    var tables: [Table]
    var place: LogPlace
    var usages: SegmentUsages
    var nextBlob: BlobID
    /// The durable end of the log, including that of increments that do not fit the log.
    var durableEnd: UInt64
    /// The end of the last increment that was applied.
    var fileEnd: Int
    /// Whether a compaction may have come after the checkpoint: then slots may name files that are gone.
    var mayNameGoneFiles = false
  }

  /// An increment as it was read from the file.
  private struct ReadIncrement {
    let increment: CheckpointIncrement
    let slots: CheckpointIncrement.SlotDecoder
    let bytes: [UInt8]
    /// The offset of the bytes in the file.
    let start: Int

    var end: Int { start + bytes.count }
  }

  /// Builds the tables as of the last increment that fits the log, or of the checkpoint if none does.
  ///
  /// The one that fits proves all before it: its writer continued from them. They may name files that a compaction has taken
  /// since, while it does not.
  ///
  /// - Parameters:
  ///   - reads: As for ``makeTables(_:)``.
  ///   - damage: The same.
  ///   - fits: Whether a place and its files are in the log.
  /// - Returns: The tables, and the rest of the contents as of then; `nil` if nothing fits.
  /// - Throws: ``StorageError/corruption(_:)`` if a page or an increment is damaged.
  /// - Complexity: O(pages and slots of increments).
  func read(
    _ reads: EngineOptions.ReadMethod,
    _ damage: PageDamage?,
    _ fits: (LogPlace, SegmentUsages) throws -> Bool
  ) throws -> Contents? {
    let increments = try readIncrements()
    let fitting = try increments.map { try fits($0.increment.place, $0.increment.usages) }
    let count = fitting.lastIndex(of: true).map { $0 + 1 } ?? 0
    let fitsItself = try fits(checkpoint.place, checkpoint.usages)
    guard fitsItself || count > 0 else { return nil }
    var contents = Contents(
      tables: try makeTables(reads, damage),
      place: checkpoint.place,
      usages: checkpoint.usages,
      nextBlob: checkpoint.nextBlob,
      durableEnd: checkpoint.durableEnd,
      fileEnd: metadataEnd
    )
    for found in increments {
      contents.durableEnd = max(contents.durableEnd, found.increment.durableEnd)
    }
    for found in increments.prefix(count) {
      let increment = found.increment
      guard
        unsafe Self.apply(increment, found.slots, in: found.bytes.span.bytes, to: contents.tables)
      else {
        throw Self.damage(file.path, at: found.start, .missing(.checkpoint))
      }
      contents.place = increment.place
      contents.usages = increment.usages
      contents.nextBlob = max(contents.nextBlob, increment.nextBlob)
      contents.fileEnd = found.end
    }
    contents.mayNameGoneFiles = !fitsItself || fitting.prefix(count).contains(false)
    return contents
  }

  /// Reads the increments, each of which continues the one before.
  private func readIncrements() throws -> [ReadIncrement] {
    var increments: [ReadIncrement] = []
    var start = metadataEnd
    var place = checkpoint.place
    // Reads no further than the size of the file when the checkpoint was opened: the log is known at least up to that point.
    while byteCount - start >= CheckpointIncrement.headByteCount {
      let head = try file.readBytes(CheckpointIncrement.headByteCount, at: start)
      guard let length = CheckpointIncrement.byteCount(ofHead: head.bytes),
        length <= byteCount - start
      else { break }
      let buffer = try file.readBytes(length, at: start)
      guard buffer.count == length,
        let (increment, slots) = CheckpointIncrement.decode(buffer.bytes, at: start, salt: salt),
        increment.previous == place.logPosition
      else { break }
      increments.append(
        ReadIncrement(
          increment: increment,
          slots: slots,
          bytes: unsafe buffer.bytes.withUnsafeBytes { unsafe Array($0) },
          start: start
        )
      )
      place = increment.place
      start += length
    }
    return increments
  }

  /// Applies the slots to the tables.
  ///
  /// - Returns: `false` if the slots are invalid in an increment; the tables are useless then.
  private static func apply(
    _ increment: CheckpointIncrement,
    _ slots: CheckpointIncrement.SlotDecoder,
    in bytes: RawSpan,
    to tables: [Table]
  ) -> Bool {
    let sequence = increment.place.sequence
    var slots = slots
    for image in increment.tables {
      guard let table = tables.first(where: { $0.number == image.number }) else { return false }
      slots.beginTable()
      for _ in 0..<image.slotCount {
        guard let (key, location) = slots.next(in: bytes), 1...IndexPages.maximumKey ~= key else {
          return false
        }
        table.pages.store(location, for: key, sequence: sequence)
      }
      table.nextKey.store(image.nextKey, ordering: .relaxed)
      table.liveRowCount.store(image.rowCount, ordering: .relaxed)
    }
    return slots.isAtEnd
  }
}
