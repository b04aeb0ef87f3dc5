import Foundation
import Harness
import LogEngine

/// How many bytes a row takes on disk.
struct PackSizes {
  let plan: Plan
  let trips: PackSource

  func run(_ report: Report) throws {
    report.add(try sizes(.sizeCompacted, trips))
    guard let flights = try FlightTable.load() else {
      report.note(
        "the flights were not found, so there is no \(Workload.flightsSizeCompacted.rawValue)"
      )
      return
    }
    report.add(try sizes(.flightsSizeCompacted, flights))
  }

  private func sizes(_ workload: Workload, _ source: PackSource) throws -> [Standing] {
    try withFolder(plan, "sizes") { folder in
      let summary = try source.pack(to: folder.appending(path: "rows.pack"))
      let row = Double(summary.rowByteCount) / Double(summary.rowCount)
      return try RoundRobin(
        rounds: 1,
        [
          Entrant(
            workload,
            .floor,
            settings: "the rows as the log has them, without their records' headers"
          ) {
            Sample([.bytesPerRow: row])
          },
          Entrant(
            workload,
            .engine,
            settings: "one pack, defaults; \(source.rowCount) rows",
            comparedWith: .init(workload, .floor)
          ) {
            Sample([.bytesPerRow: Double(summary.byteCount) / Double(summary.rowCount)])
          },
        ]
      ).run()
    }
  }
}
