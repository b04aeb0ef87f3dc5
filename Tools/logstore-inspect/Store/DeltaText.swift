import LogEngine
import RowFormat

extension RowDecoder {
  /// The columns a delta writes, with their new values where the delta alone tells them.
  ///
  /// A delta may say only what it adds to a list and where; then the column is named without a value.
  mutating func cells(
    ofDelta delta: RawSpan,
    layout: LayoutNumber,
    table: UInt16
  ) -> (names: [String], cells: [Cell])? {
    guard let order = self.layout(layout, of: table),
      let changed = RowDelta.changedColumns(of: delta, layout: order),
      let names = names(of: changed, layout: layout, table: table)
    else { return nil }
    var blank = RowWriter()
    blank.begin(order)
    let base = blank.finish()
    var writer = RowWriter()
    guard
      let row = RowDelta.apply(
        delta,
        to: blank.bytes.extracting(base),
        layout: order,
        into: &writer
      )
    else { return (names, []) }
    let cells = cells(
      of: writer.bytes.extracting(row),
      layout: layout,
      table: table,
      changed: changed
    )
    return (names, cells ?? [])
  }
}
