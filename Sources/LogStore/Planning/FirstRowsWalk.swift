import Foundation
import LogEngine
import ModelRuntime
import RowFormat

/// Finds the first rows of a sort by walking an index in its order, instead of looking at all rows.
///
/// The walk goes on to the end of the last value it meets, so that what it finds holds all rows that can be among
/// the first, whatever the other sort keys say.
struct FirstRowsWalk {
  private let column: Int
  private let owner: ModelDescriptor
  private let direction: OrderedRows.Direction
  private let wanted: Int

  /// - Returns: `nil` for a sort without limit, or whose first key no index is ordered by.
  init?(_ ordering: RowOrdering, end: Int?) {
    guard let end, end > 0, let first = ordering.keys.first, first.isPlainOrder,
      case .column(let path, let reading) = first.source, path.isTestedRow
    else { return nil }
    column = reading.column
    owner = path.descriptor
    direction = first.order == .forward ? .forward : .backward
    wanted = end
  }

  /// The rows of a table that can be among the first, in key order; `nil` if looking at all is as well.
  func rows(
    of table: EntityTable,
    _ filter: RowFilter?,
    in store: TableStore
  ) throws -> [RowReference]? {
    let rowCount = store.engine.rowCount(of: table.number)
    guard table.descriptor.isKind(of: owner), wanted < rowCount / 8,
      let (index, ordered) = try store.valueIndexes.order(of: column, in: table, of: store),
      !hasNaN(index, ordered)
    else { return nil }
    var found: [RowReference] = []
    var last: UInt64?
    // A filter that lets few rows pass is dearer to satisfy in this order than in the store's.
    var budget = rowCount / 8
    try ordered.forEach(direction) { entry in
      if found.count >= wanted, entry.prefix != last { return false }
      budget -= 1
      if budget < 0 { return false }
      last = entry.prefix
      _ = try store.withRow(at: entry.row) { row in
        // An entry of a value that the row no longer has stands at a wrong place.
        guard index.entry(of: row, table.layout).prefix == entry.prefix,
          try filter?.matches(row, entry.row) ?? true
        else { return }
        found.append(entry.row)
      }
      return true
    }
    return budget < 0 ? nil : found.sorted()
  }

  /// Whether there is a value that is in no order with others.
  private func hasNaN(_ index: IndexDefinition, _ ordered: OrderedRows) -> Bool {
    switch index.columns[0].kind {
    case .double, .float, .date:
      if let last = ordered.last, last.prefix > SortPrefix.infinity { return true }
      return ordered.count(in: 1...(SortPrefix.negativeInfinity - 1)) > 0
    default: return false
    }
  }
}

extension RowOrdering.Key {
  /// Whether values are in the order of `<`.
  fileprivate var isPlainOrder: Bool { !hasTextOrder }
}
