import LogEngine
import RowFormat
import Terminal

/// The end of a one-to-one relationship that a row of the store has to get, since a row of a file names it.
///
/// Both ends are stored. If only that of the new row were written, an app would see the relationship from one side alone.
struct OtherEnd: Hashable {
  /// The row that the file names.
  let row: RowReference
  /// The number of the column with its reference.
  let column: UInt16
}

extension OtherEnd {
  /// What becomes of an end, if a new row names it.
  enum Availability: Equatable {
    /// It is nil, and the row can be written with a reference.
    case free
    /// It has a partner already.
    case taken(by: RowReference)
    /// Its row was written without the column, and in columns that are not those of new rows: only the app can write it.
    case unwritable
  }

  func availability(in store: InspectedStore) throws -> Availability {
    guard let table = store.catalogue.table(row.table) else { return .unwritable }
    let found = try store.view.withRow(row) { bytes, number -> Availability? in
      guard let layout = table.layout(number) else { return nil }
      // Rows from before a change of the relationship have its value in the column that it had then.
      for (place, other) in layout.columns.enumerated() {
        guard other == column || table.isFormer(other, of: column),
          layout.layout.types[place] == .reference, !layout.layout.isNull(place, in: bytes)
        else { continue }
        let partner = layout.layout.reference(place, in: bytes)
        // What leads to a row that is gone reads as nil.
        if try store.view.contains(partner) { return .taken(by: partner) }
      }
      return table.layout(for: [column], of: layout) == nil ? nil : .free
    }
    return (found ?? nil) ?? .unwritable
  }
}

extension InspectedStore {
  /// The name of the column at the other end of a one-to-one relationship; `nil` if the column is no end of one, or the store does
  /// not say.
  ///
  /// The layer above notes the ends under `inverse.<table>.<column>`, and that with `.of` behind it.
  func otherEnd(of column: ColumnDefinition, in table: UInt16) -> String? {
    guard column.type == .reference,
      let place = text("inverse.\(table).\(column.number).of")?.split(separator: ".")
        .compactMap({ UInt16($0) }),
      place.count == 2, let inverse = catalogue.table(place[0])?.column(place[1]),
      inverse.type == .reference, text("inverse.\(place[0]).\(place[1])") == "one",
      text("inverse.\(table).\(column.number)") == "one"
    else { return nil }
    return inverse.name
  }

  private func text(_ key: String) -> String? {
    catalogue.metadata[key].map { String(decoding: $0, as: UTF8.self) }
  }
}

extension TableDefinition {
  /// Whether a column is one that another had its values in before.
  fileprivate func isFormer(_ former: UInt16, of column: UInt16) -> Bool {
    guard let former = self.column(former) else { return false }
    return former.isRetired && former.name == self.column(column)?.name
  }

  /// The layout to write a row in that gets values in some columns: its own, or that of new rows if this has all columns of it.
  fileprivate func layout(for columns: [UInt16], of own: LayoutDefinition) -> LayoutDefinition? {
    if columns.allSatisfy(own.columns.contains) { return own }
    guard let new = layout(currentLayout) else { return nil }
    return (columns + own.columns).allSatisfy(new.columns.contains) ? new : nil
  }
}

/// The ends that the next commit writes.
///
/// Those of one row are written at once: a commit has no two changes of it.
struct PendingEnds {
  private var partners: [RowReference: [UInt16: RowReference]] = [:]

  /// Adds an end, with the row that it is to lead to.
  mutating func add(_ end: OtherEnd, to partner: RowReference) {
    partners[end.row, default: [:]][end.column] = partner
  }

  /// Adds the changes of the rows to a batch.
  ///
  /// - Throws: ``ToolError`` if a row has changed since the file was checked.
  mutating func write(
    to batch: inout CommitBatch,
    _ engine: StorageEngine,
    of store: InspectedStore
  ) throws {
    if partners.isEmpty { return }
    let view = engine.makeReadView()
    var writer = RowWriter()
    for (reference, values) in partners.sorted(by: { $0.key < $1.key }) {
      writer.removeAll()
      var changed = ColumnSet()
      let layout = try view.withRow(reference) { bytes, number -> LayoutNumber? in
        guard let table = view.catalogue.table(reference.table), let own = table.layout(number),
          let layout = table.layout(for: Array(values.keys), of: own)
        else { return nil }
        writer.begin(layout.layout)
        for (place, column) in layout.columns.enumerated() {
          // In a layout of its own the row keeps what it has in all other columns.
          if values[column] != nil || layout.number != own.number { changed.insert(place) }
          if let partner = values[column] {
            writer.set(place, reference: partner)
          } else if let source = own.columns.firstIndex(of: column) {
            writer.copy(place, from: bytes, column: source, layout: own.layout)
          } else if let column = table.column(column),
            let fill = store.fill(column, of: table.number)
          {
            let single = RowLayout([column.type])
            writer.copy(place, from: fill.span.bytes, column: 0, layout: single)
          }
        }
        _ = writer.finish()
        return layout.number
      }
      guard case let layout?? = layout else {
        throw ToolError(
          "\(store.name(of: reference).printable) has changed since the file was checked",
          place: store.path,
          advice: "import the file again, while no other process has the store open"
        )
      }
      batch.update(reference, layout: layout, changed: changed, row: writer.bytes)
    }
    partners.removeAll()
  }
}
