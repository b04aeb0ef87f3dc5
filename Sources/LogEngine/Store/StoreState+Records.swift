import Locking
import LogFormat
import RowFormat
import Synchronization

/// Reading records from the log, its buffers and packs.
extension StoreState {
  /// Lends a record, written or still in the writer's buffer, after checking it.
  @inline(__always)
  package func withRecord<R>(
    at place: RecordPlace,
    of reference: RowReference,
    _ body: (RecordHeader, RawSpan) throws -> R
  ) throws -> R {
    if let result = try withLoggedRecord(at: place, body) { return result }
    return try withPackedRecord(at: place, of: reference, body)
  }

  /// Lends a record of the log, after checking it.
  ///
  /// - Returns: The result of `body`; `nil` if the record was packed.
  @inline(__always)
  private func withLoggedRecord<R>(
    at place: RecordPlace,
    _ body: (RecordHeader, RawSpan) throws -> R
  ) throws -> R? {
    if place.isPacked { return nil }
    // The segment is looked up only once. A caller that first asks whether it was packed, and then looks it up, finds neither
    // if a compaction removes it in between.
    let result: R?? = try files.segments.with(Int(place.segment.rawValue)) { segment in
      if place.offset < segment.readableEnd.load(ordering: .acquiring) {
        return try segment.withRecord(at: place.offset, body)
      }
      return try withUnwrittenRecord(at: place, in: segment, body)
    }
    if case .some(.some(let result)) = result { return result }
    guard files.isRetired(place.segment) else { throw missing(place.segment) }
    return nil
  }

  /// Lends a copy of a record that was appended and perhaps not written yet.
  ///
  /// - Returns: The result of `body`; `nil` if the record was packed.
  func withUnwrittenRecord<R>(
    at place: RecordPlace,
    in segment: Segment,
    _ body: (RecordHeader, RawSpan) throws -> R
  ) throws -> R? {
    var copy = ByteBuffer(capacity: 256)
    let isUnwritten = log.tail.withLock { $0.copyRecord(at: place, into: &copy) }
    // If the record has been written meanwhile, it can be read like any other. Not from the segment that was lent: if its file
    // has grown since, another object has replaced it, and only the new object knows its written end.
    guard isUnwritten else {
      return try files.segments.with(Int(place.segment.rawValue)) { segment in
        try segment.withRecord(at: place.offset, body)
      }
    }
    guard let header = RecordHeader(decoding: copy.bytes) else {
      throw segment.damagedRecord(at: place.offset)
    }
    return try body(header, copy.bytes)
  }

  /// Returns the header of a record.
  func header(at place: RecordPlace, of reference: RowReference) throws -> RecordHeader {
    if let header = try withLoggedRecord(at: place, { header, _ in header }) { return header }
    return try packedHeader(at: place, of: reference)
  }

  /// Visits a row's records from the newest down to the whole row its deltas build on.
  ///
  /// A row that compaction left out, because no view can see it, has no records.
  package func forEachInChain(
    _ place: RecordPlace,
    of reference: RowReference,
    _ body: (RecordPlace, RecordHeader) throws -> Void
  ) throws {
    var place = place
    var depth = RecordLocation.maximumDepth + 1
    while true {
      guard let found = try resolve(place, of: reference) else { return }
      let header = try header(at: found, of: reference)
      try body(found, header)
      guard header.kind == .delta else { return }
      try checkStep(header, at: found, below: depth)
      depth = Int(header.depth)
      place = header.previous
    }
  }

  /// Assembles a row from its chain of records.
  ///
  /// - Parameters:
  ///   - place: The newest record to apply; not a delete.
  ///   - reference: The row.
  ///   - scratch: Receives the row.
  /// - Returns: The row's layout.
  /// - Throws: ``StorageError/corruption(_:)`` if a record of the chain is damaged.
  @discardableResult
  package func fold(
    _ place: RecordPlace,
    _ reference: RowReference,
    into scratch: inout FoldScratch
  ) throws -> LayoutNumber {
    try fold(place, reference, into: &scratch, begin: {}) { _, _ in }
  }

  /// Assembles a row from its chain of records, as ``fold(_:_:into:)`` does, and names them, the newest first.
  ///
  /// The place of a record that compaction has moved is the one that led to it.
  ///
  /// - Parameters:
  ///   - place: The newest record to apply; not a delete.
  ///   - reference: The row.
  ///   - scratch: Receives the row.
  ///   - begin: Called before the first record is named, and again if a compaction ends meanwhile: then all are named anew.
  ///   - note: Called with each record.
  /// - Returns: The row's layout.
  /// - Throws: ``StorageError/corruption(_:)`` if a record of the chain is damaged.
  func fold(
    _ place: RecordPlace,
    _ reference: RowReference,
    into scratch: inout FoldScratch,
    begin: () -> Void,
    _ note: (RecordPlace, RecordHeader) -> Void
  ) throws -> LayoutNumber {
    let limit = RecordLocation.maximumDepth + 1
    return try files.consistently {
      begin()
      return try fold(place, reference, below: limit, into: &scratch, note)
    }
  }

  private func fold(
    _ place: RecordPlace,
    _ reference: RowReference,
    below depth: Int,
    into scratch: inout FoldScratch,
    _ note: (RecordPlace, RecordHeader) -> Void
  ) throws -> LayoutNumber {
    try withRecord(at: place, of: reference) { header, bytes in
      note(place, header)
      let body = bytes.extracting(header.bodyRange)
      try withLayout(of: header, at: place, for: reference) { layout in
        switch header.kind {
        case .insert, .fullImage:
          guard layout.isValid(body) else { throw inconsistency(at: place, reference) }
          scratch.begin(body)
        case .delta:
          try checkStep(header, at: place, below: depth)
          let below = Int(header.depth)
          let base = try fold(header.previous, reference, below: below, into: &scratch, note)
          guard base == header.layout, scratch.apply(body, layout: layout) else {
            throw inconsistency(at: place, reference)
          }
        case .delete, .catalogue:
          throw inconsistency(at: place, reference)
        }
      }
      return header.layout
    }
  }

  /// Lends the layout of a record, which must be the row's.
  @inline(__always)
  func withLayout<R>(
    of header: RecordHeader,
    at place: RecordPlace,
    for reference: RowReference,
    _ body: (RowLayout) throws -> R
  ) throws -> R {
    try withLayout(header.layout, at: place, for: reference) { layout in
      guard header.reference == reference else { throw inconsistency(at: place, reference) }
      return try body(layout)
    }
  }

  /// Lends a layout of a row's table.
  @inline(__always)
  func withLayout<R>(
    _ number: LayoutNumber,
    at place: RecordPlace,
    for reference: RowReference,
    _ body: (RowLayout) throws -> R
  ) throws -> R {
    let result = try tables.with(Int(reference.table)) { table in
      try table.layouts.with(Int(number.rawValue), body)
    }
    guard case .some(.some(let result)) = result else { throw inconsistency(at: place, reference) }
    return result
  }

  /// Checks that each step of a chain comes nearer to its end: a damaged chain could otherwise loop for ever.
  private func checkStep(
    _ header: RecordHeader,
    at place: RecordPlace,
    below depth: Int
  ) throws {
    guard 1..<depth ~= Int(header.depth), !header.previous.isNone else {
      throw inconsistency(at: place, header.reference)
    }
  }

  package func inconsistency(at place: RecordPlace, _ reference: RowReference) -> StorageError {
    .corruption(
      Corruption(
        path: paths.segment(place.segment),
        offset: place.offset,
        problem: .inconsistent(.record, table: reference.table, key: reference.key)
      )
    )
  }
}
