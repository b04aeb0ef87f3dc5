import LogEngine
import LogFormat
import RowFormat
import Synchronization

// Rows, and what the segments keep for them.
extension Verification {
  /// Puts every row together.
  mutating func checkRows(of state: StoreState) throws {
    let catalogue = state.currentCatalogue
    let reader = RowReader(state: state, sequence: state.newestSequence)
    let counts = catalogue.tables.map { definition in
      state.tables[Int(definition.number)]?.liveRowCount.load(ordering: .relaxed) ?? 0
    }
    let total = counts.reduce(0, +)
    for (definition, counted) in zip(catalogue.tables, counts) {
      guard let table = state.tables[Int(definition.number)] else { continue }
      var rowCount = 0
      var key: UInt64 = 0
      while let entry = table.pages.next(from: key, to: table.pages.keyLimit) {
        key = entry.key + 1
        let reference = RowReference(table: definition.number, key: entry.key)
        do {
          if try reader.read(reference, { _, _ in }) { rowCount += 1 }
        } catch let error as StorageError {
          try Self.rethrowSystemFailure(error)
          rowCount += 1
          add(paths.root, .unreadableRow(reference, error))
        }
        if rowCount & 0xFFFF == 0 { reportRows(report.rowCount + rowCount, of: total) }
      }
      report.rowCount += rowCount
      if rowCount != counted {
        add(
          paths.root,
          .wrongRowCount(table: definition.number, counted: counted, found: rowCount)
        )
      }
    }
    reportRows(total, of: total)
  }

  private func reportRows(_ completed: Int, of total: Int) {
    progress(MaintenanceProgress(phase: .checkingRows, completed: completed, total: total))
  }

  /// Counts the bytes that rows, deletions and the catalogue need, and compares them with what replaying
  /// the log counted.
  mutating func checkUsage(of state: StoreState) {
    let counted = state.currentUsages.usages
    var found: [LiveBytesKey: Int] = [:]
    for entry in counted.entries where entry.table == 0 {
      // Nothing ever takes the place of a catalogue record.
      found[LiveBytesKey(segment: entry.segment, table: 0)] = entry.usage.recordByteCount
    }
    for definition in state.currentCatalogue.tables {
      guard let table = state.tables[Int(definition.number)] else { continue }
      var key: UInt64 = 0
      while let entry = table.pages.next(from: key, to: table.pages.keyLimit) {
        key = entry.key + 1
        // A row that cannot be read was reported; what it needs is not known.
        let reference = RowReference(table: definition.number, key: entry.key)
        try? state.forEachInChain(entry.location.place, of: reference) { place, header in
          let key = LiveBytesKey(segment: place.segment, table: header.table)
          found[key, default: 0] += header.totalByteCount
        }
      }
    }
    compareLiveBytes(counted: counted.liveBytes, found: found)
  }

  mutating func compareLiveBytes(counted: [LiveBytesKey: Int], found: [LiveBytesKey: Int]) {
    for key in Set(counted.keys).union(found.keys).sorted() {
      let counted = counted[key] ?? 0
      let found = found[key] ?? 0
      guard counted != found else { continue }
      add(
        paths.segment(key.segment),
        .wrongLiveByteCount(key.segment, table: key.table, counted: counted, found: found)
      )
    }
  }
}

/// A table's part of a segment.
struct LiveBytesKey: Hashable, Comparable {
  let segment: SegmentID
  let table: UInt16

  static func < (lhs: LiveBytesKey, rhs: LiveBytesKey) -> Bool {
    lhs.segment == rhs.segment ? lhs.table < rhs.table : lhs.segment < rhs.segment
  }
}

extension SegmentUsages {
  /// The live bytes, by segment and table.
  var liveBytes: [LiveBytesKey: Int] {
    var live: [LiveBytesKey: Int] = [:]
    for entry in entries {
      live[LiveBytesKey(segment: entry.segment, table: entry.table)] = entry.usage.liveByteCount
    }
    return live
  }
}
