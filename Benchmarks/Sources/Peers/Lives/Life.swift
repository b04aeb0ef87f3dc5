import Foundation
import Harness
import PeerStores
import Workloads

/// A store from its first row to its second opening, alone in a process.
struct Life {
  let peer: Peer
  let rows: Int
  let folder: URL

  private static let rowsPerCommit = 100
  private static let reads = 20_000

  /// Lives, and prints the figures as JSON.
  ///
  /// - Throws: What the store throws.
  func run() throws {
    var figures: [String: Double] = [:]
    func note(_ workload: Workload, _ metric: Metric, _ value: Double?) {
      figures["\(workload.rawValue) \(metric.rawValue)"] = value
    }
    let records = TripGenerator().records(0..<10_000)
    try withPriority {
      let store = try peer.open(folder, .relaxed)
      note(.scaleInsert, .rowsPerSecond, try insert(records, store).figures[.rowsPerSecond])
      note(.scaleRead, .rowsPerSecond, try read(records, store).figures[.rowsPerSecond])
      note(.scaleScan, .rowsPerSecond, try scan(records, store).figures[.rowsPerSecond])
      note(.scaleMemory, .anonymousMegabytes, anonymousMegabytes())
      try store.close()
      note(.scaleSize, .bytesPerRow, try Double(allocatedBytes(in: folder)) / Double(rows))
      note(.scaleMemory, .peakMegabytes, peakResidentMegabytes())
      var again: (any TripStore)?
      let opening = try timeMilliseconds {
        let opened = try peer.open(folder, .relaxed)
        again = opened
        _ = try opened.read(1)
      }
      note(.scaleOpen, .milliseconds, opening.figures[.milliseconds])
      try again?.close()
    }
    FileHandle.standardOutput.write(try JSONEncoder().encode(figures))
  }

  private func insert(_ records: [TripRecord], _ store: any TripStore) throws -> Sample {
    try timeRows(rows) {
      for first in stride(from: 0, to: rows, by: Self.rowsPerCommit) {
        let start = first % records.count
        let slice = records[start..<start + Self.rowsPerCommit]
        try store.insert(slice, firstKey: UInt64(first + 1))
      }
    }
  }

  private func read(_ records: [TripRecord], _ store: any TripStore) throws -> Sample {
    var random = RandomKeys(count: rows, seed: 5)
    let keys = random.next(Self.reads / peer.pace)
    try store.prepare(keys[...])
    // The first key is 1 and has the first record.
    let expected = keys.reduce(0) { $0 + records[Int($1 - 1) % records.count].checksum }
    var found = 0
    let sample = try timeRows(keys.count) {
      found = try keys.reduce(0) { try $0 + store.read($1) }
    }
    try WrongAnswer.check(found, is: expected, peer.contender)
    return sample
  }

  private func scan(_ records: [TripRecord], _ store: any TripStore) throws -> Sample {
    let wanted = records[17].destination
    let matches = records.count { $0.destination == wanted && $0.rating > 3 }
    var found = 0
    let sample = try timeRows(rows) {
      found = try store.count(destination: wanted, ratingAbove: 3)
    }
    try WrongAnswer.check(found, is: matches * rows / records.count, peer.contender)
    return sample
  }
}

/// A writer that is killed before it can close: 50,000 rows behind those a store holds.
struct UnfinishedWriter {
  let peer: Peer
  let rows: Int
  let folder: URL

  static let addedRows = 50_000
  /// The checksum of the last row written.
  static let lastChecksum = TripGenerator().record(9_999).checksum

  /// Writes, says that it is done, and waits for its end.
  ///
  /// - Throws: What the store throws.
  func run() throws {
    let records = TripGenerator().records(0..<10_000)
    let store = try peer.open(folder, .relaxed)
    for first in stride(from: 0, to: Self.addedRows, by: 100) {
      let start = first % records.count
      try store.insert(records[start..<start + 100], firstKey: UInt64(rows + first + 1))
    }
    FileHandle.standardOutput.write(Data(Child.ready.utf8))
    // Alive until it is killed, however the store is held.
    while true { sleep(1000) }
  }
}
