import LogFormat
import RowFormat
import Synchronization

/// Adds the records of a logged commit to the index.
///
/// The resulting state depends on nothing but the commits in their order, and applying a commit twice does not harm the index:
/// so a checkpoint may hold later locations than the commit it names.
struct Replay {
  let state: StoreState
  var catalogue: Catalogue
  var usages = SegmentUsages()
  /// The newest pack that a record builds on.
  var newestPack = SegmentID.none
  /// The changes of the tables' row counts by the commits applied.
  var rowCounts: [UInt16: Int] = [:]

  init(state: StoreState, catalogue: Catalogue = Catalogue()) {
    self.state = state
    self.catalogue = catalogue
  }

  /// Applies a frame's records.
  ///
  /// - Parameters:
  ///   - payload: The frame's payload, whose checksum was verified.
  ///   - offset: The offset of the payload in the segment.
  ///   - segment: The segment.
  ///   - sequence: The commit.
  /// - Throws: ``StorageError/corruption(_:)`` if a record is inconsistent.
  mutating func apply(
    _ payload: RawSpan,
    at offset: Int,
    in segment: Segment,
    sequence: UInt64
  ) throws {
    guard let parts = CommitPayload(decoding: payload) else {
      throw segment.corruption(at: offset, .missing(.payload))
    }
    var superseded = SupersededBytes()
    // Of the records of one table that follow each other.
    var byteCount = 0
    var rowCountChange = 0
    var tableNumber: UInt16 = 0
    var table: Table?
    var at = parts.recordRange.lowerBound
    while at < parts.recordRange.upperBound {
      let bytes = payload.extracting(at..<parts.recordRange.upperBound)
      guard let header = RecordHeader(decoding: bytes) else {
        throw segment.damagedRecord(at: offset + at)
      }
      if tableNumber != header.table {
        usages.add(byteCount, of: tableNumber, to: segment.id)
        byteCount = 0
        addRows(&rowCountChange, to: tableNumber)
        tableNumber = header.table
        table = state.tables[Int(tableNumber)]
        // No commit could follow the removal of the table.
        if table?.removedAt.load(ordering: .relaxed) != .max { table = nil }
      }
      byteCount += header.totalByteCount
      if header.previous.isPacked { newestPack = max(newestPack, header.previous.segment) }
      if header.kind == .catalogue {
        addRows(&rowCountChange, to: tableNumber)
        try changeCatalogue(bytes.extracting(header.bodyRange), at: offset + at, segment, sequence)
      } else {
        let place = RecordPlace(segment: segment.id, offset: offset + at)
        guard let table, 1...IndexPages.maximumKey ~= header.key,
          Int(header.depth) <= RecordLocation.maximumDepth, header.leadsBack(from: place)
        else {
          throw state.inconsistency(at: place, header.reference)
        }
        try apply(header, at: place, table, sequence, &superseded, &rowCountChange)
        if table.mayOwnBlobs.load(ordering: .relaxed) {
          recordBlobs(of: header, bytes.extracting(header.bodyRange), table)
        }
      }
      at += header.totalByteCount
    }
    usages.add(byteCount, of: tableNumber, to: segment.id)
    addRows(&rowCountChange, to: tableNumber)
    usages.release(superseded)
  }

  private mutating func addRows(_ change: inout Int, to table: UInt16) {
    if change != 0 { rowCounts[table, default: 0] += change }
    change = 0
  }

  private mutating func apply(
    _ header: RecordHeader,
    at place: RecordPlace,
    _ table: Table,
    _ sequence: UInt64,
    _ superseded: inout SupersededBytes,
    _ rowCountChange: inout Int
  ) throws {
    switch header.kind {
    case .insert:
      rowCountChange += 1
      table.recordKey(header.key)
    case .delete:
      rowCountChange -= 1
      try supersede(header, &superseded)
    case .fullImage: try supersede(header, &superseded)
    case .delta, .catalogue: break
    }
    let location = RecordLocation(
      segment: place.segment,
      offset: place.offset,
      kind: header.kind,
      depth: Int(header.depth)
    )
    table.pages.store(location, for: header.key, sequence: sequence)
    table.newestChange.store(sequence, ordering: .relaxed)
  }

  /// Keeps the number of every blob that a row ever had from being reused.
  private func recordBlobs(of header: RecordHeader, _ body: RawSpan, _ table: Table) {
    guard let layout = table.layouts[Int(header.layout.rawValue)] else { return }
    switch header.kind {
    case .insert, .fullImage:
      guard layout.isValid(body) else { return }
      layout.forEachBlob(in: body) { _, blob in state.files.blobs.record(blob.id) }
    case .delta: RowDelta.forEachBlob(in: body, layout: layout) { state.files.blobs.record($0.id) }
    case .delete, .catalogue: break
    }
  }

  private func supersede(
    _ header: RecordHeader,
    _ superseded: inout SupersededBytes
  ) throws {
    try state.forEachInChain(header.previous, of: header.reference) { place, header in
      superseded.add(header.totalByteCount, of: header.table, in: place.segment)
    }
  }

  private mutating func changeCatalogue(
    _ body: RawSpan,
    at offset: Int,
    _ segment: Segment,
    _ sequence: UInt64
  ) throws {
    guard let changes = CatalogueChange.decodeList(body) else {
      throw segment.corruption(at: offset, .missing(.catalogue))
    }
    for change in changes {
      do throws(StorageError) {
        try catalogue.apply(change)
      } catch {
        throw segment.corruption(at: offset, .inconsistent(.catalogue, table: 0, key: 0))
      }
      if case .removeTable(let number) = change {
        state.tables[Int(number)]?.removedAt.store(sequence, ordering: .relaxed)
        rowCounts[number] = nil
        usages.release(table: number)
      }
    }
    state.adopt(catalogue)
  }

  /// Adds the collected row counts to the tables'.
  mutating func publishRowCounts() {
    for (table, change) in rowCounts {
      state.tables[Int(table)]?.liveRowCount.add(change, ordering: .relaxed)
    }
    rowCounts.removeAll(keepingCapacity: true)
  }
}
