import Foundation
import Harness
import ModelStores
import PeerStores
import Workloads

/// Stores whose rows are replaced at full speed for minutes, contenders one after the other.
///
/// One thread replaces ten rows a commit, drawn evenly at random: no file then has more dead rows than another, which is
/// the hardest case for compaction. LOGSTORE_BENCHMARK_SECONDS sets the duration, LOGSTORE_BENCHMARK_CONTENDERS the
/// contenders, with spaces between them.
struct SteadyOverwriting {
  private let plan: Plan
  private let report: Report
  private let trips: SteadyTrips
  private let seconds: Double

  init(_ plan: Plan, _ report: Report) {
    self.plan = plan
    self.report = report
    trips = SteadyTrips(rows: plan.choose(quick: 100_000, full: 1_000_000))
    seconds =
      Self.setting("SECONDS").flatMap { Double($0) } ?? plan.choose(quick: 20, full: 600)
  }

  private static func setting(_ name: String) -> String? {
    ProcessInfo.processInfo.environment["LOGSTORE_BENCHMARK_\(name)"]
  }

  func run() throws {
    let chosen = Self.setting("CONTENDERS")?.split(separator: " ").map(String.init)
    let steady = Peer.steady
    let peers = (steady.prefix(1) + [.models] + steady.dropFirst())
      .filter { chosen?.contains($0.contender.rawValue) ?? true }
    try withFolder(plan, "steady") { folder in
      let device = LoopDevice(in: folder)
      if device == nil {
        report.note("write_amplification: left out; it takes root and loop devices")
      }
      let entrants = peers.map { entrant($0, device?.folder ?? folder, device) }
      report.add(try RoundRobin(rounds: 1, warmUp: .none, entrants).run())
    }
  }

  private func entrant(_ peer: Peer, _ folder: URL, _ device: LoopDevice?) -> Entrant {
    let isOurs = [.engine, .models].contains(peer.contender)
    return Entrant(
      .overwriteSteady,
      peer.contender,
      settings: """
        \(peer.settings(.relaxed)); ten rows a commit of \(trips.rows), \(Int(seconds)) s\
        \(device == nil ? "" : ", on ext4 of its own")
        """,
      comparedWith: isOurs ? .init(.overwriteSteady, .rocksdb) : nil,
      targets: isOurs
        ? [
          Target(.rowsPerSecond, .share, .atLeast(1)),
          Target(.maximumMicroseconds, .atMost(25_000)),
          Target(.spaceAmplification, .atMost(1.4)), Target(.writeAmplification, .atMost(2.5)),
        ] : []
    ) {
      let place = folder.appending(path: peer.contender.rawValue)
      defer { try? FileManager.default.removeItem(at: place) }
      return try withoutPriority { try overwrite(peer, place, device) }
    }
  }

  private func overwrite(_ peer: Peer, _ folder: URL, _ device: LoopDevice?) throws -> Sample {
    let store = try mixed(peer.open(folder, .relaxed))
    try trips.fill(store)
    device?.synchronize()
    let writtenBefore = device?.writtenBytes ?? 0
    var run = SteadyRun(Timeline(plan.group, .overwriteSteady, peer.contender), folder, trips)
    try run.overwrite(store, forSeconds: seconds)
    try store.close()
    device?.synchronize()
    report.add(run.timeline)
    var sample = run.sample
    if let device {
      let written = Double(device.writtenBytes - writtenBefore)
      sample.figures[.writeAmplification] = written / (Double(run.rows) * trips.bytesPerRow)
    }
    return sample
  }

  private func mixed(_ store: any TripStore) throws -> any MixedTripStore {
    guard let store = store as? any MixedTripStore else { throw NoMixedStore() }
    return store
  }
}

/// A contender takes part whose rows cannot be replaced.
struct NoMixedStore: Error {}
