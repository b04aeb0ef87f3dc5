import Foundation
import Harness
import PeerStores
import Workloads

/// The bytes that reach the block device for each row, including the file system's journal and later rewriting.
struct DeviceWrites {
  private let plan: Plan
  private let peers: [Peer]
  private let records = TripGenerator().records(0..<10_000)

  /// Number of rows that a store holds beforehand.
  private let filledRows: Int

  init(_ plan: Plan, _ peers: [Peer]) {
    self.plan = plan
    self.peers = peers
    filledRows = plan.choose(quick: 20_000, full: 100_000)
  }

  func run(_ report: Report) throws {
    try withFolder(plan, "device") { folder in
      guard let device = LoopDevice(in: folder) else {
        return report.note("device_bytes_per_row: left out; it takes root and loop devices")
      }
      let rounds = plan.choose(quick: 1, full: 2)
      report.add(
        try RoundRobin(rounds: rounds, warmUp: .none, peers.flatMap { entrants($0, device) }).run()
      )
    }
  }

  private func entrants(_ peer: Peer, _ device: LoopDevice) -> [Entrant] {
    let many = plan.choose(quick: 4_000, full: 20_000)
    let all: [(Workload, Int, Int)] = [
      (.durableUpdate100, 100, many), (.durableUpdate1, 1, 1000), (.durable100, 100, many),
      (.durable1, 1, 1000),
    ]
    let workloads = all.prefix(plan.choose(quick: 1, full: all.count))
    return workloads.map { workload, rowsPerCommit, rows in
      Entrant(
        workload,
        peer.contender,
        settings: "\(peer.settings(.full)), ext4 of its own, closed and synchronized behind"
      ) {
        let folder = device.folder.appending(path: UUID().uuidString)
        try fill(peer, folder)
        device.synchronize()
        let before = device.writtenBytes
        try write(workload, peer, folder, rowsPerCommit, rows)
        device.synchronize()
        let bytes = device.writtenBytes - before
        try FileManager.default.removeItem(at: folder)
        return Sample([.deviceBytesPerRow: Double(bytes) / Double(rows)])
      }
    }
  }

  private func fill(_ peer: Peer, _ folder: URL) throws {
    let store = try peer.open(folder, .relaxed)
    for first in stride(from: 1, to: filledRows, by: records.count) {
      try store.insert(records[...], firstKey: UInt64(first))
    }
    try store.close()
  }

  private func write(
    _ workload: Workload,
    _ peer: Peer,
    _ folder: URL,
    _ rowsPerCommit: Int,
    _ rows: Int
  ) throws {
    let store = try peer.open(folder, .full)
    var random = RandomKeys(count: filledRows, seed: 4)
    let keys = random.next(rows, distinctWithin: rowsPerCommit)
    for first in stride(from: 0, to: rows, by: rowsPerCommit) {
      if workload == .durable1 || workload == .durable100 {
        let start = first % records.count
        let slice = records[start..<start + rowsPerCommit]
        try store.insert(slice, firstKey: UInt64(filledRows + first + 1))
      } else {
        try store.raiseRatings(keys[first..<first + rowsPerCommit])
      }
    }
    try store.close()
  }
}
