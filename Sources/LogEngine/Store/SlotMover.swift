import Locking
import LogFormat
import RowFormat

/// Points index slots that name files which are gone to the packs that have their rows.
///
/// Until then such a slot leads to its row by a lookup of the key in the packs.
struct SlotMover {
  /// A row of a pack that its slot does not name: a later commit builds on it, or replaced it.
  typealias Leftover = (reference: RowReference, place: RecordPlace)

  /// Limit of the slots moved under the tail's lock: some ten microseconds.
  private static let slotsPerTurn = 256

  private let state: StoreState
  private let isOutdated: (RecordLocation) -> Bool

  /// - Parameters:
  ///   - state: The store.
  ///   - isOutdated: Whether the packs to move to replaced the file of a location: a slot that names any other stays.
  init(_ state: StoreState, isOutdated: @escaping (RecordLocation) -> Bool) {
    self.state = state
    self.isOutdated = isOutdated
  }

  /// Moves the slots of some blocks' rows.
  ///
  /// - Parameters:
  ///   - blocks: The numbers of the blocks.
  ///   - pack: Their pack.
  ///   - leftovers: Receives the rows whose slots name something else.
  /// - Throws: ``StorageError`` if a block is damaged.
  func moveSlots(
    ofRowsIn blocks: Range<Int>,
    of pack: PackReader,
    _ leftovers: inout [Leftover]
  ) throws {
    var batch: [(reference: RowReference, address: PackAddress)] = []
    func flush() {
      state.log.tail.withLock { _ in
        for row in batch {
          let location = RecordLocation(pack: pack.id, row.address)
          if !moveSlot(of: row.reference, location) {
            leftovers.append((row.reference, RecordPlace(pack: pack.id, row.address)))
          }
        }
      }
      batch.removeAll(keepingCapacity: true)
    }
    let vector = ColumnVector()
    for block in blocks {
      try pack.forEachAddress(inBlock: block, decodingInto: vector) { reference, address in
        batch.append((reference, address))
        if batch.count == Self.slotsPerTurn { flush() }
      }
    }
    flush()
  }

  /// Moves the slots of the rows whose ends a pack notes.
  func moveEnds(notedIn pack: PackReader) {
    for part in pack.footer.tables {
      for keys in part.deletedKeys { moveEnds(keys, of: part.table, to: pack.id) }
    }
  }

  /// Moves the slots of keys whose rows have ended.
  func moveEnds(_ keys: Range<UInt64>, of table: UInt16, to pack: PackID) {
    var next = keys.lowerBound
    while next < keys.upperBound {
      let end = min(next + UInt64(Self.slotsPerTurn), keys.upperBound)
      state.log.tail.withLock { _ in
        for key in next..<end {
          let reference = RowReference(table: table, key: key)
          _ = moveSlot(of: reference, RecordLocation(endNotedIn: pack))
        }
      }
      next = end
    }
  }

  /// - Returns: `false` if a later commit has changed the row.
  private func moveSlot(of reference: RowReference, _ location: RecordLocation) -> Bool {
    guard let table = state.tables[Int(reference.table)],
      1...IndexPages.maximumKey ~= reference.key
    else { return true }
    let before = table.pages.location(of: reference.key)
    guard isOutdated(before) else { return false }
    table.pages.store(location, for: reference.key, sequence: 0)
    return true
  }
}
