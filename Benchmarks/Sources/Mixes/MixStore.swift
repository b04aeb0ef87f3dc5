import Foundation
import Harness
import PeerStores
import Synchronization
import Workloads

/// A filled store of one contender, with a handle for each thread.
final class MixStore: @unchecked Sendable {
  private let contender: Contender
  private let owner: any MixedTripStore
  /// By thread; made before threads begin, each used by one.
  private var handles: [any MixedTripStore] = []
  private let rows: Int
  private let newest: NewestRows
  private let records: [TripRecord]
  private var turn: UInt64 = 0
  /// Held by each call where a contender has one connection only.
  private let connection: Connection?

  private final class Connection: Sendable {
    let lock = Mutex(())
  }

  private static let drawCount = 1 << 15

  init(_ peer: Peer, _ folder: URL, _ durability: Durability, rows: Int) throws {
    contender = peer.contender
    connection = peer.contender == .sqliteExclusive ? Connection() : nil
    self.rows = rows
    newest = NewestRows(count: UInt64(rows))
    let generator = TripGenerator()
    records = generator.records(1..<1_025)
    owner = try Self.mixed(peer.open(folder, durability))
    for first in stride(from: 1, through: UInt64(rows), by: 10_000) {
      try owner.insert(generator.records(first..<first + 10_000)[...], firstKey: first)
    }
  }

  func close() throws {
    for handle in handles where handle !== owner { try handle.close() }
    handles = []
    try owner.close()
  }

  /// Lets threads do what the mix says for some time.
  func time(
    _ mix: Mix,
    _ zipfian: ZipfianNumbers,
    threads: Int,
    seconds: Double
  ) throws -> Sample {
    while handles.count < threads {
      handles.append(connection == nil ? try Self.mixed(owner.makeHandle()) : owner)
    }
    turn += 1
    let turn = turn
    return try timeWork(onThreads: threads, forSeconds: seconds) { [self] thread in
      let handle = handles[thread]
      let draws = mix.draw(
        Self.drawCount,
        of: rows,
        zipfian,
        seed: monotonicNanoseconds() &+ turn << 32 &+ UInt64(thread) << 48
      )
      try handle.prepare(draws.map(\.key)[...])
      return { [self] number in
        let draw = draws[number & (Self.drawCount - 1)]
        guard let connection else { return try perform(draw, mix, handle, thread) }
        try connection.lock.withLock { _ in try perform(draw, mix, handle, thread) }
      }
    }
  }

  @inline(__always)
  private func perform(
    _ draw: Mix.Draw,
    _ mix: Mix,
    _ handle: any MixedTripStore,
    _ thread: Int
  ) throws {
    switch draw.operation {
    case .read:
      let key = mix.keys == .latest ? newest.last - draw.key : draw.key
      _ = try handle.read(key)
    case .update: try handle.raiseRatings([draw.key])
    case .readAndUpdate:
      _ = try handle.read(draw.key)
      try handle.raiseRatings([draw.key])
    case .scan:
      let first = min(draw.key, UInt64(rows - 100))
      _ = try handle.read(draw.length, from: first)
    case .insert:
      let record = records[Int(truncatingIfNeeded: draw.key) & 1023]
      try newest.insert(by: thread) { try handle.insert([record], firstKey: $0) }
    }
  }

  private static func mixed(_ store: any TripStore) throws -> any MixedTripStore {
    guard let store = store as? any MixedTripStore else { throw NoMixedStore() }
    return store
  }
}

/// A contender takes part whose store cannot do what the mixes need.
struct NoMixedStore: Error {}
