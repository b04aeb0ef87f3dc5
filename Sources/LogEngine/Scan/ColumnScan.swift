import LogFormat
import RowFormat

/// Visits the rows of a table by columns, in packs and in the log.
///
/// The scan reads the index one key range at a time, and each range once: the index entry at that moment decides
/// whether the row comes from a block of a pack or from the log. So each row is visited once, even if a compaction
/// moves it during the scan.
///
/// 1. Copy the index slots of a key range.
/// 2. Sort the rows in packs by block; skip blocks whose bounds rule out every row.
/// 3. Gather the columns of the rows in the log, and pass them on.
/// 4. Pass on each block, with the rows that the index names.
struct ColumnScan {
  private let reader: RowReader
  private let table: Table
  private let columns: [UInt16]
  private let conditions: [ZoneCondition]
  private let logged: LoggedColumns
  /// The counts of the data read; `nil` unless a plan was requested.
  var tally: ScanTally?
  private var packs: [SegmentID: PackedColumns] = [:]
  /// The blocks with rows in this key range, in the order in which they were found.
  private var blocks: [Block] = []
  private var blockIndexes: [UInt64: Int] = [:]
  /// The rows of the key range that are in the log.
  private var places: [(key: UInt64, place: RecordPlace)] = []
  private var slots: [UInt64] = []

  /// The number of index pages in a range: enough that a block mostly occurs in only one, few enough to stay in the processor's
  /// cache.
  private static let pagesPerRange: UInt64 = 16

  private struct Block {
    /// The pack and the block number, as in a location.
    let name: UInt64
    let columns: PackedColumns
    var rows: RowSelection
    /// Whether no row can be of interest.
    let isLeftOut: Bool

    var number: Int { Int(name & 0xF_FFFF) }
  }

  init?(
    _ view: ReadView,
    _ number: UInt16,
    _ columns: [UInt16],
    where conditions: [ZoneCondition]
  ) {
    guard let table = view.state.tables[Int(number)],
      let definition = view.catalogue.table(number)
    else { return nil }
    self.table = table
    self.columns = columns
    self.conditions = conditions
    reader = RowReader(state: view.state, sequence: view.sequence.rawValue)
    logged = LoggedColumns(columns, of: definition)
  }

  private var state: StoreState { reader.state }

  mutating func run(
    in keys: Range<UInt64>?,
    _ body: (borrowing ColumnBatch) throws -> ScanControl
  ) throws {
    let keys = keys ?? 0..<(.max)
    let slotsPerPage = UInt64(IndexPages.slotsPerPage)
    let end = min(keys.upperBound, table.pages.keyLimit)
    var page = keys.lowerBound / slotsPerPage
    let endPage = end / slotsPerPage + (end % slotsPerPage == 0 ? 0 : 1)
    while let first = table.pages.nextPage(from: page, to: endPage, asOf: reader.sequence) {
      page = first + Self.pagesPerRange
      let ticket = state.files.epochs.enter()
      defer { state.files.epochs.leave(ticket) }
      for number in first..<page { try sort(number, keys) }
      if try visitLogged(body) == .stop { return }
      if try visitBlocks(body) == .stop { return }
    }
  }
}

// MARK: Sorting

extension ColumnScan {
  /// Sorts the rows of a page of the index.
  private mutating func sort(_ page: UInt64, _ keys: Range<UInt64>) throws {
    guard let newest = table.pages.copyPage(page, into: &slots) else { return }
    let firstKey = page * UInt64(IndexPages.slotsPerPage)
    let isOld = newest <= reader.sequence
    var offset = Int(clamping: max(keys.lowerBound, firstKey) - firstKey)
    let end = Int(min(keys.upperBound - min(firstKey, keys.upperBound), UInt64(slots.count)))
    let isWhole = offset == 0 && end == slots.count
    var hasRow = false
    while offset < end {
      let location = RecordLocation(rawValue: slots[offset])
      hasRow = hasRow || location.isRow
      if location.isPacked, !location.isDelete {
        offset = try sortRun(from: offset, to: end, firstKey)
        continue
      }
      if !location.isNone, !location.isPacked {
        try sortRecord(location, firstKey + UInt64(offset), isOld)
      }
      offset += 1
    }
    if isWhole, isOld, !hasRow {
      table.pages.noteEnd(ofPage: page, newest: newest, asOf: reader.sequence)
    }
  }

  /// Sorts a run of neighbouring slots whose rows are in one block.
  ///
  /// - Returns: The start of the next run.
  private mutating func sortRun(from start: Int, to end: Int, _ firstKey: UInt64) throws -> Int {
    let name = slots[start] >> 22
    let tag = slots[start] & 0x3F
    guard let index = try blockIndex(of: name) else {
      let place = RecordLocation(rawValue: slots[start]).place
      try sortMoved(place, firstKey + UInt64(start))
      return start + 1
    }
    let rowCount = blocks[index].rows.count
    let isLeftOut = blocks[index].isLeftOut
    var offset = start
    while offset < end, slots[offset] >> 22 == name, slots[offset] & 0x3F == tag {
      let row = Int(slots[offset] >> 6 & 0xFFFF)
      let next = endOfRows(from: offset, to: end)
      let rows = row..<(row + next - offset)
      guard rows.upperBound <= rowCount else {
        let bad = offset + max(rowCount - row, 0)
        let place = RecordLocation(rawValue: slots[bad]).place
        throw state.inconsistency(at: place, reference(firstKey + UInt64(bad)))
      }
      if !isLeftOut { blocks[index].rows.select(rows) }
      offset = next
    }
    return offset
  }

  /// Returns the end of a run of slots that name successive rows of a block, as those of neighbouring keys mostly do.
  private func endOfRows(from start: Int, to end: Int) -> Int {
    let slots = slots.span
    var expected = slots[start]
    var offset = start
    // Compares eight at a time, without a branch for each.
    while offset &+ 8 <= end {
      var difference: UInt64 = 0
      for step in 0..<8 {
        difference |= slots[offset &+ step] ^ (expected &+ UInt64(truncatingIfNeeded: step) &<< 6)
      }
      if difference != 0 { break }
      offset &+= 8
      expected &+= 8 &<< 6
    }
    while offset < end, slots[offset] == expected {
      offset &+= 1
      expected &+= 1 &<< 6
    }
    return offset
  }

  /// Returns the list index of a block, adding the block if needed; `nil` if its pack no longer belongs to the store.
  private mutating func blockIndex(of name: UInt64) throws -> Int? {
    if let known = blockIndexes[name] { return known }
    let file = SegmentID(rawValue: UInt32(truncatingIfNeeded: name >> 20))
    guard let pack = state.files.packs[Int(file.rawValue)] else { return nil }
    let number = Int(name & 0xF_FFFF)
    guard pack.footer.blocks.indices.contains(number) else {
      throw pack.damage(at: FileHeader.byteCount, .missing(.packBlock))
    }
    let columns = packs[file] ?? PackedColumns(pack, columns)
    packs[file] = columns
    var rows = RowSelection()
    rows.selectAll(pack.footer.blocks[number].rowCount)
    rows.removeAll()
    blockIndexes[name] = blocks.count
    blocks.append(
      Block(
        name: name,
        columns: columns,
        rows: rows,
        isLeftOut: !pack.mayHold(conditions, inBlock: number)
      )
    )
    return blocks.count - 1
  }

  /// Sorts a row whose index slot names the log.
  private mutating func sortRecord(
    _ location: RecordLocation,
    _ key: UInt64,
    _ isOld: Bool
  ) throws {
    if isOld, !state.files.isRetired(location.segment) {
      if location.isRow { places.append((key, location.place)) }
      return
    }
    guard let place = try reader.place(of: reference(key), location, isOld ? 0 : .max) else {
      return
    }
    try sortMoved(place, key)
  }

  /// Sorts a row that is at a place, or was there before it was packed.
  private mutating func sortMoved(_ place: RecordPlace, _ key: UInt64) throws {
    guard let place = try state.resolve(place, of: reference(key)) else {
      throw state.inconsistency(at: place, reference(key))
    }
    guard place.isPacked else { return places.append((key, place)) }
    let address = place.packAddress
    let name = UInt64(place.segment.rawValue) << 20 | UInt64(address.block)
    guard let index = try blockIndex(of: name), address.row < blocks[index].rows.count else {
      throw state.inconsistency(at: place, reference(key))
    }
    blocks[index].rows.words[address.row >> 6] |= 1 << UInt64(address.row & 63)
  }

  private func reference(_ key: UInt64) -> RowReference {
    RowReference(table: table.number, key: key)
  }
}

// MARK: Visiting batches

extension ColumnScan {
  private mutating func visitLogged(
    _ body: (borrowing ColumnBatch) throws -> ScanControl
  ) throws -> ScanControl {
    defer { places.removeAll(keepingCapacity: true) }
    var scratch = FoldScratch()
    // Local variables: values reached through self would be retained and released for each row.
    let reader = reader
    let logged = logged
    let number = table.number
    let places = places.span
    for index in places.indices {
      let reference = RowReference(table: number, key: places[index].key)
      let place = places[index].place
      let control = try reader.visit(place, reference, &scratch) { key, layout, row in
        logged.append(key, layout, row) ? .proceed : .stop
      }
      if control == .stop { throw reader.state.inconsistency(at: place, reference) }
      if logged.isFull, try handOver(logged, body) == .stop { return .stop }
    }
    return try handOver(logged, body)
  }

  private func handOver(
    _ logged: LoggedColumns,
    _ body: (borrowing ColumnBatch) throws -> ScanControl
  ) throws -> ScanControl {
    if logged.isEmpty { return .proceed }
    logged.finish()
    tally?.rowCount += logged.count
    var rows = RowSelection()
    rows.selectAll(logged.count)
    let control = try body(ColumnBatch(rows, of: logged))
    logged.removeAll()
    return control
  }

  private mutating func visitBlocks(
    _ body: (borrowing ColumnBatch) throws -> ScanControl
  ) throws -> ScanControl {
    defer {
      blocks.removeAll(keepingCapacity: true)
      blockIndexes.removeAll(keepingCapacity: true)
    }
    tally?.prunedBlockCount += blocks.count { $0.isLeftOut }
    for block in blocks where !block.isLeftOut && !block.rows.isEmpty {
      block.columns.move(to: block.number)
      let control = try body(ColumnBatch(block.rows, of: block.columns))
      if let tally {
        tally.rowCount += block.rows.selectedCount
        tally.blockCount += 1
        tally.byteCount += try block.columns.block.decodedByteCount()
      }
      if control == .stop { return .stop }
    }
    return .proceed
  }
}
