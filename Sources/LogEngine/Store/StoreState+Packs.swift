import Locking
import LogFormat
import RowFormat
import Synchronization

/// Reading rows that compaction has moved.
///
/// A row of a pack reads like a record that holds the whole row, so code that follows chains of records need not know about
/// packs. A place in a segment that was packed, or in a pack that was replaced, refers to the row in the newest pack that has
/// it: compaction stored there the state of the row at the end of the packed part, and no reader needs an older state.
extension StoreState {
  /// Returns the log size, in bytes, from which the size of the next segment is derived.
  ///
  /// It is the end of the log or, if the log is packed again and again, a fraction of the store's size: the current segment and
  /// the prepared one take their space whether they are full or not.
  func sizeBasis(_ logEnd: UInt64) -> UInt64 {
    guard options.compaction == .automatic else { return logEnd }
    let (packed, begin) = files.base.withLock { base in
      (base?.packs.reduce(0) { $0 + $1.byteCount } ?? 0, base?.logPosition ?? 0)
    }
    // However small the store stays, its segment numbers must last.
    return max((UInt64(packed) + (logEnd - min(begin, logEnd))) / 32, logEnd >> 16)
  }

  /// Returns the current place of a row, given its place in an index slot or a record.
  ///
  /// - Returns: `nil` if no pack has the row: then no view can see it.
  package func resolve(_ place: RecordPlace, of reference: RowReference) throws -> RecordPlace? {
    if !place.isPacked, !files.isRetired(place.segment) { return place }
    return try packed(place, of: reference)?.place
  }

  /// Returns the current place of a packed row, with the pack: in a second lookup, the pack may be gone.
  ///
  /// - Returns: `nil` if no pack has the row.
  func packed(
    _ place: RecordPlace,
    of reference: RowReference
  ) throws -> (place: RecordPlace, pack: PackReader)? {
    if place.isPacked {
      if let pack = files.packs[Int(place.segment.rawValue)] { return (place, pack) }
      // A pack newer than all known ones is one that a follower has not opened: it has to be opened anew. Numbers ascend, so an
      // older one was taken by another compaction.
      if place.segment.rawValue > files.packList.withLock({ $0.last?.id.rawValue ?? 0 }) {
        throw StorageError.missingFile(path: paths.pack(PackID(rawValue: place.segment.rawValue)))
      }
    }
    // The list is reversed as it is walked: a copy of it would retain each pack for each row.
    let packs = files.packList.withLock { $0 }
    for pack in packs.reversed() {
      if let address = try pack.address(of: reference) {
        return (RecordPlace(pack: pack.id, address), pack)
      }
    }
    return nil
  }

  /// Lends a row of a pack as a record that holds the whole row.
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

  /// Returns the header that a row of a pack would have as a record; the row's values are not read.
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
    // Loaded and pinned at once, as far as a compaction can see.
    visibility.pins.pin(visibility.visible, at: fileSystem.microseconds()).0
  }
}

extension RecordHeader {
  /// Makes the header that a packed row would have in the log.
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
