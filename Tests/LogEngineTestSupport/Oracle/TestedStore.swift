import Foundation
package import LogEngine
import RowFormat

/// A store as the campaigns use it: what is done to it, and what it holds, in the oracle's words.
package final class TestedStore {
  package let engine: StorageEngine

  package init(
    opening path: String,
    on fileSystem: any FileSystem,
    _ options: EngineOptions
  ) throws {
    engine = try StorageEngine.open(at: path, options: options, fileSystem: fileSystem)
  }

  // MARK: Doing

  /// Makes a commit.
  ///
  /// - Returns: Its number.
  package func commit(_ changes: [RowChange]) throws -> Int {
    var batch = engine.makeBatch()
    for change in changes {
      switch change {
      case .insert(let reference, let row):
        batch.insert(reference, layout: row.layout, row: row.bytes.span.bytes)
      case .update(let reference, let changed, let row):
        // Half of the rows are changed where they are read, if they can be: it must come to the same.
        if reference.key % 2 == 0,
          let layout = engine.catalogue.table(reference.table)?.layout(row.layout)?.layout,
          try batch.revise(reference, changed, row, layout)
        {
          continue
        }
        batch.update(reference, layout: row.layout, changed: changed, row: row.bytes.span.bytes)
      case .delete(let reference):
        batch.delete(reference)
      }
    }
    return Int(try engine.commit(&batch).rawValue)
  }

  /// Makes a commit that changes the catalogue.
  ///
  /// - Returns: Its number.
  package func changeCatalogue(_ changes: [CatalogueChange]) throws -> Int {
    try engine.apply(changes)
    return Int(engine.lastCommit.rawValue)
  }

  package func reserveKeys(_ count: Int, in table: UInt16) -> UInt64 {
    engine.reserveKeys(count, in: table).lowerBound
  }

  package func checkpoint() throws { try engine.checkpoint() }
  package func compact() throws { try engine.compact() }
  package func performBackgroundWork() { engine.performBackgroundWork() }
  package func synchronize() throws { try engine.synchronize() }
  package func refresh() throws { try engine.refresh() }
  package func close() throws { try engine.close() }
}

// MARK: Checking

extension TestedStore {
  /// Compares everything there is with what there should be.
  ///
  /// - Parameters:
  ///   - states: What the store may hold, by commit.
  ///   - allowed: Which of the commits may be the newest.
  /// - Returns: Which is.
  /// - Throws: ``Mismatch``, or what the engine throws.
  @discardableResult
  package func check(
    against states: [StoreContent],
    allowed: ClosedRange<Int>
  ) throws -> Int {
    let newest = Int(engine.lastCommit.rawValue)
    guard allowed.contains(newest), states.indices.contains(newest) else {
      throw Mismatch("commit \(newest) is the newest, \(allowed) are allowed")
    }
    let expected = states[newest]
    let tables = engine.catalogue.tables.map(TableOutline.init)
    guard tables == expected.tables else {
      throw Mismatch("commit \(newest) has the tables \(tables), not \(expected.tables)")
    }
    var rowCount = 0
    for table in expected.tables { rowCount += try checkRows(of: table.number, expected, newest) }
    guard rowCount == expected.rows.count else {
      throw Mismatch("commit \(newest) has \(rowCount) rows, not \(expected.rows.count)")
    }
    return newest
  }

  /// Compares the rows of a table.
  ///
  /// - Returns: How many there are.
  private func checkRows(
    of table: UInt16,
    _ expected: StoreContent,
    _ commit: Int
  ) throws -> Int {
    var count = 0
    try engine.scan(table) { key, layout, row in
      let reference = RowReference(table: table, key: key)
      guard let known = expected.rows[reference] else {
        throw Mismatch("commit \(commit) has no row \(key) of table \(table), and it was found")
      }
      guard known.layout == layout, known.holds(row) else {
        throw Mismatch("row \(key) of table \(table) is not what commit \(commit) made it")
      }
      count += 1
      return .proceed
    }
    let counted = engine.rowCount(of: table)
    guard counted == count else {
      throw Mismatch("table \(table) counts \(counted) rows and has \(count)")
    }
    let used = expected.usedKeys[table]?.max() ?? 0
    let next = engine.nextKey(in: table)
    guard next > used else {
      throw Mismatch("key \(next) of table \(table) would be given again: \(used) was used")
    }
    return count
  }
}

extension StoredRow {
  fileprivate func holds(_ row: RawSpan) -> Bool {
    row.byteCount == bytes.count
      && row.withUnsafeBytes { found in
        bytes.withUnsafeBytes { expected in
          guard let a = found.baseAddress, let b = expected.baseAddress else { return true }
          return memcmp(a, b, found.count) == 0
        }
      }
  }
}

extension CommitBatch {
  /// Changes the columns of a row where it is read.
  ///
  /// - Returns: `false` if they are not all of fixed width, or the row is in another layout.
  fileprivate mutating func revise(
    _ reference: RowReference,
    _ changed: ColumnSet,
    _ row: StoredRow,
    _ layout: RowLayout
  ) throws -> Bool {
    let columns = (0..<layout.count).filter(changed.contains)
    if columns.contains(where: { layout.types[$0].isVariable }) { return false }
    let rest = try revise(
      reference.table,
      keys: [reference.key],
      layout: row.layout,
      changed: changed
    ) { _, writer in
      for column in columns {
        writer.setNull(layout.isNull(column, in: row.bytes.span.bytes), column, ofRowAt: 0)
        let offset = layout.offset(of: column)
        for place in offset..<(offset + layout.types[column].fixedWidth) {
          writer.overwrite(row.bytes[place], at: place, ofRowAt: 0)
        }
      }
      return true
    }
    return rest.isEmpty
  }
}
