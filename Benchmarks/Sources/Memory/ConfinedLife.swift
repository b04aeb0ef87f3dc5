import Foundation
import Harness
import LogEngine
import LogTools
import PeerStores
import Workloads

/// A store from its first row to its last check, in a process that is held to a tenth of its size.
///
/// Passes on the figures of each part as soon as it is over, for the kernel may end the process in the next.
struct ConfinedLife {
  let peer: Peer
  let size: Size
  let folder: URL

  private let trips = WideTrips()
  private static let drawCount = 1 << 14
  private static let checkedRows = 200

  init(_ peer: Peer, _ size: Size, _ folder: URL) {
    self.peer = peer
    self.size = size
    self.folder = folder
  }

  /// Lives.
  ///
  /// - Throws: What the store throws.
  func run() throws {
    var store = try peer.open(folder, .relaxed)
    try Companion.tell(.largerThanMemoryLoad, load(store))
    try work(store)
    try store.close()
    if let sample = try compact() { try Companion.tell(.largerThanMemoryCompact, sample) }
    try weigh()
    let opening = try timeMilliseconds {
      store = try peer.open(folder, .relaxed)
      _ = try store.read(1)
    }
    try Companion.tell(.largerThanMemoryOpen, opening)
    try Companion.tell(.largerThanMemoryUniformCompacted, reads(store, .uniform, seed: 4))
    try Companion.tell(.largerThanMemoryScan, scan(store))
    try store.close()
    if let sample = try verify() { try Companion.tell(.largerThanMemoryVerify, sample) }
  }

  private func load(_ store: any TripStore) throws -> Sample {
    var histogram = LatencyHistogram()
    var elapsed: UInt64 = 0
    for first in stride(from: 1, through: size.rows, by: Size.rowsPerCommit) {
      let key = UInt64(first)
      let records = trips.records(key..<key + UInt64(Size.rowsPerCommit))
      let begin = monotonicNanoseconds()
      try store.insert(records[...], firstKey: key)
      let duration = monotonicNanoseconds() - begin
      histogram.record(duration)
      elapsed += duration
    }
    let rate = Double(size.rows) * 1e9 / Double(max(elapsed, 1))
    return Sample([.rowsPerSecond: rate], histogram: histogram)
  }

  private func work(_ store: any TripStore) throws {
    try check(store)
    try Companion.tell(.largerThanMemoryUniform, reads(store, .uniform, seed: 1))
    try Companion.tell(.largerThanMemoryZipfian, reads(store, .zipfian, seed: 2))
    try Companion.tell(.largerThanMemoryMixed, mixed(store))
  }

  /// Reads unchanged rows, and compares them with what was written.
  private func check(_ store: any TripStore) throws {
    var random = RandomKeys(count: size.rows, seed: 9)
    let keys = random.next(Self.checkedRows)
    try store.prepare(keys[...])
    for key in keys {
      try WrongAnswer.check(store.read(key), is: trips.record(key).checksum, peer.contender)
    }
  }

  private enum Keys {
    case uniform, zipfian
  }

  private func reads(_ store: any TripStore, _ kind: Keys, seed: UInt64) throws -> Sample {
    try work(store, draw(kind, seed: seed)) { _, key in _ = try store.read(key) }
  }

  /// Half reads, half updates, as YCSB's workload A.
  private func mixed(_ store: any TripStore) throws -> Sample {
    try work(store, draw(.zipfian, seed: 3)) { number, key in
      if number % 2 == 0 { _ = try store.read(key) } else { try store.raiseRatings([key]) }
    }
  }

  /// Works for a third of the time, so that memory holds what is often read, and then measures.
  private func work(
    _ store: any TripStore,
    _ draw: () -> [UInt64],
    _ body: (Int, UInt64) throws -> Void
  ) throws -> Sample {
    var sample = Sample([:])
    for seconds in [size.seconds / 3, size.seconds] {
      var keys: [UInt64] = []
      sample = try timeWork(forSeconds: seconds) { number in
        let place = number % Self.drawCount
        if place == 0 {
          keys = draw()
          try store.prepare(keys[...])
        }
        try body(number, keys[place])
      }
    }
    return sample
  }

  private func draw(_ kind: Keys, seed: UInt64) -> () -> [UInt64] {
    var random = SplitMix64(seed: seed)
    let zipfian = kind == .zipfian ? ZipfianNumbers(count: size.rows) : nil
    return {
      (0..<Self.drawCount).map { _ in
        UInt64(1 + (zipfian?.nextScattered(&random) ?? random.next(below: size.rows)))
      }
    }
  }

  private func scan(_ store: any TripStore) throws -> Sample {
    let wanted = trips.record(1).destination
    var found = 0
    let sample = try timeRows(size.rows) {
      found = try store.count(destination: wanted, ratingAbove: 0)
    }
    // Ratings were raised, destinations were not.
    let share = Double(found) / Double(size.rows)
    if !(0.0005...0.05).contains(share) {
      throw WrongAnswer(peer.contender, expected: size.rows / 256, found: found)
    }
    return sample
  }

  private func weigh() throws {
    let bytes = try allocatedBytes(in: folder)
    let perRow = Double(bytes) / Double(size.rows)
    try Companion.tell(.largerThanMemorySize, Sample([.bytesPerRow: perRow]))
  }

  /// Whether the store is a log of ours, which has files that can be compacted and verified.
  private var isLog: Bool { [.engine, .models].contains(peer.contender) }

  private func compact() throws -> Sample? {
    var hasCompacted = true
    let sample = try timeMilliseconds {
      if isLog {
        let engine = try StorageEngine.open(at: folder.path)
        try engine.compact()
        try engine.close()
      } else {
        let store = try peer.open(folder, .relaxed)
        hasCompacted = try store.compact()
        try store.close()
      }
    }
    return hasCompacted ? sample : nil
  }

  private func verify() throws -> Sample? {
    guard isLog else { return nil }
    var report: VerificationReport?
    let sample = try timeMilliseconds { report = try StorageEngine.verify(at: folder.path) }
    guard let report, report.isSound, report.rowCount == size.rows else {
      throw WrongAnswer(peer.contender, expected: size.rows, found: report?.rowCount ?? 0)
    }
    return sample
  }
}
