import LogFormat
package import RowFormat
import Synchronization

extension CommitBatch {
  /// Changes columns of fixed width in rows of one table, each in its newest version.
  ///
  /// Each row is read once, where ``update(_:layout:changed:row:)`` of a row that was just read looks at its records again.
  ///
  /// - Parameters:
  ///   - number: The table.
  ///   - keys: The keys, ascending.
  ///   - layout: The layout that the rows must have.
  ///   - changed: The columns that `body` changes, none of which has a variable width.
  ///   - body: Changes a row, which is the only one in the writer; `false` if it has not.
  /// - Returns: The keys of the rows that are left as they were: rows in other layouts, those that `body` has not changed, those
  ///   that are gone, and all of a table that may own side files.
  /// - Throws: ``/LogFormat/StorageError`` if a row cannot be read.
  package mutating func revise(
    _ number: UInt16,
    keys: [UInt64],
    layout: LayoutNumber,
    changed: ColumnSet,
    _ body: (UInt64, inout RowWriter) -> Bool
  ) throws -> [UInt64] {
    guard let table = state.tables[Int(number)],
      let rowLayout = table.layouts[Int(layout.rawValue)],
      !table.mayOwnBlobs.load(ordering: .relaxed)
    else { return keys }
    let pays = RowDelta.pays(changed, in: rowLayout)
    if pays { reserve(deltas: keys.count, of: changed, rowLayout) }
    let state = state
    return try state.watchingReads {
      try withChain { batch, chain in
        var rest: [UInt64] = []
        var packed = PackedRowsCursor()
        var ticket = state.files.epochs.enter()
        defer { state.files.epochs.leave(ticket) }
        for index in keys.indices {
          let reference = RowReference(table: number, key: keys[index])
          guard batch.accepts(reference, in: table) else { break }
          packed.expect(keys.span, from: index)
          if index % Self.rowsPerTicket == Self.rowsPerTicket - 1 {
            // A compaction that removes files waits for readers that began before.
            state.files.epochs.leave(ticket)
            ticket = state.files.epochs.enter()
          }
          let location = table.pages.location(of: reference.key)
          guard location.isRow,
            try batch.read(reference, at: location.place, into: &chain, &packed) == layout,
            chain.edit({ body(reference.key, &$0) })
          else {
            rest.append(reference.key)
            continue
          }
          assert(rowLayout.isValid(chain.row), "row \(reference) was changed to an invalid one")
          let newest = chain.records[0]
          if pays, batch.canBuild(on: newest.header, layout),
            batch.appendDelta(changed, of: chain.row, reference, rowLayout, to: newest, nil)
          {
            continue
          }
          try batch.supersede(chain.records, of: reference)
          batch.appendPartialImage(changed, reference, layout, chain.row, previous: newest.place)
        }
        return rest
      }
    }
  }

  /// The number of rows that are read before a compaction may go on that waits for readers.
  private static let rowsPerTicket = 64

  /// Makes room for deltas of columns of fixed width, frames not counted.
  private mutating func reserve(deltas count: Int, of changed: ColumnSet, _ layout: RowLayout) {
    var byteCount = RecordHeader.longByteCount + (layout.count + 7) / 8
    for column in 0..<layout.count where changed.contains(column) {
      byteCount += 1 + layout.types[column].fixedWidth
    }
    buffer.reserve(count * ((byteCount + 7) & ~7))
  }

  /// Reads a row.
  ///
  /// - Returns: Its layout.
  private func read(
    _ reference: RowReference,
    at place: RecordPlace,
    into chain: inout RowChain,
    _ packed: inout PackedRowsCursor
  ) throws -> LayoutNumber {
    if place.isPacked {
      let reader = RowReader(state: state, sequence: .max)
      _ = try reader.visitPacked(place, reference, &packed) { _, layout, row in
        let header = RecordHeader(packed: reference, layout, byteCount: row.byteCount)
        chain.read(row, header, at: place)
        return .proceed
      }
    } else {
      try chain.read(reference, at: place, in: state)
    }
    return chain.layout
  }
}
