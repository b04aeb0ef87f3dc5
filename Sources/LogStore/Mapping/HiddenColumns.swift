import LogEngine
import RowFormat

/// The columns of a table that its class lacks, and that other models may have.
///
/// A row that is changed keeps its values in them: it is written in a layout with the columns of the class, and behind them
/// those hidden ones that it has. The current layout, of new rows, has the columns of the class alone. The layouts are put on
/// record with the schema, for each set of hidden columns that rows may have.
struct HiddenColumns {
  /// The layouts, by that of the row as it was.
  private let layouts: [LayoutNumber: Kept]

  private struct Kept {
    let layout: LayoutDefinition
    let converter: RowConverter
  }

  /// - Parameters:
  ///   - table: The table, in the schema of the class.
  ///   - fills: The values that older rows have in columns added later, by column number; see ``FillValue``.
  init(of table: TableDefinition, _ fills: [UInt16: [UInt8]]) {
    let order = table.layout(table.currentLayout)?.columns ?? []
    let hidden = HiddenColumns.numbers(in: table, beside: order)
    var layouts: [LayoutNumber: Kept] = [:]
    if !hidden.isEmpty {
      for former in table.layouts {
        let columns = order + table.columns(among: hidden, in: former)
        guard columns.count > order.count,
          let layout = table.layouts.first(where: { $0.columns == columns }),
          let converter = RowConverter(
            from: former.number,
            to: layout.number,
            in: table,
            fills,
            defaults: []
          )
        else { continue }
        layouts[former.number] = Kept(layout: layout, converter: converter)
      }
    }
    self.layouts = layouts
  }

  /// Whether no row can have values in such columns.
  var isEmpty: Bool { layouts.isEmpty }

  /// The layouts that a table needs beside one of its class: column numbers, in row order.
  static func layouts(of table: TableDefinition, beside order: [UInt16]) -> [[UInt16]] {
    let hidden = numbers(in: table, beside: order)
    if hidden.isEmpty { return [] }
    var needed: [[UInt16]] = []
    for layout in table.layouts {
      let columns = order + table.columns(among: hidden, in: layout)
      if columns.count > order.count, !needed.contains(columns) { needed.append(columns) }
    }
    return needed.filter { columns in !table.layouts.contains { $0.columns == columns } }
  }

  private static func numbers(in table: TableDefinition, beside order: [UInt16]) -> [UInt16] {
    table.columns.filter { !$0.isRetired && !order.contains($0.number) }.map(\.number)
  }

  /// Writes a changed row with the values that it has in hidden columns.
  ///
  /// - Parameters:
  ///   - row: The row with its changes, in the layout of the class.
  ///   - current: That layout.
  ///   - newest: The row as it was.
  ///   - number: The layout of that.
  ///   - writer: Receives the row.
  ///   - open: Reads a value that moves back from its own file into its row.
  /// - Returns: The layout of the row; `nil`, with nothing written, if it had no such values.
  /// - Throws: What `open` throws.
  func complete(
    _ row: RawSpan,
    _ current: RowLayout,
    with newest: RawSpan,
    _ number: LayoutNumber,
    into writer: inout RowWriter,
    open: (BlobReference) throws -> Blob
  ) throws -> LayoutNumber? {
    guard let kept = layouts[number] else { return nil }
    writer.begin(kept.layout.layout)
    for column in 0..<current.count {
      writer.copy(column, from: row, column: column, layout: current)
    }
    for column in current.count..<kept.layout.layout.count {
      try kept.converter.convert(column, of: newest, into: &writer) { try open($1) }
    }
    _ = writer.finish()
    return kept.layout.number
  }
}

extension TableDefinition {
  /// The columns that rows of a layout have values for, in themselves or in the columns that these were in before.
  fileprivate func columns(among columns: [UInt16], in layout: LayoutDefinition) -> [UInt16] {
    columns.filter { number in
      layout.columns.contains(number)
        || predecessors(of: number).contains(where: layout.columns.contains)
    }
  }
}

extension CommitBatch {
  /// Changes a row, which keeps its values in columns that its class lacks, and the members of its lists whose classes the
  /// schema lacks.
  ///
  /// - Parameters:
  ///   - reference: The row.
  ///   - table: Its table.
  ///   - changed: The columns that are changed.
  ///   - row: The row, in the table's layout.
  mutating func update(
    _ reference: RowReference,
    in table: EntityTable,
    changed: ColumnSet,
    row: RawSpan
  ) {
    if !table.mayHideMembers(of: changed) {
      return updateAll(of: reference, in: table, changed: changed, row: row)
    }
    var writer = RowWriter(capacity: row.byteCount + 256)
    do {
      let hasHidden = try withNewestRow(reference) { newest, number in
        try table.addHiddenMembers(to: row, changed, from: newest, number, reference.key, &writer)
      }
      if hasHidden == true {
        updateAll(of: reference, in: table, changed: changed, row: writer.bytes)
      } else {
        updateAll(of: reference, in: table, changed: changed, row: row)
      }
    } catch let error as StorageError {
      fail(error)
    } catch {
      fail(.rowNotFound(reference))
    }
  }

  /// Changes a row whose lists are whole.
  private mutating func updateAll(
    of reference: RowReference,
    in table: EntityTable,
    changed: ColumnSet,
    row: RawSpan
  ) {
    if table.hidden.isEmpty {
      return update(reference, layout: table.layoutNumber, changed: changed, row: row)
    }
    var writer = RowWriter(capacity: row.byteCount + 256)
    do {
      let layout = try withNewestRow(reference) { newest, number in
        try table.complete(row, with: newest, number, into: &writer)
      }
      guard case let layout?? = layout else {
        return update(reference, layout: table.layoutNumber, changed: changed, row: row)
      }
      update(reference, layout: layout, changed: changed, row: writer.bytes)
    } catch let error as StorageError {
      fail(error)
    } catch {
      fail(.rowNotFound(reference))
    }
  }
}
