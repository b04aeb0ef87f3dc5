import Foundation
import LogEngine
import RowFormat

/// Flights as they are in their file, a column for each of its columns.
enum FlightTable {
  /// The columns of the file, in its order.
  private static let columns: [(name: String, type: ColumnType)] = [
    ("year", .integer), ("month", .integer), ("day", .integer), ("dep_time", .integer),
    ("sched_dep_time", .integer), ("dep_delay", .integer), ("arr_time", .integer),
    ("sched_arr_time", .integer), ("arr_delay", .integer), ("carrier", .text),
    ("flight", .integer), ("tailnum", .text), ("origin", .text), ("dest", .text),
    ("air_time", .integer), ("distance", .integer), ("hour", .integer), ("minute", .integer),
    ("time_hour", .date),
  ]

  /// The flights of the file that the environment names in `LOGSTORE_FLIGHTS`, or of the one that comes with
  /// the sources.
  ///
  /// - Returns: A store of them; `nil` if there is no such file.
  /// - Throws: ``StorageError``.
  static func load() throws -> PackSource? {
    let bundled = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Tools/SampleTrips/Resources/flights-2013-01.csv")
    let path = ProcessInfo.processInfo.environment["LOGSTORE_FLIGHTS"] ?? bundled.path
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
    let engine = try PackSource.makeEngine()
    let changes = columns.map { column in
      CatalogueChange.addColumn(table: 1, name: column.name, type: column.type, isNullable: true)
    }
    let order = CatalogueChange.setLayout(
      table: 1,
      columns: columns.indices.map { UInt16($0 + 1) }
    )
    try engine.apply([.addTable(name: "Flight")] + changes + [order])
    try insert(text.split(separator: "\n").dropFirst(), into: engine)
    return PackSource(engine, table: "Flight")
  }

  private static func insert(_ lines: ArraySlice<Substring>, into engine: StorageEngine) throws {
    guard let layout = engine.catalogue.table(1)?.layouts.last else { return }
    var batch = engine.makeBatch()
    var writer = RowWriter()
    var keys = engine.reserveKeys(lines.count, in: 1).makeIterator()
    for (number, line) in lines.enumerated() {
      guard let key = keys.next() else { return }
      writer.removeAll()
      writer.begin(layout.layout)
      write(line.split(separator: ",", omittingEmptySubsequences: false), to: &writer)
      let range = writer.finish()
      let row = writer.bytes.extracting(range)
      batch.insert(RowReference(table: 1, key: key), layout: layout.number, row: row)
      if number % 10_000 == 9999 { _ = try engine.commit(&batch) }
    }
    _ = try engine.commit(&batch)
  }

  private static func write(_ fields: [Substring], to writer: inout RowWriter) {
    for (column, field) in fields.enumerated() where field != "NA" && !field.isEmpty {
      switch columns[column].type {
      case .integer: if let value = Int64(field) { writer.set(column, integer: value) }
      case .date: if let value = seconds(field) { writer.set(column, double: value) }
      default: writer.append(column, text: String(field))
      }
    }
  }

  private static func seconds(_ field: Substring) -> Double? {
    try? Date(String(field), strategy: .iso8601).timeIntervalSinceReferenceDate
  }
}
