import Foundation
import Harness
import LogEngine

/// The size of a row on disk, in bytes, beside the sizes of the same rows in peers.
struct PackSizes {
  let plan: Plan
  let trips: PackSource

  func run(_ report: Report) throws {
    report.add(try sizes(.sizeCompacted, trips, shares: [.sqlite: 0.65, .rocksdb: 0.7]))
    guard let flights = try FlightTable.load() else {
      report.note(
        "the flights were not found, so there is no \(Workload.flightsSizeCompacted.rawValue)"
      )
      return
    }
    report.add(try sizes(.flightsSizeCompacted, flights, shares: [.sqlite: 0.3]))
  }

  /// Weighs one pack, and every peer's files.
  ///
  /// - Parameters:
  ///   - workload: The workload.
  ///   - source: The rows.
  ///   - shares: The greatest shares of peers' sizes that the pack is hoped to have.
  /// - Returns: The standings.
  /// - Throws: What a store throws.
  private func sizes(
    _ workload: Workload,
    _ source: PackSource,
    shares: [Contender: Double]
  ) throws -> [Standing] {
    try withFolder(plan, "sizes") { folder in
      let summary = try source.pack(to: folder.appending(path: "rows.pack"))
      let packed = Double(summary.byteCount) / Double(summary.rowCount)
      let row = Double(summary.rowByteCount) / Double(summary.rowCount)
      let peers = try PackPeers(folder: folder).sizes(source)
      let targets = peers.compactMap { peer in
        shares[peer.contender].map { Target(.bytesPerRow, .atMost($0 * peer.bytesPerRow)) }
      }
      func entrant(
        _ contender: Contender,
        _ settings: String,
        _ bytes: Double,
        _ targets: [Target] = []
      ) -> Entrant {
        Entrant(
          workload,
          contender,
          settings: "\(settings); \(source.rowCount) rows",
          comparedWith: contender == .engine ? nil : .init(workload, .engine),
          targets: targets
        ) {
          Sample([.bytesPerRow: bytes])
        }
      }
      let log = "the rows as the log has them, without their records' headers"
      let others = peers.map { entrant($0.contender, $0.settings, $0.bytesPerRow) }
      return try RoundRobin(
        rounds: 1,
        warmUp: .none,
        [entrant(.floor, log, row), entrant(.engine, "one pack, defaults", packed, targets)]
          + others
      ).run()
    }
  }
}
