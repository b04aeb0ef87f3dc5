import LogEngine
import RowFormat

/// Compares the rows of one entity in two states.
struct RowComparison {
  /// A row that is not the same in both.
  struct Difference {
    /// A column that differs; `nil` where a state has no such column, or no such row.
    struct Column {
      let name: String
      let first: CellValue?
      let second: CellValue?
    }

    enum Kind { case onlyInFirst, onlyInSecond, different }

    let entity: String
    let key: UInt64
    let kind: Kind
    let columns: [Column]
  }

  private struct Row {
    let layout: LayoutNumber
    let bytes: [UInt8]
  }

  private let entity: String
  private let stores: (InspectedStore, InspectedStore)
  private let tables: (TableDefinition?, TableDefinition?)
  /// So many keys are looked at at a time: rows of both are kept that long.
  private static let stride: UInt64 = 4096

  init(_ entity: String, _ stores: (InspectedStore, InspectedStore)) {
    self.entity = entity
    self.stores = stores
    tables = (
      stores.0.catalogue.table(named: entity), stores.1.catalogue.table(named: entity)
    )
  }

  /// Visits what differs, by ascending key.
  func run(_ body: (Difference) throws -> Void) throws {
    let ends = [(stores.0, tables.0), (stores.1, tables.1)].map { store, table in
      table.map { store.engine.nextKey(in: $0.number) } ?? 0
    }
    let end = ends.max() ?? 0
    var start: UInt64 = 0
    while start < end {
      let keys = start...(start + Self.stride - 1)
      let first = try rows(keys, of: tables.0, in: stores.0)
      let second = try rows(keys, of: tables.1, in: stores.1)
      for key in Set(first.keys).union(second.keys).sorted() {
        if let difference = compare(key, first[key], second[key]) { try body(difference) }
      }
      start += Self.stride
    }
  }

  private func rows(
    _ keys: ClosedRange<UInt64>,
    of table: TableDefinition?,
    in store: InspectedStore
  ) throws -> [UInt64: Row] {
    var rows: [UInt64: Row] = [:]
    guard let table else { return rows }
    try store.forEachRow(of: table, keys: keys) { key, layout, row in
      rows[key] = Row(
        layout: layout,
        bytes: (0..<row.byteCount).map { row.load(UInt8.self, at: $0) }
      )
      return .proceed
    }
    return rows
  }

  private func compare(_ key: UInt64, _ first: Row?, _ second: Row?) -> Difference? {
    if let first, let second {
      if isSameLayout(first.layout, second.layout), first.bytes == second.bytes,
        !hasReferences(first.layout)
      {
        return nil
      }
      let columns = columns(first, second, .all).filter { !isSame($0.first, $0.second) }
      if columns.isEmpty { return nil }
      let names = Set(columns.map(\.name))
      let shown = self.columns(first, second, .beginning).filter { names.contains($0.name) }
      return Difference(entity: entity, key: key, kind: .different, columns: shown)
    }
    return Difference(
      entity: entity,
      key: key,
      kind: first == nil ? .onlyInSecond : .onlyInFirst,
      columns: columns(first, second, .beginning)
    )
  }

  /// Whether columns of the same names are in the same order in both.
  private func isSameLayout(_ first: LayoutNumber, _ second: LayoutNumber) -> Bool {
    func names(_ number: LayoutNumber, _ table: TableDefinition?) -> [String]? {
      table?.layout(number)?.columns.map { table?.column($0)?.name ?? "" }
    }
    return names(first, tables.0) == names(second, tables.1)
      && tables.0?.layout(first)?.layout == tables.1?.layout(second)?.layout
  }

  /// Whether the bytes may mean different things: a reference names a table by its number.
  private func hasReferences(_ number: LayoutNumber) -> Bool {
    if stores.0.catalogue.tables.map(\.name) == stores.1.catalogue.tables.map(\.name) {
      return false
    }
    let types = tables.0?.layout(number)?.layout.types ?? []
    return types.contains { $0 == .reference || $0 == .references }
  }

  private func columns(
    _ first: Row?,
    _ second: Row?,
    _ bytes: RowDecoder.Bytes
  ) -> [Difference.Column] {
    let before = cells(first, of: tables.0, in: stores.0, bytes)
    let after = cells(second, of: tables.1, in: stores.1, bytes)
    var columns = before.map { cell in
      Difference.Column(
        name: cell.name,
        first: cell.value,
        second: after.first { $0.name == cell.name }?.value
      )
    }
    for cell in after where !before.contains(where: { $0.name == cell.name }) {
      columns.append(.init(name: cell.name, first: nil, second: cell.value))
    }
    return columns
  }

  private func cells(
    _ row: Row?,
    of table: TableDefinition?,
    in store: InspectedStore,
    _ bytes: RowDecoder.Bytes
  ) -> [RowDecoder.Cell] {
    guard let row, let table else { return [] }
    var decoder = RowDecoder(of: store, bytes: bytes)
    return decoder.cells(of: row.bytes.span.bytes, layout: row.layout, table: table.number) ?? []
  }

  /// Whether two values are the same; a column that is not there is like one that is null.
  private func isSame(_ first: CellValue?, _ second: CellValue?) -> Bool {
    switch (first ?? .null, second ?? .null) {
    // Two stores number their files apart; what is in them counts.
    case (.blob(let first), .blob(let second)):
      first.byteCount == second.byteCount && first.checksum == second.checksum
    case (.double(let first), .double(let second)): first.bitPattern == second.bitPattern
    case (let first, let second): first == second
    }
  }
}
