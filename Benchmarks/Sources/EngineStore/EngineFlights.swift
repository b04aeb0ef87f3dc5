public import Foundation
import LogEngine
import RowFormat
public import Workloads

/// Flights in an engine: a table whose columns are the attributes.
public final class EngineFlights: FlightStore {
  public static let settings = "StorageEngine, defaults but durability .relaxed(1 s)"

  private let engine: StorageEngine
  private let layout: RowLayout
  private let layoutNumber: LayoutNumber
  private var batch: CommitBatch
  private var writer = RowWriter()

  /// The table's number: the first of a new store.
  private static let table: UInt16 = 1

  /// The columns, those of fixed width first.
  private enum Column: Int, CaseIterable {
    case scheduled, number, departureDelay, arrivalDelay, distance
    case carrier, origin, destination, tailNumber

    var type: ColumnType {
      switch self {
      case .scheduled: .date
      case .number, .departureDelay, .arrivalDelay, .distance: .integer
      case .carrier, .origin, .destination, .tailNumber: .text
      }
    }

    var isNullable: Bool { [.departureDelay, .arrivalDelay, .tailNumber].contains(self) }
  }

  /// Makes a store.
  ///
  /// - Parameter folder: The folder; a new one.
  /// - Throws: ``StorageError``.
  public init(_ folder: URL) throws {
    var options = EngineOptions()
    options.durability = .relaxed(interval: .seconds(1))
    engine = try StorageEngine.open(at: folder.path, options: options)
    let columns = Column.allCases.map { column in
      CatalogueChange.addColumn(
        table: Self.table,
        name: "\(column)",
        type: column.type,
        isNullable: column.isNullable
      )
    }
    let order = CatalogueChange.setLayout(
      table: Self.table,
      columns: Column.allCases.map { UInt16($0.rawValue + 1) }
    )
    let catalogue = try engine.apply([.addTable(name: "Flight")] + columns + [order])
    guard let current = catalogue.table(Self.table)?.layouts.last else {
      throw StorageError.unknownTable(Self.table)
    }
    layout = current.layout
    layoutNumber = current.number
    batch = engine.makeBatch()
  }

  public func save(_ flights: ArraySlice<FlightRecord>) throws {
    insert(flights, into: &batch, through: &writer)
    _ = try engine.commit(&batch)
  }

  /// Lent as arguments, the batch and the writer are looked up once, and not for each flight.
  private func insert(
    _ flights: ArraySlice<FlightRecord>,
    into batch: inout CommitBatch,
    through writer: inout RowWriter
  ) {
    var keys = engine.reserveKeys(flights.count, in: Self.table).makeIterator()
    for flight in flights {
      guard let key = keys.next() else { return }
      writer.removeAll()
      let place = write(flight, to: &writer)
      batch.insert(
        RowReference(table: Self.table, key: key),
        layout: layoutNumber,
        row: writer.bytes.extracting(place)
      )
    }
  }

  public func countLate(origin: String, minutes: Int64) throws -> Int {
    let wanted = Array(origin.utf8)
    let delay = Column.departureDelay.rawValue
    var count = 0
    try engine.scan(Self.table) { _, _, row in
      if !layout.isNull(delay, in: row), layout.integer(delay, in: row) > minutes,
        bytes(.origin, in: row, equal: wanted)
      {
        count += 1
      }
      return .proceed
    }
    return count
  }

  public func delays() throws -> DelayTally {
    let delay = Column.arrivalDelay.rawValue
    var tally = DelayTally()
    try engine.scan(Self.table) { _, _, row in
      if !layout.isNull(delay, in: row) {
        let carrier = layout.text(Column.carrier.rawValue, in: row)
        tally.add(carrier, minutes: layout.integer(delay, in: row))
      }
      return .proceed
    }
    return tally
  }

  public func close() throws { try engine.close() }

  private func write(_ flight: FlightRecord, to writer: inout RowWriter) -> Range<Int> {
    writer.begin(layout)
    writer.set(Column.scheduled.rawValue, double: flight.scheduled)
    writer.set(Column.number.rawValue, integer: flight.number)
    if let delay = flight.departureDelay {
      writer.set(Column.departureDelay.rawValue, integer: delay)
    }
    if let delay = flight.arrivalDelay { writer.set(Column.arrivalDelay.rawValue, integer: delay) }
    writer.set(Column.distance.rawValue, integer: flight.distance)
    writer.append(Column.carrier.rawValue, text: flight.carrier)
    writer.append(Column.origin.rawValue, text: flight.origin)
    writer.append(Column.destination.rawValue, text: flight.destination)
    if let tail = flight.tailNumber { writer.append(Column.tailNumber.rawValue, text: tail) }
    return writer.finish()
  }

  private func bytes(_ column: Column, in row: RawSpan, equal wanted: [UInt8]) -> Bool {
    let bytes = row.extracting(layout.range(column.rawValue, in: row))
    return bytes.withUnsafeBytes { $0.elementsEqual(wanted) }
  }
}
