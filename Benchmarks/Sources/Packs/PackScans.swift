import Foundation
import Harness
import LogEngine
import PeerStores
import Workloads

/// A count by two attributes of all rows of a pack.
struct PackScans {
  let plan: Plan
  let trips: PackSource

  func run(_ report: Report) throws {
    try withFolder(plan, "pack-scans") { folder in
      let file = folder.appending(path: "trips.pack")
      _ = try trips.pack(to: file)
      let peers = Peer.installed.filter { [.engine, .sqlite, .lmdb].contains($0.contender) }
      report.add(try scans(trips.open(file), try peers.map { try fill($0, folder) }))
    }
  }

  /// A store that holds the same trips, each row as it was written.
  private typealias Filled = (peer: Peer, store: any TripStore)

  private func fill(_ peer: Peer, _ folder: URL) throws -> Filled {
    let store = try peer.open(folder.appending(path: peer.contender.rawValue), .relaxed)
    for first in stride(from: 1, through: UInt64(trips.rowCount), by: 10_000) {
      let records = TripGenerator.shared.records(first..<(first + 10_000))
      try store.insert(records[...], firstKey: first)
    }
    return (peer, store)
  }

  private func scans(_ reader: PackReader, _ stores: [Filled]) throws -> [Standing] {
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
    let others = stores.map { peer, store in
      // The engine's own rows are still in its log, and that is another workload.
      let workload = peer.contender == .engine ? Workload.scan : .packedScan
      return Entrant(
        workload,
        peer.contender,
        settings: "\(peer.settings(.relaxed)); rows in the order they were written",
        comparedWith: .init(.packedScan, .engine),
        targets: peer.contender == .engine ? [Target(.rowsPerSecond, .atLeast(20e6))] : [],
        rows: trips.rowCount,
        expected: expected
      ) {
        try store.count(destination: destination, ratingAbove: 3)
      }
    }
    let standings = try RoundRobin(
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
      ] + others
    ).run()
    for (_, store) in stores { try store.close() }
    return standings
  }
}

extension TripGenerator {
  /// One for all: it makes its vocabulary once.
  static let shared = TripGenerator()
}
