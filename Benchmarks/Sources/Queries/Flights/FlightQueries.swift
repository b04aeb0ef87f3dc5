import EngineStore
import Foundation
import GRDBPeer
import Harness
import PeerStores
import Workloads

/// Real flights: how fast they are taken in, how much room they take, and two questions about them.
///
/// No key-value store takes part: what they would be measured at is the coding of rows we gave them.
struct FlightQueries {
  private let plan: Plan
  private let folder: URL
  private let flights: [FlightRecord]
  private let contenders: [Flying]
  /// The answers, found without a store.
  private let plain = PlainFlights()

  private struct Flying {
    let contender: Contender
    let settings: String
    let open: (URL) throws -> any FlightStore
  }

  init(_ plan: Plan, _ folder: URL) throws {
    self.plan = plan
    self.folder = folder
    flights = try FlightRecord.flights(in: FlightRecord.file)
    var contenders = [
      Flying(contender: .classes, settings: PlainFlights.settings) { _ in PlainFlights() },
      Flying(contender: .models, settings: ModelFlights.settings, open: ModelFlights.init),
      Flying(contender: .engine, settings: EngineFlights.settings, open: EngineFlights.init),
    ]
    #if GRDB
    contenders += [
      Flying(contender: .sqlite, settings: SQLiteFlights.settings, open: SQLiteFlights.init),
      Flying(contender: .grdb, settings: GRDBFlights.settings, open: GRDBFlights.init),
    ]
    #endif
    self.contenders = contenders
    try plain.save(flights[...])
  }

  func run(_ report: Report) throws {
    report.add(try importing())
    let stores = try contenders.map { flying in
      let store = try flying.open(folder.appending(path: flying.contender.rawValue))
      try fill(store)
      return (flying: flying, store: store)
    }
    let late = try plain.countLate(origin: "JFK", minutes: 60)
    report.add(
      try compare(.flightsLate, stores, expected: late) {
        try $0.countLate(origin: "JFK", minutes: 60)
      }
    )
    let delays = try plain.delays().checksum
    report.add(try compare(.flightsDelays, stores, expected: delays) { try $0.delays().checksum })
    for (_, store) in stores { try store.close() }
    report.add(try sizes())
  }

  private func fill(_ store: any FlightStore) throws {
    for first in stride(from: 0, to: flights.count, by: 1000) {
      try store.save(flights[first..<min(first + 1000, flights.count)])
    }
  }

  private func importing() throws -> [Standing] {
    let entrants = contenders.map { flying in
      entrant(.flightsImport, flying, "\(flying.settings), 1,000 flights a save") {
        try withFolder(plan, "import") { folder in
          let store = try flying.open(folder.appending(path: "store"))
          let sample = try timeRows(flights.count) { try fill(store) }
          try store.close()
          return sample
        }
      }
    }
    return try RoundRobin(rounds: plan.choose(quick: 3, full: 9), entrants).run()
  }

  private func compare(
    _ workload: Workload,
    _ stores: [(flying: Flying, store: any FlightStore)],
    expected: Int,
    _ ask: @escaping (any FlightStore) throws -> Int
  ) throws -> [Standing] {
    let entrants = stores.map { flying, store in
      entrant(workload, flying, flying.settings) {
        var answer = 0
        var sample = try timeRows(flights.count) { answer = try ask(store) }
        try WrongAnswer.check(answer, is: expected, flying.contender)
        sample.figures[.milliseconds] =
          sample.figures[.rowsPerSecond].map { Double(flights.count) * 1e3 / $0 }
        return sample
      }
    }
    return try RoundRobin(rounds: plan.choose(quick: 5, full: 25), entrants).run()
  }

  private func sizes() throws -> [Standing] {
    let stored = contenders.filter { $0.contender != .classes && $0.contender != .models }
    let entrants = stored.map { flying in
      entrant(.flightsSize, flying, "\(flying.settings), closed") {
        let bytes = try allocatedBytes(in: folder.appending(path: flying.contender.rawValue))
        return Sample([.bytesPerRow: Double(bytes) / Double(flights.count)])
      }
    }
    return try RoundRobin(rounds: 1, warmUp: .none, entrants).run()
  }

  private func entrant(
    _ workload: Workload,
    _ flying: Flying,
    _ settings: String,
    _ run: @escaping () throws -> Sample
  ) -> Entrant {
    Entrant(
      workload,
      flying.contender,
      settings: "\(settings); \(flights.count) flights",
      comparedWith: flying.contender == .classes ? nil : .init(workload, .classes),
      run: run
    )
  }
}
