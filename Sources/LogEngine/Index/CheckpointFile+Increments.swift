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
    /// The end of the last increment in the file.
    var fileEnd: Int
  }

  /// Builds the tables as of the last increment.
  ///
  /// - Parameters:
  ///   - reads: As for ``makeTables(_:)``.
  ///   - fits: Whether a place and its files are in the log.
  /// - Returns: The tables, and the rest of the contents as of then.
  /// - Throws: ``StorageError/corruption(_:)`` if a page or an increment is damaged.
  /// - Complexity: O(pages and slots of increments).
  func read(
    _ reads: EngineOptions.ReadMethod,
    _ fits: (LogPlace, SegmentUsages) throws -> Bool
  ) throws -> Contents {
    var contents = Contents(
      tables: try makeTables(reads),
      place: checkpoint.place,
      usages: checkpoint.usages,
      nextBlob: checkpoint.nextBlob,
      durableEnd: checkpoint.durableEnd,
      fileEnd: metadataEnd
    )
    while try readIncrement(into: &contents, fits) {}
    return contents
  }

  /// Reads the next increment.
  ///
  /// - Returns: `false` if there is none that fits.
  private func readIncrement(
    into contents: inout Contents,
    _ fits: (LogPlace, SegmentUsages) throws -> Bool
  ) throws -> Bool {
    let start = contents.fileEnd
    // Reads no further than the size of the file when the checkpoint was opened: the log is known at least up to that point.
    guard byteCount - start >= CheckpointIncrement.headByteCount else { return false }
    let head = try file.readBytes(CheckpointIncrement.headByteCount, at: start)
    guard let length = CheckpointIncrement.byteCount(ofHead: head.bytes),
      length <= byteCount - start
    else { return false }
    let buffer = try file.readBytes(length, at: start)
    guard buffer.count == length,
      let found = CheckpointIncrement.decode(buffer.bytes, at: start, salt: salt)
    else { return false }
    let (increment, slots) = found
    contents.durableEnd = max(contents.durableEnd, increment.durableEnd)
    guard increment.previous == contents.place.logPosition,
      try fits(increment.place, increment.usages)
    else { return false }
    guard Self.apply(increment, slots, in: buffer.bytes, to: contents.tables) else {
      throw Self.damage(file.path, at: start, .missing(.checkpoint))
    }
    contents.place = increment.place
    contents.usages = increment.usages
    contents.nextBlob = max(contents.nextBlob, increment.nextBlob)
    contents.fileEnd = start + length
    return true
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
