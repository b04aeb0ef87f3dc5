import Foundation
import Harness
import LogEngine
import Workloads

/// A count by two attributes of all rows of a pack.
struct PackScans {
  let plan: Plan
  let trips: PackSource

  func run(_ report: Report) throws {
    try withFolder(plan, "pack-scans") { folder in
      let file = folder.appending(path: "trips.pack")
      _ = try trips.pack(to: file)
      report.add(try scans(trips.open(file)))
    }
  }

  private func scans(_ reader: PackReader) throws -> [Standing] {
    let destination = TripGenerator().record(1).destination
    let expected = (1...UInt64(trips.rowCount)).reduce(0) { sum, key in
      let trip = TripGenerator.shared.record(key)
      return sum + (trip.destination == destination && trip.rating > 3 ? 1 : 0)
    }
    let columns = try ["rating", "destination"].map { name in
      guard let column = trips.table.column(named: name) else {
        throw StorageError.unknownTable(trips.table.number)
      }
      return column.number
    }
    return try RoundRobin(
      rounds: plan.choose(quick: 9, full: 25),
      [
        Entrant(
          .packedScan,
          .engine,
          settings: "PackReader.scanColumns, no cache; destination == x and rating > 3",
          targets: [Target(.rowsPerSecond, .atLeast(100e6))],
          rows: trips.rowCount,
          expected: expected
        ) {
          var count = 0
          var selection = RowSelection()
          var isDestination = ValueTest.isEqual(to: Array(destination.utf8))
          try reader.scanColumns(trips.table.number, columns) { block in
            selection.selectAll(block.rowCount)
            try block.column(0).keep(integers: 4...Int64.max, in: &selection)
            try block.column(1).keep(where: &isDestination, in: &selection)
            count += selection.selectedCount
            return .proceed
          }
          return count
        }
      ]
    ).run()
  }
}

extension TripGenerator {
  /// One for all: it makes its vocabulary once.
  static let shared = TripGenerator()
}
