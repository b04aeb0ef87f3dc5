import LogFormat
import RowFormat
import Synchronization

/// Reads rows as of one commit.
package struct RowReader {
  package let state: StoreState
  let sequence: UInt64

  @inline(__always)
  package init(state: StoreState, sequence: UInt64) {
    self.state = state
    self.sequence = sequence
  }

  /// Lends a row, if there is one.
  ///
  /// - Returns: Whether there is one.
  @inline(__always)
  package func read(
    _ reference: RowReference,
    _ body: (RawSpan, LayoutNumber) throws -> Void
  ) throws -> Bool {
    guard let place = try place(of: reference) else { return false }
    return try state.withRecord(at: place, of: reference) { header, bytes in
      switch header.kind {
      case .insert, .fullImage:
        let row = bytes.extracting(header.bodyRange)
        try check(row, header, at: place, reference)
        try body(row, header.layout)
        return true
      case .delta:
        var scratch = FoldScratch()
        let layout = try state.fold(place, reference, into: &scratch)
        try body(scratch.row, layout)
        return true
      case .delete, .catalogue: throw state.inconsistency(at: place, reference)
      }
    }
  }

  /// Checks that the bytes of a whole row are valid in its layout.
  @inline(__always)
  private func check(
    _ row: RawSpan,
    _ header: RecordHeader,
    at place: RecordPlace,
    _ reference: RowReference
  ) throws {
    try state.withLayout(of: header, at: place, for: reference) { layout in
      guard layout.isValid(row) else { throw state.inconsistency(at: place, reference) }
    }
  }

  /// Whether a row exists.
  @inline(__always)
  func contains(_ reference: RowReference) throws -> Bool {
    try place(of: reference) != nil
  }

  /// Whether a row exists, if the index alone can tell; `nil` otherwise.
  @inline(__always)
  func containsAtOnce(_ reference: RowReference) -> Bool? {
    let entry = state.tables.with(Int(reference.table)) { table in
      isThere(table)
        ? table.pages.entry(of: reference.key) : (location: RecordLocation.none, newest: 0)
    }
    guard let entry else { return false }
    return entry.newest <= sequence ? entry.location.isRow : nil
  }

  /// Lends a row, if there is one; keeps retired files meanwhile, and reports damage.
  @inline(__always)
  func lookUp(
    _ reference: RowReference,
    _ body: (RawSpan, LayoutNumber) throws -> Void
  ) throws {
    _ = try state.watchingReads { try state.files.reading { try read(reference, body) } }
  }

  /// Whether a row exists; reads its record only if the index alone cannot tell.
  @inline(__always)
  func lookUp(_ reference: RowReference) throws -> Bool {
    if let answer = containsAtOnce(reference) { return answer }
    return try state.watchingReads { try state.files.reading { try contains(reference) } }
  }

  /// Finds a row of a table by the number of rows before it; see ``ReadView/key(of:from:skipping:excluding:)``.
  func key(
    of number: UInt16,
    from start: UInt64,
    skipping count: inout Int,
    excluding isExcluded: (UInt64) -> Bool
  ) throws -> UInt64? {
    guard let table = state.tables[Int(number)], isThere(table) else { return nil }
    var key = start
    let end = table.pages.keyLimit
    while let entry = table.pages.next(from: key, to: end, asOf: sequence) {
      key = entry.key + 1
      let isRow =
        try entry.newest <= sequence
        ? entry.location.isRow
        : state.files.reading { try contains(RowReference(table: number, key: entry.key)) }
      if !isRow || isExcluded(entry.key) { continue }
      if count == 0 { return entry.key }
      count -= 1
    }
    return nil
  }

  /// Visits the rows of a table in key order, as of a pinned commit.
  func scan(
    _ number: UInt16,
    in keys: Range<UInt64>?,
    _ body: (UInt64, LayoutNumber, RawSpan) throws -> ScanControl
  ) throws {
    guard let table = state.tables[Int(number)], isThere(table) else { return }
    var key = keys?.lowerBound ?? 0
    let end = min(keys?.upperBound ?? .max, table.pages.keyLimit)
    var scratch = FoldScratch()
    var packed = PackedRowsCursor()
    while let entry = table.pages.next(from: key, to: end, asOf: sequence) {
      key = entry.key + 1
      let reference = RowReference(table: number, key: entry.key)
      let control = try visit(
        reference,
        entry.location,
        entry.newest,
        &scratch,
        &packed,
        body
      )
      if control == .stop { return }
    }
  }

  /// Visits some rows of a table in key order, as of a pinned commit.
  ///
  /// - Parameters:
  ///   - number: The table.
  ///   - keys: The keys, ascending; a key without a row is skipped.
  ///   - columns: The numbers of the columns that `body` looks at; `nil` for all.
  ///   - body: Called with each row.
  /// - Throws: ``StorageError`` if a row's bytes are damaged, or any error that `body` throws.
  func scan(
    _ number: UInt16,
    keys: Span<UInt64>,
    columns: [UInt16]?,
    _ body: (UInt64, LayoutNumber, RawSpan) throws -> ScanControl
  ) throws {
    guard let table = state.tables[Int(number)], isThere(table) else { return }
    var scratch = FoldScratch()
    var packed = PackedRowsCursor(columns: columns)
    for index in keys.indices {
      let entry = table.pages.entry(of: keys[index])
      let reference = RowReference(table: number, key: keys[index])
      let control = try visit(
        reference,
        entry.location,
        entry.newest,
        &scratch,
        &packed,
        expecting: { $0.expect(keys, from: index) },
        body
      )
      if control == .stop { return }
    }
  }

  /// Visits the row that an index slot names, if the reader sees one; calls `expect` before it reads a packed one.
  @inline(__always)
  private func visit(
    _ reference: RowReference,
    _ location: RecordLocation,
    _ newest: UInt64,
    _ scratch: inout FoldScratch,
    _ packed: inout PackedRowsCursor,
    expecting expect: (inout PackedRowsCursor) -> Void = { _ in },
    _ body: (UInt64, LayoutNumber, RawSpan) throws -> ScanControl
  ) throws -> ScanControl {
    let ticket = state.files.epochs.enter()
    defer { state.files.epochs.leave(ticket) }
    guard let place = try place(of: reference, location, newest) else { return .proceed }
    if !place.isPacked { return try visit(place, reference, &scratch, body) }
    expect(&packed)
    return try visitPacked(place, reference, &packed, body)
  }

  /// Lends a row of a pack.
  @inline(__always)
  func visitPacked(
    _ place: RecordPlace,
    _ reference: RowReference,
    _ packed: inout PackedRowsCursor,
    _ body: (UInt64, LayoutNumber, RawSpan) throws -> ScanControl
  ) throws -> ScanControl {
    let (rows, index) = try packedRow(at: place, reference, &packed)
    guard rows.reference(index) == reference else {
      throw state.inconsistency(at: place, reference)
    }
    let isValid = try state.withLayout(rows.layout, at: place, for: reference) { layout in
      layout.isValid(rows.row(index))
    }
    guard isValid else { throw state.inconsistency(at: place, reference) }
    return try body(reference.key, rows.layout, rows.row(index))
  }

  @inline(__always)
  private func packedRow(
    at place: RecordPlace,
    _ reference: RowReference,
    _ packed: inout PackedRowsCursor
  ) throws -> (PackedRows, Int) {
    if let known = packed.known(place.segment, place.packAddress) {
      return (known, place.packAddress.row)
    }
    guard let (found, pack) = try state.packed(place, of: reference) else {
      throw state.inconsistency(at: place, reference)
    }
    if let cut = try packed.cut(found, of: pack) { return cut }
    return (try packed.rows(at: found, of: pack), found.packAddress.row)
  }

  /// Lends a row of the log.
  @inline(__always)
  func visit(
    _ place: RecordPlace,
    _ reference: RowReference,
    _ scratch: inout FoldScratch,
    _ body: (UInt64, LayoutNumber, RawSpan) throws -> ScanControl
  ) throws -> ScanControl {
    try state.withRecord(at: place, of: reference) { header, bytes in
      if header.kind == .delta {
        let layout = try state.fold(place, reference, into: &scratch)
        return try body(reference.key, layout, scratch.row)
      }
      guard header.kind == .insert || header.kind == .fullImage else {
        throw state.inconsistency(at: place, reference)
      }
      let row = bytes.extracting(header.bodyRange)
      try check(row, header, at: place, reference)
      return try body(reference.key, header.layout, row)
    }
  }
}

// MARK: Visibility

extension RowReader {
  @inline(__always)
  func isThere(_ table: Table) -> Bool {
    sequence < table.removedAt.load(ordering: .acquiring)
  }

  /// Returns the place of the row as of this reader's commit; `nil` if there was no row then.
  @inline(__always)
  package func place(of reference: RowReference) throws -> RecordPlace? {
    let entry = state.tables.with(Int(reference.table)) { table in
      isThere(table)
        ? table.pages.entry(of: reference.key) : (location: RecordLocation.none, newest: 0)
    }
    guard let entry else { return nil }
    return try place(of: reference, entry.location, entry.newest)
  }

  /// Returns the same for a location in the index and the newest commit of its page.
  @inline(__always)
  func place(
    of reference: RowReference,
    _ location: RecordLocation,
    _ newest: UInt64
  ) throws -> RecordPlace? {
    // Packed rows are older than every reader.
    if newest <= sequence || location.isPacked || state.files.isRetired(location.segment) {
      return location.isRow ? location.place : nil
    }
    return location.isNone ? nil : try earlierPlace(of: reference, location.place)
  }

  /// Follows a row's records back to the newest that is visible to this reader.
  private func earlierPlace(
    of reference: RowReference,
    _ newest: RecordPlace
  ) throws -> RecordPlace? {
    var place = newest
    while !place.isNone {
      if place.isPacked || state.files.isRetired(place.segment) {
        return try state.resolve(place, of: reference)
      }
      let header = try state.header(at: place, of: reference)
      guard let isVisible = try isVisible(header, at: place) else { continue }
      if isVisible { return header.kind == .delete ? nil : place }
      guard header.leadsBack(from: place) else { throw state.inconsistency(at: place, reference) }
      place = header.previous
    }
    return nil
  }

  /// - Returns: `nil` if a compaction has taken the segment out meanwhile.
  private func isVisible(_ header: RecordHeader, at place: RecordPlace) throws -> Bool? {
    let isVisible = try state.files.segments.with(Int(place.segment.rawValue)) { segment in
      // No reader has seen a record that is not written yet.
      guard place.offset < segment.readableEnd.load(ordering: .acquiring) else { return false }
      return try segment.sequence(ofRecordAt: place.offset, distance: header.distance) <= sequence
    }
    guard isVisible != nil || state.files.isRetired(place.segment) else {
      throw state.missing(place.segment)
    }
    return isVisible
  }
}
