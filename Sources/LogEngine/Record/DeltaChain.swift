import RowFormat

/// The memory a row is put together in: two buffers that take turns.
struct FoldScratch: ~Copyable {
  private var front = RowWriter(capacity: 512)
  private var back = RowWriter(capacity: 512)

  /// The row put together last.
  var row: RawSpan {
    @_lifetime(borrow self) get { front.bytes }
  }

  mutating func set(_ row: RawSpan) {
    front.removeAll()
    _ = front.append(row: row)
  }

  /// Applies a delta to the row.
  ///
  /// - Returns: `false` if the delta is malformed.
  mutating func apply(_ delta: RawSpan, _ layout: RowLayout) -> Bool {
    guard Self.apply(delta, to: front, layout, into: &back) else { return false }
    swap(&front, &back)
    return true
  }

  private static func apply(
    _ delta: RawSpan,
    to row: borrowing RowWriter,
    _ layout: RowLayout,
    into target: inout RowWriter
  ) -> Bool {
    target.removeAll()
    return RowDelta.apply(delta, to: row.bytes, layout: layout, into: &target) != nil
  }
}

extension StoreState {
  /// The table with a number.
  func withTable<R>(_ number: UInt16, _ body: (Table) throws -> R) rethrows -> R? {
    try tables[Int(number)].map(body)
  }

  /// The header of a record.
  func header(at place: RecordPlace) throws -> RecordHeader {
    try withSegment(place.segment) { try $0.withRecord(at: place.offset) { header, _ in header } }
  }

  /// Walks a row's records from the newest back to a whole one.
  func forEachInChain(
    _ newest: RecordPlace,
    _ body: (RecordPlace, RecordHeader) throws -> Void
  ) throws {
    var place = newest
    for _ in 0...RecordLocation.maximumDepth {
      let header = try header(at: place)
      try body(place, header)
      guard header.kind == .delta else { return }
      place = header.previous
    }
  }

  /// Puts the row together that ends at a record.
  ///
  /// - Returns: The layout of the row in the scratch memory.
  @discardableResult
  func fold(
    _ place: RecordPlace,
    _ reference: RowReference,
    _ scratch: inout FoldScratch
  ) throws -> LayoutNumber {
    try withSegment(place.segment) { segment in
      try segment.withRecord(at: place.offset) { header, bytes in
        guard header.reference == reference,
          let layout = tables[Int(reference.table)]?.layouts[Int(header.layout.rawValue)]
        else { throw inconsistent(place, in: segment, reference) }
        let body = bytes.extracting(header.bodyRange)
        switch header.kind {
        case .insert, .fullImage:
          guard layout.isValid(body) else { throw inconsistent(place, in: segment, reference) }
          scratch.set(body)
        case .delta:
          guard header.depth > 0, header.depth <= RecordLocation.maximumDepth else {
            throw inconsistent(place, in: segment, reference)
          }
          guard try fold(header.previous, reference, &scratch) == header.layout,
            scratch.apply(body, layout)
          else { throw inconsistent(place, in: segment, reference) }
        case .delete, .catalogue: throw inconsistent(place, in: segment, reference)
        }
        return header.layout
      }
    }
  }

  func inconsistent(
    _ place: RecordPlace,
    in segment: Segment,
    _ reference: RowReference
  ) -> StorageError {
    segment.corruption(
      at: place.offset,
      .inconsistent(.record, table: reference.table, key: reference.key)
    )
  }
}
