import LogEngine
import RowFormat
import Workloads

/// The table of trips in an engine: its columns, and how a record becomes a row and back.
struct TripTable {
  static let name = "Trip"

  /// The columns, in row order: those of fixed width first, where each is one load away.
  enum Column: Int, CaseIterable {
    case startDate, endDate, rating, isFavorite, name, destination, note, tag

    var type: ColumnType {
      switch self {
      case .startDate, .endDate: .date
      case .rating: .integer
      case .isFavorite: .bool
      case .name, .destination, .note, .tag: .text
      }
    }
  }

  let number: UInt16
  let layoutNumber: LayoutNumber
  let layout: RowLayout

  /// Finds the table, or adds it.
  ///
  /// - Parameter engine: The store.
  /// - Throws: ``StorageError``.
  init(in engine: StorageEngine) throws {
    if engine.catalogue.table(named: Self.name) == nil { try Self.add(to: engine) }
    guard let table = engine.catalogue.table(named: Self.name),
      let current = table.layout(table.currentLayout)
    else { throw StorageError.unknownTable(0) }
    number = table.number
    layoutNumber = current.number
    layout = current.layout
  }

  private static func add(to engine: StorageEngine) throws {
    let number = engine.catalogue.nextTableNumber
    let columns = Column.allCases.map { column in
      CatalogueChange.addColumn(
        table: number,
        name: "\(column)",
        type: column.type,
        isNullable: column == .tag
      )
    }
    let order = CatalogueChange.setLayout(
      table: number,
      columns: Column.allCases.map { UInt16($0.rawValue + 1) }
    )
    try engine.apply([.addTable(name: name)] + columns + [order])
  }

  /// Writes a record as a row behind those already written.
  func write(_ record: TripRecord, to writer: inout RowWriter) -> Range<Int> {
    writer.begin(layout)
    writer.set(Column.startDate.rawValue, double: record.startDate)
    writer.set(Column.endDate.rawValue, double: record.endDate)
    writer.set(Column.rating.rawValue, integer: record.rating)
    writer.set(Column.isFavorite.rawValue, bool: record.isFavorite)
    writer.append(Column.name.rawValue, text: record.name)
    writer.append(Column.destination.rawValue, text: record.destination)
    writer.append(Column.note.rawValue, text: record.note)
    if let tag = record.tag { writer.append(Column.tag.rawValue, text: tag) }
    return writer.finish()
  }

  /// Reads all columns of a row.
  func read(_ row: RawSpan) -> TripRecord {
    TripRecord(
      id: 0,
      name: layout.text(Column.name.rawValue, in: row),
      destination: layout.text(Column.destination.rawValue, in: row),
      startDate: layout.double(Column.startDate.rawValue, in: row),
      endDate: layout.double(Column.endDate.rawValue, in: row),
      rating: rating(row),
      isFavorite: layout.bool(Column.isFavorite.rawValue, in: row),
      note: layout.text(Column.note.rawValue, in: row),
      tag: layout.isNull(Column.tag.rawValue, in: row)
        ? nil : layout.text(Column.tag.rawValue, in: row)
    )
  }

  /// Reads one column of a row.
  func rating(_ row: RawSpan) -> Int64 { layout.integer(Column.rating.rawValue, in: row) }

  /// Reads another.
  func startDate(_ row: RawSpan) -> Double { layout.double(Column.startDate.rawValue, in: row) }

  /// Writes a row again with another rating.
  func write(_ row: RawSpan, rating: Int64, to writer: inout RowWriter) -> Range<Int> {
    writer.begin(layout)
    for column in Column.allCases where column != .rating {
      writer.copy(column.rawValue, from: row, column: column.rawValue, layout: layout)
    }
    writer.set(Column.rating.rawValue, integer: rating)
    return writer.finish()
  }
}
