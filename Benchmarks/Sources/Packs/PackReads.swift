import Foundation
import Harness
import LogEngine
import RowFormat
import Workloads

/// Reads of random rows of a pack, with a cache that holds all blocks and with none.
struct PackReads {
  let plan: Plan
  let trips: PackSource

  func run(_ report: Report) throws {
    try withFolder(plan, "pack-reads") { folder in
      let file = folder.appending(path: "trips.pack")
      _ = try trips.pack(to: file)
      report.add(try reads(file))
    }
  }

  private func reads(_ file: URL) throws -> [Standing] {
    let cold = try trips.open(file)
    let warm = try trips.open(file, cache: BlockCache(byteLimit: 1 << 30))
    var random = RandomKeys(count: trips.rowCount, seed: 11)
    let few = random.next(2000)
    let many = random.next(100_000)
    func entrant(
      _ workload: Workload,
      _ settings: String,
      _ reader: PackReader,
      _ keys: [UInt64],
      atMost microseconds: Double
    ) throws -> Entrant {
      var writer = RowWriter()
      func read() throws -> Int {
        try keys.reduce(0) { sum, key in
          writer.removeAll()
          let reference = RowReference(table: trips.table.number, key: key)
          guard let address = try reader.address(of: reference) else { return sum }
          return try sum + reader.appendRow(at: address, to: &writer).range.count
        }
      }
      let expected = try keys.reduce(0) { sum, key in
        let reference = RowReference(table: trips.table.number, key: key)
        return try sum + (trips.engine.withRow(reference) { row, _ in row.byteCount } ?? 0)
      }
      return Entrant(
        workload,
        .engine,
        settings: settings,
        targets: [Target(.rowsPerSecond, .atLeast(1e6 / microseconds))],
        rows: keys.count,
        expected: expected,
        answer: read
      )
    }
    return try RoundRobin(
      rounds: plan.choose(quick: 9, full: 25),
      [
        try entrant(.packedRead, "PackReader without a cache", cold, few, atMost: 20),
        try entrant(
          .packedReadCached,
          "PackReader, all blocks in its cache",
          warm,
          many,
          atMost: 1
        ),
      ]
    ).run()
  }
}
