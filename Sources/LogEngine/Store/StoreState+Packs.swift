import Locking
import LogFormat
import RowFormat
import Synchronization

/// Reading rows that compaction has moved.
///
/// A row of a pack reads like a record that holds it whole, so code that follows chains of records need not know
/// of packs. A place in a segment that was packed, or in a pack that another took the place of, stands for
/// the row in the newest pack that has it: compaction put there what the row was at the end of what it
/// packed, and nothing that can still be read needs an older state.
extension StoreState {
  /// What the size of the next segment is measured by.
  ///
  /// It is where the log ends or, where it is packed again and again, a part of what there is: for the
  /// segment that is written and the one that is made ready take their space whether they hold anything or
  /// not.
  func sizeBasis(_ logEnd: UInt64) -> UInt64 {
    guard options.compaction == .automatic else { return logEnd }
    let (packed, begin) = files.base.withLock { base in
      (base?.packs.reduce(0) { $0 + $1.byteCount } ?? 0, base?.logPosition ?? 0)
    }
    // However small the store stays, its segments' numbers must last.
    return max((UInt64(packed) + (logEnd - min(begin, logEnd))) / 32, logEnd >> 16)
  }

  /// Where a row is now that an index slot or a record says is at a place.
  ///
  /// - Returns: `nil` if no pack has the row: then no view can see it.
  package func resolve(_ place: RecordPlace, of reference: RowReference) throws -> RecordPlace? {
    if !place.isPacked, !files.isRetired(place.segment) { return place }
    return try packed(place, of: reference)?.place
  }

  /// Where the row of a place that was packed is, with the pack: looked up again, the pack may be gone.
  ///
  /// - Returns: `nil` if no pack has the row.
  func packed(
    _ place: RecordPlace,
    of reference: RowReference
  ) throws -> (place: RecordPlace, pack: PackReader)? {
    if place.isPacked {
      if let pack = files.packs[Int(place.segment.rawValue)] { return (place, pack) }
      // A newer pack than all that are known is one a follower has not opened: it has to be opened anew.
      // Numbers ascend, so an older one was taken by another compaction.
      if place.segment.rawValue > files.packList.withLock({ $0.last?.id.rawValue ?? 0 }) {
        throw StorageError.missingFile(path: paths.pack(PackID(rawValue: place.segment.rawValue)))
      }
    }
    let newestFirst: [PackReader] = files.packList.withLock { $0.reversed() }
    for pack in newestFirst {
      if let address = try pack.address(of: reference) {
        return (RecordPlace(pack: pack.id, address), pack)
      }
    }
    return nil
  }

  /// Lends a row of a pack as a record that holds it whole.
  func withPackedRecord<R>(
    at place: RecordPlace,
    of reference: RowReference,
    _ body: (RecordHeader, RawSpan) throws -> R
  ) throws -> R {
    guard let (place, pack) = try packed(place, of: reference) else {
      throw inconsistency(at: place, reference)
    }
    let (rows, index) = try pack.row(at: place.packAddress)
    guard rows.reference(index) == reference else {
      throw inconsistency(at: place, reference)
    }
    let record = rows.record(index)
    let byteCount = record.byteCount - RecordHeader.shortByteCount
    return try body(RecordHeader(packed: reference, rows.layout, byteCount: byteCount), record)
  }

  /// The header that a row of a pack would have as a record; its values are not read.
  func packedHeader(at place: RecordPlace, of reference: RowReference) throws -> RecordHeader {
    guard let (place, pack) = try packed(place, of: reference) else {
      throw inconsistency(at: place, reference)
    }
    let outline = try pack.outline(at: place.packAddress)
    guard outline.reference == reference else { throw inconsistency(at: place, reference) }
    return RecordHeader(packed: reference, outline.layout, byteCount: outline.byteCount)
  }

  /// Pins the commit that is visible now.
  func pin() -> PinBoard.Pin {
    // Loaded and pinned in one go, as far as a compaction can see.
    visibility.pins.pin(visibility.visible, at: fileSystem.microseconds()).0
  }
}

extension RecordHeader {
  /// The header a packed row would have in the log.
  init(packed reference: RowReference, _ layout: LayoutNumber, byteCount: Int) {
    self.init(
      kind: .insert,
      depth: 0,
      table: reference.table,
      bodyLength: byteCount,
      key: reference.key,
      layout: layout,
      distance: 0,
      load: 0,
      checksum: 0,
      previous: .none
    )
  }
}
